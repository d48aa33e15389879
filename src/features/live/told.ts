import type { AuditTarget } from '../../core/db/tables'
import { areas, type Area, type Permission, type Permissions } from '../../core/permissions'
import type { Touch } from '../../core/touches'
import type { Change } from './shapes'

/** What of an entry of the audit log a stream is made of. */
export interface Entry {
  seq: number
  action: string
  outcome: 'success' | 'failure' | 'denied'
  targets: AuditTarget[]
}

/** What came to the end of a workspace's log since it was last told: entries in their order, and what the log does not tell. */
export interface News {
  entries: readonly Entry[]
  touches: readonly Touch[]
}

/** What a listener may hear of. */
export interface Hearing {
  permissions: Permissions
  /** The only resources that a narrowed token reaches; null is all of the workspace. */
  resourceIds: ReadonlySet<string> | null
}

/**
 * What news tell a listener, each change once: of the areas that it may read, and of the resources that it reaches. What was refused
 * changed nothing.
 */
export function changesIn({ entries, touches }: News, { permissions, resourceIds }: Hearing): Change[] {
  const told = new Map<string, Change>()
  const tell = (action: string, { type, id }: { type: string; id: string }) =>
    told.set(`${action} ${type} ${id}`, { type, id, action })
  for (const { action, outcome, targets } of entries) {
    if (outcome === 'denied' || !permissions.has(permissionFor(action))) continue
    // As in the list of the log: an entry belongs to the first of its targets.
    if (resourceIds && !resourceIds.has(targets[0]?.id ?? '')) continue
    for (const target of targets) tell(action, target)
  }
  for (const one of touches) {
    if (!permissions.has(permissionFor(one.action))) continue
    if (resourceIds && !resourceIds.has(one.within ?? '')) continue
    tell(one.action, one)
  }
  return [...told.values()]
}

/** What must be held to hear of an action. Whatever is of no other area is of the account. */
export function permissionFor(action: string): Permission {
  const area = action.slice(0, action.indexOf('.'))
  return permissions[area] ?? (areas.includes(area as Area) ? `${area as Area}.read` : 'account.read')
}

const permissions: Readonly<Record<string, Permission>> = {
  heartbeat: 'monitoring.read',
  incident: 'monitoring.read',
  maintenance: 'monitoring.read',
  monitor: 'monitoring.read',
  notification: 'monitoring.read',
}
