import { count, desc, eq } from 'drizzle-orm'
import { target } from '../../core/audit'
import type { AuditAction } from '../../core/audit-actions'
import { jobContext, systemActor } from '../../core/change'
import { locking } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { newId } from '../../core/ids'
import { oneLine } from './evidence'
import { durationOf } from './fact'
import { tellOf } from './messages'
import { noDrafts, type Drafts, type IncidentRow, type Outage, type Resolution, type Subject } from './outage'
import { duration } from '../../core/span'
import { unhushThread } from '../notifications/tell'
import { foundBy, graver, rankOf, titleOf, told } from './outage-columns'
import { unresolved, write } from './rows'
import { incidents, incidentSubjects } from './tables'
import { addSubject, addUpdate } from './timeline'

// Steps inside the doors of those who watch: monitors and heartbeats. None of them opens a transaction.

export { incidentFact } from './fact'
export type { Drafts, Outage, Resolution, Subject } from './outage'

/** Of what fails again within this time after its incident was resolved, the incident goes on. */
export const reopenWithinMs = 10 * 60_000
/** What fails and recovers for days does not make one incident of a thousand entries. */
export const mostReopenings = 20
const mostSubjects = 200

/**
 * Writes down that something failed. Where its incident is unresolved, that one tells of it, and grows graver where the outage is;
 * where it was resolved less than ten minutes before the first failure, it is reopened, up to 20 times; else a new one is opened. One
 * that somebody closed while its subject was not well stays closed until that was well again, or gets worse than it was.
 * @returns the incident, which is a resolved one where somebody closed it; both flags are false where there was nothing to open
 */
export async function openIncident(
  tx: Tx,
  hub: Hub,
  outage: Outage,
): Promise<{ incident: IncidentRow; opened: boolean; reopened: boolean } & Drafts> {
  // Another hub may open one at this moment: its insert is waited for, and then found.
  for (let tries = 0; tries < 3; tries++) {
    const last = await lastOf(tx, outage.subject.id)
    if (last?.openSubject) return { opened: false, reopened: false, ...(await goOn(tx, hub, last, outage)) }
    if (last?.awaitsRecovery && rankOf(outage.kind) <= rankOf(last.kind))
      return { incident: last, opened: false, reopened: false, ...noDrafts() }
    if (last && goesOnFrom(last, outage)) return { opened: false, reopened: true, ...(await reopen(tx, hub, last, outage)) }
    const made = await insert(tx, hub, outage)
    if (made) return { opened: true, reopened: false, ...made }
  }
  throw new Error('The unresolved incident of a subject was neither found nor made.')
}

/**
 * Resolves the incident of what is well again, or is not watched any more. Nothing happens where it has none that is unresolved.
 * @param given.subject the id of the monitor or heartbeat
 * @param given.at ms UTC
 * @param given.text a sentence on why, such as `HTTP 200 in 84 ms.`
 */
export async function resolveIncident(
  tx: Tx,
  hub: Hub,
  given: { subject: string; at: number; reason: Resolution; text?: string },
): Promise<{ incident: IncidentRow | null } & Drafts> {
  const last = await lastOf(tx, given.subject)
  if (!last) return { incident: null, ...noDrafts() }
  if (!last.openSubject) {
    if (last.awaitsRecovery) await tx.update(incidents).set({ awaitsRecovery: false }).where(eq(incidents.id, last.id))
    return { incident: null, ...noDrafts() }
  }
  const at = Math.max(given.at, last.startedAt)
  const incident = await write(tx, hub, last, {
    status: 'resolved',
    openSubject: null,
    resolvedAt: at,
    resolution: given.reason,
    acknowledgedUntil: null,
  })
  const lasted = duration(durationOf(incident, at))
  const text = `${resolvedTexts[given.reason]} after ${lasted}.${given.text ? ` ${oneLine(given.text)}` : ''}`
  await addUpdate(tx, incident, { kind: 'resolved', at, text, details: { resolution: given.reason } })
  const { jobs } = await tellOf(tx, hub, incident, 'resolved', { at, text })
  return { incident, ...noDrafts(), jobs, audits: [audited(incident, 'incident.resolve', last, text)] }
}

const resolvedTexts: Record<Resolution, string> = {
  recovered: 'Recovered',
  paused: 'Paused',
  deleted: 'Deleted',
  reset: 'Begun anew',
}

/**
 * Lists what is down because of something else on the incident of that: it opens none of its own. Nothing happens where the other
 * has no unresolved incident.
 * @param given.parentSubject the id of what it depends on
 * @param given.at ms UTC
 */
export async function addAffected(
  tx: Tx,
  hub: Hub,
  given: { parentSubject: string; subject: Subject; at: number },
): Promise<{ incident: IncidentRow | null } & Drafts> {
  const last = await lastOf(tx, given.parentSubject)
  if (!last?.openSubject) return { incident: null, ...noDrafts() }
  const [listed] = await tx.select({ n: count() }).from(incidentSubjects).where(eq(incidentSubjects.incidentId, last.id))
  if (listed!.n >= mostSubjects || !(await addSubject(tx, last, given.subject, 'affected', given.at)))
    return { incident: last, ...noDrafts() }
  const incident = await write(tx, hub, last, {})
  const { type, id, name } = given.subject
  await addUpdate(tx, incident, { kind: 'affected', at: given.at, text: `${name} is affected.`, details: { type, id, name } })
  return { incident, ...noDrafts() }
}

