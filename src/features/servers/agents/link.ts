import { eq } from 'drizzle-orm'
import { auditDrafts } from '../../../core/change'
import type { Consequences } from '../../../core/change-result'
import type { Ctx } from '../../../core/ctx'
import { forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import { targetOf } from '../../../core/rows'
import { forgetCertificates } from '../certificates/inventory'
import { enforceHostJobFor } from '../firewalls/host-job'
import { agentRows, type AnyAgentRow } from './rows'
import { agents } from './tables'
import { agentView } from './view'

/** An agent that was approved has this long to ask for its token before it counts as silent. */
const approvedMs = 600_000

/** The columns of an agent that is to report about a server, and has not got its token yet. */
export const linkColumns = (serverId: string, now: number) => ({
  serverId,
  otherServerId: null,
  state: 'stopped' as const,
  dueAt: now + approvedMs,
  pending: true,
})

/**
 * Revokes an agent, within a change. What its server was allowed to do by it is over, and so is its update, whose result the agent can
 * no longer report.
 * @param now (ms UTC)
 */
export async function revoke(
  tx: Tx,
  row: AnyAgentRow,
  now: number,
): Promise<{ after: AnyAgentRow } & Pick<Consequences, 'jobs'>> {
  const detail = 'The agent was revoked before the new version had reported.'
  const failed = { updateState: 'failed', updateDetail: detail, updateAt: now } as const
  if (row.serverId !== null) await forgetCertificates(tx, row.workspaceId, [row.serverId], now)
  const [after] = await tx
    .update(agents)
    .set({
      serverId: null,
      otherServerId: row.serverId ?? row.otherServerId,
      state: 'revoked',
      dueAt: null,
      silentAt: null,
      disconnected: false,
      pending: false,
      stopReason: null,
      ...(row.updateState === 'updating' && failed),
    })
    .where(eq(agents.id, row.id))
    .returning()
  return { after: after!, jobs: row.serverId === null ? [] : [enforceHostJobFor(row.serverId)] }
}

/** Revokes the agent of a server, which another one replaces. @param serverId of a server that is locked in the transaction */
export async function revokeAgentOf(
  tx: Tx,
  ctx: Pick<Ctx, 'hub' | 'workspaceId' | 'actor' | 'context'>,
  serverId: string | null,
): Promise<Pick<Consequences, 'audits' | 'jobs'>> {
  if (serverId === null) return {}
  const [row] = await forUpdate(tx.select().from(agents).where(eq(agents.serverId, serverId)))
  if (!row) return {}
  const { after, jobs } = await revoke(tx, row, ctx.hub.clock.now())
  const done = { result: null, target: targetOf(agentRows, row), before: agentView(row), after: agentView(after) }
  return { audits: auditDrafts(ctx, 'cloud.agent.revoke', { ...done, reason: 'Another agent replaced it.' }), jobs }
}
