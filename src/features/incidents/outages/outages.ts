import { count, eq, sql } from 'drizzle-orm'
import { target } from '../../../core/audit'
import type { AuditAction } from '../../../core/audit-actions'
import { isUnchanged, jobContext, systemActor } from '../../../core/change'
import { forUpdate } from '../../../core/db/dialect'
import { forIds } from '../../../core/db/id-list'
import { insertRowsReturning, skipExisting } from '../../../core/db/insert-rows'
import { prepared } from '../../../core/db/prepared'
import { batched } from '../../../core/db/together'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { newId } from '../../../core/ids'
import { oneLine } from './evidence'
import { durationOf } from './event-data'
import { notifyIncident } from './messages'
import { noDrafts, type Drafts, type IncidentRow, type Outage, type Resolution, type Subject } from './outage'
import { formatDuration } from '../../../core/duration'
import { unmuteThread } from '../../notifications/delivery/notify'
import { outageColumns, higherSeverity, rankOf, titleOf, updateDetails } from './outage-columns'
import { reopenedColumns, updateIncidentRow } from '../rows'
import { incidents, incidentSubjects } from '../tables'
import { addSubject, addUpdate } from '../timeline'

// Called by monitors, heartbeats, and certificate gaps within their own transactions. Nothing here opens one.

export { incidentEventData } from './event-data'
export type { Drafts, Outage, Resolution, Subject } from './outage'

/** A failure within this time after the incident was resolved reopens it. */
export const reopenWithinMs = 10 * 60_000
/** Limits the timeline of a subject that keeps failing and recovering for days. */
export const maxReopenings = 20
const maxSubjects = 200

/**
 * Records a failure. An unresolved incident of the subject is updated, and raised in severity if the outage is worse. An incident
 * resolved less than ten minutes before the first failure is reopened, up to 20 times. Otherwise a new incident is opened. An incident
 * that was closed manually while its subject was failing stays closed until the subject recovers or gets worse.
 * @returns the incident, which is resolved if it was closed manually; both flags are false if nothing was opened
 */
export async function openIncident(
  tx: Tx,
  hub: Hub,
  outage: Outage,
): Promise<{ incident: IncidentRow; opened: boolean; reopened: boolean } & Drafts> {
  // Another hub may be opening one right now: the insert waits for it, and the next attempt finds it.
  for (let attempts = 0; attempts < 3; attempts++) {
    const last = await lastOf(tx, outage.subject.id)
    if (last?.openSubject) return { opened: false, reopened: false, ...(await updateOngoing(tx, hub, last, outage)) }
    if (last?.awaitsRecovery && rankOf(outage) <= rankOf(last))
      return { incident: last, opened: false, reopened: false, ...noDrafts() }
    if (last && shouldReopen(last, outage)) return { opened: false, reopened: true, ...(await reopen(tx, hub, last, outage)) }
    const created = await insert(tx, hub, outage)
    if (created) return { opened: true, reopened: false, ...created }
  }
  throw new Error('The unresolved incident of a subject was neither found nor created.')
}

/**
 * Resolves the incident of a subject that recovered or is no longer monitored. Does nothing if it has no unresolved incident.
 * @param input.subject id of the monitor or heartbeat
 * @param input.at ms UTC
 * @param input.text a sentence on why, such as `HTTP 200 in 84 ms.`
 */
export async function resolveIncident(
  tx: Tx,
  hub: Hub,
  input: { subject: string; at: number; reason: Resolution; text?: string },
): Promise<{ incident: IncidentRow | null } & Drafts> {
  const last = await lastOf(tx, input.subject)
  if (!last) return { incident: null, ...noDrafts() }
  if (!last.openSubject) {
    if (last.awaitsRecovery) await tx.update(incidents).set({ awaitsRecovery: false }).where(eq(incidents.id, last.id))
    return { incident: null, ...noDrafts() }
  }
  const at = Math.max(input.at, last.startedAt)
  const incident = await updateIncidentRow(tx, hub, last, {
    status: 'resolved',
    openSubject: null,
    resolvedAt: at,
    resolution: input.reason,
    acknowledgedUntil: null,
  })
  const elapsed = formatDuration(durationOf(incident, at))
  const text = `${resolvedTexts[input.reason]} after ${elapsed}.${input.text ? ` ${oneLine(input.text)}` : ''}`
  await addUpdate(tx, incident, { kind: 'resolved', at, text, details: { resolution: input.reason } })
  const { jobs } = await notifyIncident(tx, hub, incident, 'resolved', { at, text })
  return { incident, ...noDrafts(), jobs, audits: [auditDraft(incident, 'incident.resolve', last, text)] }
}