const goesOnFrom = (last: IncidentRow, outage: Outage): boolean =>
  last.resolvedAt !== null &&
  !last.awaitsRecovery &&
  last.reopenings < mostReopenings &&
  outage.startedAt - last.resolvedAt <= reopenWithinMs

/** The last incident of a subject, held until the transaction ends: its steps take turns. */
async function lastOf(tx: Tx, subjectId: string): Promise<IncidentRow | null> {
  const [row] = await locking(
    tx.select().from(incidents).where(eq(incidents.subjectId, subjectId)).orderBy(desc(incidents.id)).limit(1),
  )
  return row ?? null
}

async function insert(tx: Tx, hub: Hub, outage: Outage): Promise<({ incident: IncidentRow } & Drafts) | null> {
  const now = hub.clock.now()
  const { subject } = outage
  const [incident] = await tx
    .insert(incidents)
    .values({
      id: newId('inc'),
      workspaceId: outage.workspaceId,
      kind: outage.kind,
      subjectId: subject.id,
      openSubject: subject.id,
      title: titleOf(outage),
      status: 'open',
      severity: outage.severity,
      ...foundBy(outage),
      channelIds: outage.channelIds === null ? null : [...outage.channelIds],
      link: outage.link,
      startedAt: outage.startedAt,
      confirmedAt: Math.max(outage.confirmedAt, outage.startedAt),
      awaitsRecovery: false,
      restedMs: 0,
      reopenings: 0,
      notes: '',
      version: 1,
      createdAt: now,
      updatedAt: now,
    })
    .onConflictDoNothing()
    .returning()
  if (!incident) return null
  await addSubject(tx, incident, subject, 'cause', outage.startedAt)
  await addUpdate(tx, incident, { kind: 'opened', at: outage.confirmedAt, text: incident.cause, details: told(outage) })
  const { jobs } = await tellOf(tx, hub, incident, 'opened', { at: outage.confirmedAt, text: incident.cause })
  return { incident, ...noDrafts(), jobs, audits: [audited(incident, 'incident.open', null, incident.cause)] }
}

async function reopen(tx: Tx, hub: Hub, last: IncidentRow, outage: Outage): Promise<{ incident: IncidentRow } & Drafts> {
  const incident = await write(tx, hub, last, {
    ...unresolved,
    kind: outage.kind,
    openSubject: outage.subject.id,
    title: titleOf(outage),
    severity: graver(last, outage),
    ...foundBy(outage),
    channelIds: outage.channelIds === null ? null : [...outage.channelIds],
    restedMs: last.restedMs + Math.max(0, outage.startedAt - last.resolvedAt!),
    reopenings: last.reopenings + 1,
  })
  await addUpdate(tx, incident, { kind: 'reopened', at: outage.confirmedAt, text: incident.cause, details: told(outage) })
  const { jobs } = await tellOf(tx, hub, incident, 'reopened', {
    at: outage.confirmedAt,
    text: incident.cause,
    since: outage.startedAt,
  })
  return { incident, ...noDrafts(), jobs, audits: [audited(incident, 'incident.reopen', last, incident.cause)] }
}

/** An outage of what has an unresolved incident: graver than before, less grave, or nothing new. */
async function goOn(tx: Tx, hub: Hub, last: IncidentRow, outage: Outage): Promise<{ incident: IncidentRow } & Drafts> {
  const by = rankOf(outage.kind) - rankOf(last.kind)
  if (by === 0) return { incident: last, ...noDrafts() }
  const at = outage.confirmedAt
  const set = { kind: outage.kind, title: titleOf(outage) }
  if (by < 0) {
    const incident = await write(tx, hub, last, { ...set, severity: outage.severity, ...foundBy(outage) })
    const text = oneLine(outage.cause)
    await addUpdate(tx, incident, { kind: 'eased', at, text, details: told(outage) })
    const { jobs } = await tellOf(tx, hub, incident, 'eased', { at, text })
    return { incident, ...noDrafts(), jobs }
  }
  // Who took on what was slow has not taken on that it is down.
  const incident = await write(tx, hub, last, {
    ...set,
    ...unresolved,
    severity: graver(last, outage),
    ...foundBy(outage),
  })
  await addUpdate(tx, incident, { kind: 'worsened', at, text: incident.cause, details: told(outage) })
  const reminders = await unhushThread(tx, hub, incident.id)
  const { jobs } = await tellOf(tx, hub, incident, 'worsened', { at, text: incident.cause })
  return {
    incident,
    ...noDrafts(),
    jobs: [...reminders.jobs, ...jobs],
    audits: [audited(incident, 'incident.worsen', last, incident.cause)],
  }
}

const audited = (
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
  before: before && standing(before),
  after: standing(row),
  reason,
})

const standing = ({ status, severity }: IncidentRow) => ({ status, severity })
