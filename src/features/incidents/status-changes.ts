import { desc, eq } from 'drizzle-orm'
import type { AuditAction } from '../../core/audit-actions'
import { change } from '../../core/change'
import type { ChangeResult } from '../../core/change-result'
import type { Ctx } from '../../core/ctx'
import { forUpdate } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import { conflict } from '../../core/problem'
import { lockRow } from '../../core/rows'
import { acknowledge, unacknowledge } from './acknowledgement'
import { actorOf } from './actor'
import { durationOf } from './outages/event-data'
import { incidentRows, incidentTarget } from './incidents'
import { noDrafts, type Drafts, type IncidentRow } from './outages/outage'
import { reopenedColumns, updateIncidentRow } from './rows'
import type { IncidentAcknowledgement, IncidentActionNote, IncidentView } from './shapes'
import { formatDuration } from '../../core/duration'
import { notifyIncident } from './outages/messages'
import { awaitsRecovery } from './subjects'
import { incidents } from './tables'
import { addUpdate } from './timeline'
import { auditView, incidentViewOf } from './view'

// Status changes made by people.

/** Acknowledges an incident, which stops reminders. @throws Problem 404, 409 if it is resolved, 412 */
export const acknowledgeIncident = (ctx: Ctx, id: string, input: IncidentAcknowledgement): Promise<IncidentView> =>
  changeStatus(ctx, 'incident.acknowledge', id, (tx, row) =>
    acknowledge(tx, ctx.hub, row, { by: actorOf(ctx), note: input.note, expiresInSeconds: input.expires_in_seconds }),
  )

/** Removes an acknowledgement, if there is one. @throws Problem 404, 409 if the incident is resolved, 412 */
export const unacknowledgeIncident = (ctx: Ctx, id: string, { note }: IncidentActionNote): Promise<IncidentView> =>
  changeStatus(ctx, 'incident.unacknowledge', id, async (tx, row) => {
    if (row.status === 'resolved') throw conflict('The incident is resolved and can’t be unacknowledged.')
    if (row.status === 'open') return null
    const text = note || 'No longer acknowledged.'
    return await unacknowledge(tx, ctx.hub, row, { kind: 'unacknowledged', at: ctx.hub.clock.now(), actor: actorOf(ctx), text })
  })

/**
 * Resolves an incident manually. If its subject is still failing, no new incident is opened until it recovers and fails again, or gets
 * worse. Does nothing if the incident is already resolved.
 * @throws Problem 404, 412
 */
export const closeIncident = (ctx: Ctx, id: string, { note }: IncidentActionNote): Promise<IncidentView> =>
  changeStatus(ctx, 'incident.resolve', id, async (tx, row) => {
    if (row.status === 'resolved') return null
    const at = Math.max(ctx.hub.clock.now(), row.startedAt)
    const incident = await updateIncidentRow(tx, ctx.hub, row, {
      status: 'resolved',
      openSubject: null,
      resolvedAt: at,
      resolution: 'closed',
      acknowledgedUntil: null,
      // A manually reopened incident may be about a healthy subject, whose next failure must open a new one.
      awaitsRecovery: await awaitsRecovery(tx, ctx.hub, row),
    })
    const text = note || `Resolved manually after ${formatDuration(durationOf(incident, at))}.`
    await addUpdate(tx, incident, { kind: 'resolved', at, actor: actorOf(ctx), text, details: { resolution: 'closed' } })
    const { jobs } = await notifyIncident(tx, ctx.hub, incident, 'resolved', { at, text })
    return { incident, ...noDrafts(), jobs }
  })

/**
 * Reopens a resolved incident. Does nothing if it is unresolved.
 * @throws Problem 404, 412, 409 if its subject has a later incident
 */
export const reopenIncident = (ctx: Ctx, id: string, { note }: IncidentActionNote): Promise<IncidentView> =>
  changeStatus(ctx, 'incident.reopen', id, async (tx, row) => {
    if (row.resolvedAt === null) return null
    if (row.subjectId !== null && (await latestIdOf(tx, row.subjectId)) !== row.id)
      throw conflict('The monitor or heartbeat has a later incident. Reopen that one instead.')
    const now = ctx.hub.clock.now()
    const incident = await updateIncidentRow(tx, ctx.hub, row, {
      ...reopenedColumns,
      openSubject: row.subjectId,
      resolvedMs: row.resolvedMs + Math.max(0, now - row.resolvedAt),
    })
    const text = note || 'Reopened.'
    await addUpdate(tx, incident, { kind: 'reopened', at: now, actor: actorOf(ctx), text })
    const { jobs } = await notifyIncident(tx, ctx.hub, incident, 'reopened', { at: now, text })
    return { incident, ...noDrafts(), jobs }
  })

/** Locks the row until the transaction ends, so that no other incident of the subject is opened meanwhile. */
async function latestIdOf(tx: Tx, subjectId: string): Promise<string | undefined> {
  const [row] = await forUpdate(
    tx
      .select({ id: incidents.id })
      .from(incidents)
      .where(eq(incidents.subjectId, subjectId))
      .orderBy(desc(incidents.id))
      .limit(1),
  )
  return row?.id
}

/** @param step returns null if there is nothing to change */
function changeStatus(
  ctx: Ctx,
  action: AuditAction,
  id: string,
  step: (tx: Tx, row: IncidentRow) => Promise<({ incident: IncidentRow } & Drafts) | null>,
): Promise<IncidentView> {
  return change(ctx, action, async (tx): Promise<ChangeResult<IncidentView>> => {
    const row = await lockRow(tx, ctx, incidentRows, id)
    const now = ctx.hub.clock.now()
    const done = await step(tx, row)
    if (!done) return { result: await incidentViewOf(tx, row, now), target: incidentTarget(row), unchanged: true }
    const { incident, events, jobs, notices, wakes } = done
    return {
      result: await incidentViewOf(tx, incident, now),
      target: incidentTarget(row),
      before: auditView(row),
      after: auditView(incident),
      events,
      jobs,
      notices,
      wakeTopics: wakes,
    }
  })
}
