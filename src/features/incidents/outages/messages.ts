import { formatUtcSecond } from '../../../core/clock'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { JobDraft } from '../../../core/jobs/draft'
import { formatDuration } from '../../../core/duration'
import { maskedAddress } from '../../../core/net/masked-address'
import { addressFact, type Message } from '../../notifications/message'
import { notify } from '../../notifications/delivery/notify'
import { durationOf } from './event-data'
import type { IncidentRow } from './outage'
import { subjectsOf, type SubjectRow } from '../timeline'

/** What happened to an incident that channels are notified about. */
type IncidentMessageKind =
  'opened' | 'reopened' | 'worsened' | 'improved' | 'acknowledged' | 'unacknowledged' | 'resolved' | 'note'

const problems: readonly IncidentMessageKind[] = ['opened', 'reopened', 'worsened', 'unacknowledged']

/**
 * Notifies the channels of an incident, or the default channels of the workspace, within the caller's transaction.
 * @param incident in its new state
 * @param at when it happened (ms UTC)
 * @param text one or two sentences; empty if there is nothing to add to the title
 * @param since when the current failure started, if not at the start of the incident (ms UTC)
 */
export async function notifyIncident(
  tx: Tx,
  hub: Hub,
  incident: IncidentRow,
  kind: IncidentMessageKind,
  { at, text, since }: { at: number; text: string; since?: number },
): Promise<{ jobs: JobDraft[] }> {
  const subjects = await subjectsOf(tx, incident.id)
  const message = messageOf(hub, incident, subjects, kind, at, text, since)
  return await notify(tx, hub, { workspaceId: incident.workspaceId, message, channelIds: incident.channelIds })
}

function messageOf(
  hub: Pick<Hub, 'baseUrl'>,
  incident: IncidentRow,
  subjects: readonly SubjectRow[],
  kind: IncidentMessageKind,
  at: number,
  text: string,
  since?: number,
): Message {
  const cause = subjects.find(one => one.role === 'cause')
  const isProblem = problems.includes(kind)
  const title = titleOf(incident, cause?.name ?? null, kind)
  return {
    kind: `incident.${kind}`,
    state: kind === 'resolved' ? 'recovery' : isProblem ? 'problem' : 'information',
    severity: incident.severity,
    title,
    text: title === text || title.startsWith(`${text.replace(/\.$/, '')}:`) ? '' : text,
    facts: factsOf(incident, subjects, kind, text, since),
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

function titleOf(incident: IncidentRow, name: string | null, kind: IncidentMessageKind): string {
  switch (kind) {
    case 'opened':
    case 'worsened':
    case 'improved':
      return incident.title
    case 'reopened':
      return `${incident.title} again`
    case 'acknowledged':
      return `Acknowledged by ${incident.acknowledgedBy?.name ?? 'someone'}: ${incident.title}`
    case 'unacknowledged':
      return `No longer acknowledged: ${incident.title}`
    case 'note':
      return `Note on incident: ${incident.title}`
    case 'resolved':
      return name !== null && incident.resolution === 'recovered' && incident.kind !== 'certificate.gap'
        ? `${name} is up`
        : `Resolved: ${incident.title}`
  }
}

function factsOf(
  incident: IncidentRow,
  subjects: readonly SubjectRow[],
  kind: IncidentMessageKind,
  text: string,
  since?: number,
): [string, string][] {
  const target = subjects.find(one => one.role === 'cause')?.target ?? null
  // A fact that the title or text states already is not repeated.
  const isStated = (fact: string) => incident.title === fact || text.includes(fact)
  const affected = subjects.filter(one => one.role === 'affected').map(one => one.name)
  const isResolved = incident.resolvedAt !== null
  const duration = isResolved ? formatDuration(durationOf(incident, incident.resolvedAt!)) : null
  const facts: [string, string | null][] = [
    [isResolved ? 'First error' : 'Error', isStated(incident.cause) ? null : incident.cause],
    [addressFact, target === null ? null : maskedAddress(target)],
    ['Started', since === undefined && incident.reopenCount > 0 ? null : formatUtcSecond(since ?? incident.startedAt)],
    ['First failure', incident.reopenCount > 0 ? formatUtcSecond(incident.startedAt) : null],
    ['Resolved', formatUtcSecond(incident.resolvedAt)],
    ['Duration', duration === null || isStated(duration) ? null : duration],
    ['Locations', incident.locations.join(', ') || null],
    ['Affected', affected.slice(0, 10).join(', ') + (affected.length > 10 ? `, and ${affected.length - 10} more` : '') || null],
    ['Severity', incident.severity],
    ['Acknowledged until', kind === 'acknowledged' ? formatUtcSecond(incident.acknowledgedUntil) : null],
  ]
  return facts.filter((one): one is [string, string] => one[1] !== null)
}
