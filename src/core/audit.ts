import type { AuditChanges, AuditTarget } from './db/tables'

/** Secret fields: the audit log contains a keyed hash, which shows only whether the value changed. */
export const secretFields = new Set(['secret', 'token', 'password', 'uuid', 'ping_url', 'ping_key', 'headers'])
/** Fields that change with every update and carry no information about it. */
export const ignoredFields = new Set(['version', 'created_at', 'updated_at', 'secret_shown_before', 'synced', 'sync', 'blocked'])

/**
 * Returns the fields that differ between two views of a resource, with secrets hashed.
 * @param tag returns the keyed hash of a secret
 * @returns null if no visible field changed
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
    if (ignoredFields.has(name) || isEqual(was[name], is[name])) continue
    const shown = (value: unknown) => (secretFields.has(name) && value != null ? tag(JSON.stringify(value)) : value)
    if (before) changes.before[name] = shown(was[name]) ?? null
    if (after) changes.after[name] = shown(is[name]) ?? null
  }
  return Object.keys(changes.before).length + Object.keys(changes.after).length > 0 ? changes : null
}

const isEqual = (was: unknown, is: unknown): boolean =>
  was === is || (was !== undefined && is !== undefined && JSON.stringify(was) === JSON.stringify(is))

/** A resource as a target of an audit event. */
export const target = (type: string, row: { id: string; name?: string | null }): AuditTarget => ({
  type,
  id: row.id,
  name: row.name ?? null,
})
