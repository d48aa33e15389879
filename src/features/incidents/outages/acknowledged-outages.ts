import { eq } from 'drizzle-orm'
import type { Ctx } from '../../../core/ctx'
import { jobContext, systemActor } from '../../../core/change'
import { forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { acknowledge, unacknowledge } from '../acknowledgement'
import { actorOf } from '../actor'
import { incidentTarget } from '../incidents'
import { incidents } from '../tables'
import { auditView } from '../view'
import { noDrafts, type Drafts, type IncidentRow } from './outage'

async function lockIncident(tx: Tx, id: string): Promise<IncidentRow | undefined> {
  const [row] = await forUpdate(tx.select().from(incidents).where(eq(incidents.id, id)))
  return row
}

/**
 * Acknowledges an incident because what it is about was acknowledged, within the caller's transaction. Does nothing if it is resolved.
 * @param until when it expires (ms UTC); null if it doesn’t
 */
export async function acknowledgeOutage(
  tx: Tx,
  ctx: Ctx,
  id: string,
  { note, until }: { note: string; until: number | null },
): Promise<Drafts> {
  const row = await lockIncident(tx, id)
  if (!row || row.status === 'resolved') return noDrafts()
  const expiresInSeconds = until === null ? null : Math.ceil((until - ctx.hub.clock.now()) / 1000)
  const { incident, ...drafts } = await acknowledge(tx, ctx.hub, row, { by: actorOf(ctx), note, expiresInSeconds })
  const audit = {
    ...{ workspaceId: row.workspaceId, action: 'incident.acknowledge' as const, actor: ctx.actor, context: ctx.context },
    ...{ targets: [incidentTarget(row)], before: auditView(row), after: auditView(incident) },
  }
  return { ...drafts, audits: [...drafts.audits, audit] }
}

/** Ends the acknowledgement of an incident, within the caller's transaction. Does nothing if it isn’t acknowledged. @param of.at ms UTC */
export async function unacknowledgeOutage(
  tx: Tx,
  hub: Hub,
  id: string,
  of: { at: number; text: string; ctx?: Ctx },
): Promise<Drafts> {
  const row = await lockIncident(tx, id)
  if (row?.status !== 'acknowledged') return noDrafts()
  const { at, text, ctx } = of
  const { incident, ...drafts } = await unacknowledge(tx, hub, row, {
    ...{ kind: 'unacknowledged', at, text },
    ...(ctx && { actor: actorOf(ctx) }),
  })
  const audit = {
    ...{ workspaceId: row.workspaceId, action: 'incident.unacknowledge' as const, reason: text },
    ...(ctx ? { actor: ctx.actor, context: ctx.context } : { actor: systemActor('incidents'), context: jobContext }),
    ...{ targets: [incidentTarget(row)], before: auditView(row), after: auditView(incident) },
  }
  return { ...drafts, audits: [...drafts.audits, audit] }
}
