import type { AuditChanges, AuditTarget } from './db/tables'

/** Members whose value is a secret: an audit row shows a keyed tag of it, which tells change from no change and nothing else. */
export const secretMembers = new Set(['secret', 'token', 'password', 'uuid', 'ping_url', 'ping_key', 'headers'])
/** They move with every edit and say nothing about it. */
export const silentMembers = new Set(['version', 'created_at', 'updated_at', 'secret_shown_before', 'synced', 'sync', 'blocked'])

/**
 * The members that differ between two views of a resource, with secrets tagged.
 * @param tag turns a secret into its tag; the same value under the same key gives the same tag
 * @returns null when nothing that is shown differs
 */
export function changesBetween(
  before: object | null | undefined,
  after: object | null | undefined,
  tag: (secret: string) => string,
): AuditChanges | null {
  const was = (before ?? {}) as Record<string, unknown>
  const is = (after ?? {}) as Record<string, unknown>
  const changes: AuditChanges = { before: {}, after: {} }
  for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
    if (silentMembers.has(name) || JSON.stringify(was[name]) === JSON.stringify(is[name])) continue
    const shown = (value: unknown) => (secretMembers.has(name) && value != null ? tag(JSON.stringify(value)) : value)
    if (before) changes.before[name] = shown(was[name]) ?? null
    if (after) changes.after[name] = shown(is[name]) ?? null
  }
  return Object.keys(changes.before).length + Object.keys(changes.after).length > 0 ? changes : null
}

/** A resource as the audit log names it. */
export const target = (type: string, row: { id: string; name?: string | null }): AuditTarget => ({
  type,
  id: row.id,
  name: row.name ?? null,
})
