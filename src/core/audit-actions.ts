import { accountActions } from './audit-actions/account'
import { actionActions } from './audit-actions/actions'
import { auditStreamActions } from './audit-actions/audit-streams'
import { dnsActions } from './audit-actions/dns'
import type { AuditActionEntry } from './audit-actions/entry'
import { heartbeatActions } from './audit-actions/heartbeats'
import { incidentActions } from './audit-actions/incidents'
import { maintenanceActions } from './audit-actions/maintenance'
import { monitorActions } from './audit-actions/monitors'
import { monitorVerdictActions } from './audit-actions/monitor-verdicts'
import { noticeActions } from './audit-actions/notices'
import { notificationActions } from './audit-actions/notifications'
import { peopleActions } from './audit-actions/people'
import { signInActions } from './audit-actions/sign-in'
import { webhookActions } from './audit-actions/webhooks'

export type { AuditActionEntry } from './audit-actions/entry'

const entries = [
  ...accountActions,
  ...actionActions,
  ...auditStreamActions,
  ...dnsActions,
  ...heartbeatActions,
  ...incidentActions,
  ...maintenanceActions,
  ...monitorActions,
  ...monitorVerdictActions,
  ...noticeActions,
  ...notificationActions,
  ...peopleActions,
  ...signInActions,
  ...webhookActions,
] as const

/** Every word that the door writes into the audit log: what is not declared does not compile. */
export type AuditAction = (typeof entries)[number]['action']

/** Every action there is, as the catalogue tells of them. */
export const auditActions: readonly AuditActionEntry<AuditAction>[] = entries

export const auditOutcomes = ['success', 'failure', 'denied'] as const
export type AuditOutcome = (typeof auditOutcomes)[number]

/** Six characters for an action and how it ended, such as `HB001S`; null for an action that an earlier version knew. */
export function codeOf(action: string, outcome: AuditOutcome): string | null {
  const number = numbers.get(action)
  return number === undefined ? null : `${number}${outcome[0]!.toUpperCase()}`
}

const numbers: ReadonlyMap<string, string> = new Map(auditActions.map(one => [one.action, one.number]))
