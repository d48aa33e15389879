import type { AuditTarget } from '../../core/db/tables'
import type { Permission, Permissions } from '../../core/permissions'
import type { Change } from './shapes'

/** What of an entry of the audit log a stream is made of. */
export interface Entry {
  seq: number
  action: string
  outcome: 'success' | 'failure' | 'denied'
  targets: AuditTarget[]
}

/** What a listener may hear of. */
export interface Hearing {
  permissions: Permissions
  /** The only resources that a narrowed token reaches; null is all of the workspace. */
  resourceIds: ReadonlySet<string> | null
}

/**
 * What entries tell a listener, each change once: of the areas that it may read, and of the resources that it reaches. What was
 * refused changed nothing.
 */
export function changesIn(entries: readonly Entry[], { permissions, resourceIds }: Hearing): Change[] {
  const told = new Map<string, Change>()
  for (const { action, outcome, targets } of entries) {
    if (outcome === 'denied' || !permissions.has(permissionFor(action))) continue
    // As in the list of the log: an entry belongs to the first of its targets.
    if (resourceIds && !resourceIds.has(targets[0]?.id ?? '')) continue
    for (const { type, id } of targets) told.set(`${action} ${type} ${id}`, { type, id, action })
  }
  return [...told.values()]
}

/** What must be held to hear of an action. Whatever is of no other area is of the account. */
export const permissionFor = (action: string): Permission => permissions[action.slice(0, action.indexOf('.'))] ?? 'account.read'

const permissions: Readonly<Record<string, Permission>> = {
  dns: 'dns.read',
  heartbeat: 'monitoring.read',
  incident: 'monitoring.read',
  maintenance: 'monitoring.read',
  monitor: 'monitoring.read',
  notification: 'monitoring.read',
  webhooks: 'webhooks.read',
}
