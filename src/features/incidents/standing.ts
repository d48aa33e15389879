import { desc, eq } from 'drizzle-orm'
import type { AuditAction } from '../../core/audit-actions'
import { change, type Changed } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { locking } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import { requireMatch } from '../../core/if-match'
import { conflict } from '../../core/problem'
import { acknowledge, giveBack } from './acknowledgement'
import { doerOf } from './doer'
import { durationOf } from './fact'
import { incidentOf, incidentTarget } from './incidents'
import { noDrafts, type Drafts, type IncidentRow } from './outage'
import { unresolved, write } from './rows'
import type { IncidentAcknowledgement, IncidentView } from './shapes'
import { duration } from '../../core/span'
import { tellOf } from './messages'
import { awaitsRecovery } from './subjects'
import { incidents } from './tables'
import { addUpdate } from './timeline'
import { edited, viewOf } from './view'

// What people do about where an incident stands.

/** Takes an incident on: reminders stop until it ends. @throws Problem 404, 409 for a resolved one, 412 */
export const acknowledgeIncident = (ctx: Ctx, id: string, input: IncidentAcknowledgement): Promise<IncidentView> =>
  move(ctx, 'incident.acknowledge', id, (tx, row) =>
    acknowledge(tx, ctx.hub, row, { by: doerOf(ctx), note: input.note, expiresInSeconds: input.expires_in_seconds }),
  )

/** Gives an incident back. One that nobody has taken on stays as it is. @throws Problem 404, 409 for a resolved one, 412 */
export const unacknowledgeIncident = (ctx: Ctx, id: string, note?: string): Promise<IncidentView> =>
  move(ctx, 'incident.unacknowledge', id, async (tx, row) => {
    if (row.status === 'resolved') throw conflict('The incident is resolved.')
    if (row.status === 'open') return null
    const text = note || 'Nobody sees to it any more.'
    return await giveBack(tx, ctx.hub, row, { kind: 'unacknowledged', at: ctx.hub.clock.now(), actor: doerOf(ctx), text })
  })

/**
 * Closes an incident by hand. While its subject is not well it stays closed: the next one is opened when that fails again after it
 * was well, or gets worse. A resolved one stays as it is.
 * @throws Problem 404, 412
 */
export const closeIncident = (ctx: Ctx, id: string, note?: string): Promise<IncidentView> =>
  move(ctx, 'incident.resolve', id, async (tx, row) => {
    if (row.status === 'resolved') return null
    const at = Math.max(ctx.hub.clock.now(), row.startedAt)
    const incident = await write(tx, ctx.hub, row, {
      status: 'resolved',
      openSubject: null,
      resolvedAt: at,
      resolution: 'closed',
      acknowledgedUntil: null,
      // One that was reopened by hand may be about what is well: what fails next is told.
      awaitsRecovery: await awaitsRecovery(tx, row),
    })
    const text = note || `Closed after ${duration(durationOf(incident, at))}.`
    await addUpdate(tx, incident, { kind: 'resolved', at, actor: doerOf(ctx), text, details: { resolution: 'closed' } })
    const { jobs } = await tellOf(tx, ctx.hub, incident, 'resolved', { at, text })
    return { incident, ...noDrafts(), jobs }
  })

/**
 * Opens a resolved incident again. An unresolved one stays as it is.
 * @throws Problem 404, 412, 409 for one whose subject has a later incident
 */
export const reopenIncident = (ctx: Ctx, id: string, note?: string): Promise<IncidentView> =>
  move(ctx, 'incident.reopen', id, async (tx, row) => {
    if (row.resolvedAt === null) return null
    if (row.subjectId !== null && (await lastOf(tx, row.subjectId)) !== row.id)
      throw conflict('What it is about has a later incident. Go on with that one.')
    const now = ctx.hub.clock.now()
    const incident = await write(tx, ctx.hub, row, {
      ...unresolved,
      openSubject: row.subjectId,
      restedMs: row.restedMs + Math.max(0, now - row.resolvedAt),
    })
    const text = note || 'Reopened.'
    await addUpdate(tx, incident, { kind: 'reopened', at: now, actor: doerOf(ctx), text })
    const { jobs } = await tellOf(tx, ctx.hub, incident, 'reopened', { at: now, text })
    return { incident, ...noDrafts(), jobs }
  })

/** Held until the transaction ends, as those do who would open another. */
async function lastOf(tx: Tx, subjectId: string): Promise<string | undefined> {
  const [row] = await locking(
    tx
      .select({ id: incidents.id })
      .from(incidents)
      .where(eq(incidents.subjectId, subjectId))
      .orderBy(desc(incidents.id))
      .limit(1),
  )
  return row?.id
}

/** @param step null where everything is already as it should be */
function move(
  ctx: Ctx,
  action: AuditAction,
  id: string,
  step: (tx: Tx, row: IncidentRow) => Promise<({ incident: IncidentRow } & Drafts) | null>,
): Promise<IncidentView> {
  return change(ctx, action, async (tx): Promise<Changed<IncidentView>> => {
    const row = await incidentOf(tx, ctx, id)
    requireMatch(ctx, row)
    const now = ctx.hub.clock.now()
    const done = await step(tx, row)
    if (!done) return { result: await viewOf(tx, row, now), target: incidentTarget(row), unchanged: true }
    const { incident, events, jobs, notices, wakes } = done
    return {
      result: await viewOf(tx, incident, now),
      target: incidentTarget(row),
      before: edited(row),
      after: edited(incident),
      events,
      jobs,
      notices,
      wakes,
    }
  })
}
