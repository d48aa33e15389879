import { eq } from 'drizzle-orm'
import { instant } from '../../core/clock'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { JobDraft } from '../../core/jobs/queue'
import { duration } from '../../core/span'
import type { Message } from '../notifications/message'
import { tell } from '../notifications/tell'
import { durationOf } from './fact'
import type { IncidentRow } from './outage'
import { incidentSubjects } from './tables'

type SubjectRow = typeof incidentSubjects.$inferSelect

/** What people are told of an incident. */
export type Moment = 'opened' | 'reopened' | 'worsened' | 'eased' | 'acknowledged' | 'unacknowledged' | 'resolved' | 'note'

const problems: readonly Moment[] = ['opened', 'reopened', 'worsened', 'unacknowledged']

/**
 * Tells people of an incident, as a step: its own channels, or those of the workspace that take everything.
 * @param incident as it is after what happened
 * @param at when it happened (ms UTC)
 * @param text a sentence or two
 * @param since when the failure that is told began, where that is not the first of the incident (ms UTC)
 */
export async function tellOf(
  tx: Tx,
  hub: Hub,
  incident: IncidentRow,
  moment: Moment,
  { at, text, since }: { at: number; text: string; since?: number },
): Promise<{ jobs: JobDraft[] }> {
  const subjects = await tx.select().from(incidentSubjects).where(eq(incidentSubjects.incidentId, incident.id))
  const message = messageOf(hub, incident, subjects, moment, at, text, since)
  return await tell(tx, hub, { workspaceId: incident.workspaceId, message, channelIds: incident.channelIds })
}

function messageOf(
  hub: Pick<Hub, 'baseUrl'>,
  incident: IncidentRow,
  subjects: readonly SubjectRow[],
  moment: Moment,
  at: number,
  text: string,
  since?: number,
): Message {
  const cause = subjects.find(one => one.role === 'cause')
  const isProblem = problems.includes(moment)
  return {
    kind: `incident.${moment}`,
    state: moment === 'resolved' ? 'recovery' : isProblem ? 'problem' : 'information',
    severity: incident.severity,
    title: titleOf(incident, cause?.name ?? null, moment),
    text,
    facts: factsOf(incident, subjects, moment, since),
    link: incident.link ?? `${hub.baseUrl}/incidents/${incident.id}`,
    acknowledgeLink: isProblem ? `${hub.baseUrl}/ack` : null,
    thread: incident.id,
    resource: cause
      ? { type: cause.type, id: cause.subjectId, name: cause.name }
      : { type: 'incident', id: incident.id, name: incident.title },
    tags: [...new Set(subjects.flatMap(one => one.tags))],
    occurredAt: at,
    since: since ?? incident.startedAt,
  }
}

function titleOf(incident: IncidentRow, name: string | null, moment: Moment): string {
  switch (moment) {
    case 'opened':
    case 'worsened':
    case 'eased':
      return incident.title
    case 'reopened':
      return `${incident.title} again`
    case 'acknowledged':
      return `${incident.title}: ${incident.acknowledgedBy?.name ?? 'somebody'} sees to it`
    case 'unacknowledged':
      return `${incident.title}: nobody sees to it`
    case 'note':
      return `${incident.title}: a note`
    case 'resolved':
      return name !== null && incident.resolution === 'recovered' ? `${name} is up` : `${incident.title}: resolved`
  }
}

function factsOf(incident: IncidentRow, subjects: readonly SubjectRow[], moment: Moment, since?: number): [string, string][] {
  const affected = subjects.filter(one => one.role === 'affected').map(one => one.name)
  const isOver = incident.resolvedAt !== null
  const facts: [string, string | null][] = [
    [isOver ? 'First error' : 'Error', incident.cause],
    ['Since', since === undefined && incident.reopenings > 0 ? null : instant(since ?? incident.startedAt)],
    ['First failure', incident.reopenings > 0 ? instant(incident.startedAt) : null],
    ['Until', instant(incident.resolvedAt)],
    ['Lasted', isOver ? duration(durationOf(incident, incident.resolvedAt!)) : null],
    ['Locations', incident.locations.join(', ') || null],
    ['Affected', affected.slice(0, 10).join(', ') + (affected.length > 10 ? `, and ${affected.length - 10} more` : '') || null],
    ['Severity', incident.severity],
    ['Acknowledged until', moment === 'acknowledged' ? instant(incident.acknowledgedUntil) : null],
  ]
  return facts.filter((one): one is [string, string] => one[1] !== null)
}
