import { accountActions } from '../access/audit-actions'
import type { AuditAction, AuditActionEntry } from '../core/audit-actions'
import { actionActions } from './actions/audit-actions'
import { auditStreamActions } from './audit/audit-actions'
import { dnsActions } from './dns/audit-actions'
import { heartbeatActions } from './heartbeats/audit-actions'
import { incidentActions } from './incidents/audit-actions'
import { maintenanceActions } from './maintenance/audit-actions'
import { monitorActions } from './monitors/audit-actions'
import { noticeActions } from './notices/audit-actions'
import { notificationActions } from './notifications/audit-actions'
import { peopleActions } from './people/audit-actions'
import { webhookActions } from './webhooks/audit-actions'

const entries = [
  ...accountActions,
  ...actionActions,
  ...auditStreamActions,
  ...dnsActions,
  ...heartbeatActions,
  ...incidentActions,
  ...maintenanceActions,
  ...monitorActions,
  ...noticeActions,
  ...notificationActions,
  ...peopleActions,
  ...webhookActions,
] as const

declare module '../core/declared' {
  interface Declared {
    auditActions: typeof entries
  }
}

/** All actions, as listed in the catalog. */
export const auditActions: readonly AuditActionEntry<AuditAction>[] = entries

/** The six-character code of an action and its outcome, such as `HB001S`; null for an action of an earlier version. */
export function codeOf(action: string, outcome: 'success' | 'failure' | 'denied'): string | null {
  const number = numbers.get(action)
  return number === undefined ? null : `${number}${outcome[0]!.toUpperCase()}`
}

const numbers: ReadonlyMap<string, string> = new Map(auditActions.map(one => [one.action, one.number]))
