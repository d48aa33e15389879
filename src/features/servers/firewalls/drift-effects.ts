import { eq } from 'drizzle-orm'
import { jobContext, systemActor } from '../../../core/change'
import type { AuditDraft } from '../../../core/change-result'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { NoticeDraft } from '../../../core/notices'
import { pluralize } from '../../../core/pluralize'
import { targetOf } from '../../../core/rows'
import { firewalls } from './tables'
import { firewallRows, type FirewallRow } from './view'

const maxEnforced = 3
const enforceWindowMs = 10 * 60_000

/**
 * Counts a restoration of a firewall. Not more than a few are made in a row, in case something else changes it again and again.
 * @param row locked
 * @returns false if it may not be restored now
 */
export async function countRestoration(tx: Tx, hub: Hub, row: FirewallRow): Promise<boolean> {
  const now = hub.clock.now()
  const recent = row.enforcedAt.filter(at => at > now - enforceWindowMs)
  if (recent.length >= maxEnforced) return false
  await tx
    .update(firewalls)
    .set({ enforcedAt: [...recent, now] })
    .where(eq(firewalls.id, row.id))
  return true
}

/** Where a firewall was changed. */
interface Place {
  /** Such as `at Hetzner production`. */
  where: string
  /** Null on the host of an agent. */
  accountId: string | null
}

export const driftNotice = (
  row: FirewallRow,
  { where, accountId }: Place,
  serverIds: readonly string[],
  isEnforced: boolean,
): NoticeDraft => ({
  workspaceId: row.workspaceId,
  kind: 'firewall.drifted',
  resource: targetOf(firewallRows, row),
  text: `The firewall ${row.name} was changed ${where}. This affects ${pluralize(serverIds.length, 'servers')}.`,
  details: { account_id: accountId, server_ids: [...serverIds], enforced: isEnforced },
  dedupKey: row.id,
})

/** @param by the job that noticed it */
export const driftAudit = (row: FirewallRow, { where }: Place, servers: number, isEnforced: boolean, by: string): AuditDraft => ({
  ...auditBase(row, by),
  after: { servers, enforced: isEnforced },
  reason: `It was changed ${where}.${isEnforced ? ' The rules are being restored.' : ''}`,
})

/** No server is affected: only the mark by which the firewall is found was removed. */
export const markAudit = (row: FirewallRow, { where }: Place, by: string): AuditDraft => ({
  ...auditBase(row, by),
  after: { servers: 0, enforced: true },
  reason: `The label that marks it as a firewall of Bailiwick was removed ${where}. It is being restored.`,
})

const auditBase = (row: FirewallRow, by: string) => ({
  workspaceId: row.workspaceId,
  action: 'cloud.firewall.drift' as const,
  actor: systemActor(by),
  context: jobContext,
  targets: [targetOf(firewallRows, row)],
})