const resolvedTexts: Record<Resolution, string> = {
  recovered: 'Recovered',
  paused: 'Paused',
  deleted: 'Deleted',
  reset: 'Reset',
}

/**
 * Adds a subject to the incident of the parent it depends on, instead of opening one of its own. Does nothing if the parent has no
 * unresolved incident.
 * @param input.parentSubject id of the parent
 * @param input.at ms UTC
 */
export async function addAffected(
  tx: Tx,
  hub: Hub,
  input: { parentSubject: string; subject: Subject; at: number },
): Promise<{ incident: IncidentRow | null } & Drafts> {
  const last = await lastOf(tx, input.parentSubject)
  if (!last?.openSubject) return { incident: null, ...noDrafts() }
  const [listed] = await tx.select({ n: count() }).from(incidentSubjects).where(eq(incidentSubjects.incidentId, last.id))
  if (listed!.n >= maxSubjects || !(await addSubject(tx, last, input.subject, 'affected', input.at)))
    return { incident: last, ...noDrafts() }
  const incident = await updateIncidentRow(tx, hub, last, {})
  const { type, id, name } = input.subject
  await addUpdate(tx, incident, { kind: 'affected', at: input.at, text: `${name} is affected.`, details: { type, id, name } })
  return { incident, ...noDrafts() }
}

const shouldReopen = (last: IncidentRow, outage: Outage): boolean =>
  last.resolvedAt !== null &&
  !last.awaitsRecovery &&
  last.reopenCount < maxReopenings &&
  outage.startedAt - last.resolvedAt <= reopenWithinMs

/** The latest incident of a subject, locked until the transaction ends. */
const lastOf = batched('incident-last', async (tx, subjectIds: readonly string[]) => {
  const rows = await forIds(subjectIds, (size, list, values) =>
    prepared<IncidentRow[], Tx>(tx, `incident-last|${size}`, handle =>
      forUpdate(
        handle
          .select()
          .from(incidents)
          .where(
            sql`${incidents.id} in (select max(${incidents.id}) from ${incidents}
              where ${incidents.subjectId} in ${list} group by ${incidents.subjectId})`,
          )
          // In id order, to avoid deadlocks.
          .orderBy(incidents.id),
      ),
    ).execute(values),
  )
  const bySubject = new Map(rows.map(row => [row.subjectId, row]))
  return subjectIds.map(id => bySubject.get(id) ?? null)
})

/** Null if the subject has an unresolved incident already. */
const insertIncident = batched('incident-insert', async (tx, rows: readonly (typeof incidents.$inferInsert)[]) => {
  const stored = await insertRowsReturning(tx, incidents, rows, skipExisting)
  const byId = new Map(stored.map(row => [row.id, row]))
  return rows.map(row => byId.get(row.id) ?? null)
})

async function insert(tx: Tx, hub: Hub, outage: Outage): Promise<({ incident: IncidentRow } & Drafts) | null> {
  const now = hub.clock.now()
  const { subject } = outage
  const incident = await insertIncident(tx, {
    id: newId('inc'),
    workspaceId: outage.workspaceId,
    kind: outage.kind,
    subjectId: subject.id,
    openSubject: subject.id,
    title: titleOf(outage),
    status: 'open',
    severity: outage.severity,
    ...outageColumns(outage),
    channelIds: outage.channelIds === null ? null : [...outage.channelIds],
    link: outage.link,
    startedAt: outage.startedAt,
    confirmedAt: Math.max(outage.confirmedAt, outage.startedAt),
    awaitsRecovery: false,
    resolvedMs: 0,
    reopenCount: 0,
    notes: '',
    version: 1,
    createdAt: now,
    updatedAt: now,
  })
  if (!incident) return null
  await addSubject(tx, incident, subject, 'cause', outage.startedAt)
  await addUpdate(tx, incident, { kind: 'opened', at: outage.confirmedAt, text: incident.cause, details: updateDetails(outage) })
  const { jobs } = await notifyIncident(tx, hub, incident, 'opened', { at: outage.confirmedAt, text: incident.cause })
  return { incident, ...noDrafts(), jobs, audits: [auditDraft(incident, 'incident.open', null, incident.cause)] }
}

