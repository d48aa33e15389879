import type { AuditTarget } from '../../core/db/tables'
import { areas, type Area, type Permission, type Permissions } from '../../core/permissions'
import type { ChangeHint } from '../../core/change-hints'
import { entryOf, resourceTypes } from '../../registry'
import type { Change } from './shapes'

/** The part of an audit event that streams use. */
export interface Entry {
  seq: number
  action: string
  outcome: 'success' | 'failure' | 'denied'
  targets: AuditTarget[]
}

/** New changes of a workspace: audit events in order, and hints of changes that are not in the audit log. */
export interface NewChanges {
  entries: readonly Entry[]
  hints: readonly ChangeHint[]
}

/** Which changes a listener may see. */
export interface Access {
  permissions: Permissions
  /** The resources that a restricted token has access to; null for all resources of the workspace. */
  resourceIds: ReadonlySet<string> | null
}

/** Returns the changes that a listener may see, each once. Denied actions are skipped, because they changed nothing. */
export function visibleChanges({ entries, hints }: NewChanges, { permissions, resourceIds }: Access): Change[] {
  const changes = new Map<string, Change>()
  const add = (action: string, { type, id }: { type: string; id: string }) =>
    changes.set(`${action} ${type} ${id}`, { type, id, action })
  for (const { action, outcome, targets } of entries) {
    if (outcome === 'denied' || !permissions.has(permissionFor(action))) continue
    // As in the list of audit events, access depends on the first target.
    if (resourceIds && !resourceIds.has(targets[0]?.id ?? '')) continue
    for (const target of targets) add(action, target)
  }
  for (const hint of hints) {
    if (!permissions.has(permissionFor(hint.action))) continue
    if (resourceIds && !resourceIds.has(hint.parentId ?? '')) continue
    add(hint.action, hint)
  }
  return [...changes.values()]
}

/** The permission required to see an action. Actions start with an area, or with the type of a resource, such as `maintenance.window`. */
export function permissionFor(action: string): Permission {
  const first = action.slice(0, action.indexOf('.'))
  if (areas.includes(first as Area)) return `${first as Area}.read`
  const type = resourceTypes.find(one => one === first || one.startsWith(`${first}_`))
  return type ? `${entryOf(type).area}.read` : 'account.read'
}