async function reopen(tx: Tx, hub: Hub, last: IncidentRow, outage: Outage): Promise<{ incident: IncidentRow } & Drafts> {
  const incident = await updateIncidentRow(tx, hub, last, {
    ...reopenedColumns,
    kind: outage.kind,
    openSubject: outage.subject.id,
    title: titleOf(outage),
    severity: higherSeverity(last, outage),
    ...outageColumns(outage),
    channelIds: outage.channelIds === null ? null : [...outage.channelIds],
    resolvedMs: last.resolvedMs + Math.max(0, outage.startedAt - last.resolvedAt!),
    reopenCount: last.reopenCount + 1,
  })
  await addUpdate(tx, incident, {
    kind: 'reopened',
    at: outage.confirmedAt,
    text: incident.cause,
    details: updateDetails(outage),
  })
  const { jobs } = await notifyIncident(tx, hub, incident, 'reopened', {
    at: outage.confirmedAt,
    text: incident.cause,
    since: outage.startedAt,
  })
  return { incident, ...noDrafts(), jobs, audits: [auditDraft(incident, 'incident.reopen', last, incident.cause)] }
}

/** Updates an unresolved incident with an outage that is worse, better, or the same as before. */
async function updateOngoing(tx: Tx, hub: Hub, last: IncidentRow, outage: Outage): Promise<{ incident: IncidentRow } & Drafts> {
  const difference = rankOf(outage) - rankOf(last)
  const at = outage.confirmedAt
  const set = { kind: outage.kind, title: titleOf(outage) }
  if (difference === 0) return { incident: await updateReason(tx, hub, last, outage), ...noDrafts() }
  if (difference < 0) {
    const incident = await updateIncidentRow(tx, hub, last, { ...set, severity: outage.severity, ...outageColumns(outage) })
    const text = incident.cause
    await addUpdate(tx, incident, { kind: 'improved', at, text, details: updateDetails(outage) })
    const { jobs } = await notifyIncident(tx, hub, incident, 'improved', { at, text })
    return { incident, ...noDrafts(), jobs }
  }
  // The acknowledgement was for the degraded state, so it doesn't cover the outage.
  const incident = await updateIncidentRow(tx, hub, last, {
    ...set,
    ...reopenedColumns,
    severity: higherSeverity(last, outage),
    ...outageColumns(outage),
  })
  await addUpdate(tx, incident, { kind: 'worsened', at, text: incident.cause, details: updateDetails(outage) })
  const reminders = await unmuteThread(tx, hub, incident.id)
  const { jobs } = await notifyIncident(tx, hub, incident, 'worsened', { at, text: incident.cause })
  return {
    incident,
    ...noDrafts(),
    jobs: [...reminders.jobs, ...jobs],
    audits: [auditDraft(incident, 'incident.worsen', last, incident.cause)],
  }
}

/** An incident that gaps share is about the most severe one that still exists. Nobody has to be notified if that is another one. */
async function updateReason(tx: Tx, hub: Hub, last: IncidentRow, outage: Outage): Promise<IncidentRow> {
  const set = { title: titleOf(outage), ...outageColumns(outage) }
  return outage.kind !== 'certificate.gap' || isUnchanged(last, set) ? last : await updateIncidentRow(tx, hub, last, set)
}

const auditDraft = (
  row: IncidentRow,
  action: AuditAction,
  before: IncidentRow | null,
  reason: string,
): Drafts['audits'][number] => ({
  workspaceId: row.workspaceId,
  action,
  actor: systemActor('incidents'),
  context: jobContext,
  targets: [target('incident', { id: row.id, name: row.title })],
  before: before && auditView(before),
  after: auditView(row),
  reason,
})

const auditView = ({ status, severity }: IncidentRow) => ({ status, severity })
