import type { AuditAction } from '../../core/audit-actions'
import type { AuditDraft } from '../../core/change'
import type { AuditActor, AuditContext } from '../../core/db/tables'
import type { Tx } from '../../core/db/transaction'
import type { EventData } from '../../core/events'
import type { Hub } from '../../core/hub'
import { joined, noDrafts, type Drafts, type IncidentRow } from '../incidents/outage'
import { incidentFact, openIncident, resolveIncident } from '../incidents/outages'
import { heartbeatFact, type HeartbeatFact } from './fact'
import { describeSchedule } from './schedule'
import type { Flip, HeartbeatState } from './state'
import type { HeartbeatRow } from './view'

/** What only the ping that made it fail can tell. */
export interface Failure {
  exitStatus: number | null
  body: Uint8Array | null
}

/**
 * What a change of status tells the world, as a step: an audit entry always; an event and an incident where somebody must know.
 * @param before the row as it was, which holds when the ping was expected and since when it was down
 * @param more.heldUntil when the alert is raised instead of now (ms UTC): held.ts
 */
export async function tell(
  tx: Tx,
  hub: Hub,
  before: HeartbeatRow,
  state: HeartbeatState,
  flip: Flip,
  by: { actor: AuditActor; context: AuditContext },
  { failure = null, heldUntil = null }: { failure?: Failure | null; heldUntil?: number | null } = {},
): Promise<Drafts> {
  const audit: AuditDraft = {
    workspaceId: before.workspaceId,
    action: actionOf(flip),
    ...by,
    targets: [{ type: 'heartbeat', id: before.id, name: before.name }],
    before: { status: flip.from },
    after: { status: flip.to },
    reason: heldUntil === null ? reasonOf(before, flip) : `${reasonOf(before, flip)} Nobody is told: there is maintenance.`,
  }
  const told = { ...noDrafts(), audits: [audit] }
  if (flip.to === 'down' && heldUntil === null)
    return joined(told, await raise(tx, hub, before, state, flip, { confirmedAt: flip.at, failure }))
  // Who was not told that it is down need not be told that it is up.
  if (flip.from === 'down' && flip.to === 'up' && before.heldUntil === null)
    return joined(told, await recovery(tx, hub, before, state, flip))
  return told
}

/**
 * Raises the alert of a heartbeat that is down: its incident and its event, as a step.
 * @param by.confirmedAt when it is told (ms UTC)
 */
export async function raise(
  tx: Tx,
  hub: Hub,
  before: HeartbeatRow,
  state: HeartbeatState,
  flip: Flip,
  { confirmedAt, failure = null }: { confirmedAt: number; failure?: Failure | null },
): Promise<Drafts> {
  const fact = heartbeatFact(before, { lastPingAt: state.lastPingAt, expectedAt: before.expectedAt, downAt: flip.at })
  const opened = await openIncident(tx, hub, {
    workspaceId: before.workspaceId,
    subject: { type: 'heartbeat', id: before.id, name: before.name, tags: before.tags },
    kind: 'heartbeat.missed',
    severity: before.severity,
    startedAt: flip.at,
    confirmedAt,
    cause: reasonOf(before, flip),
    locations: [],
    evidence: evidenceOf(fact, failure),
    channelIds: before.channelIds,
    link: null,
  })
  const data: EventData<'monitor.alert'> = { kind: 'heartbeat.missed', status: 'down', ...dataOf(fact, flip, opened.incident) }
  return joined(opened, { ...noDrafts(), events: [{ ...aboutOf(before, confirmedAt), kind: 'monitor.alert', data }] })
}

async function recovery(tx: Tx, hub: Hub, before: HeartbeatRow, state: HeartbeatState, flip: Flip): Promise<Drafts> {
  const fact = heartbeatFact(before, state)
  const resolved = await resolveIncident(tx, hub, { subject: before.id, at: flip.at, reason: 'recovered' })
  const data: EventData<'monitor.recovered'> = {
    kind: 'heartbeat.recovered',
    status: 'up',
    ...dataOf(fact, flip, resolved.incident),
    downtime_seconds: Math.max(0, Math.round((flip.at - before.statusSince) / 1000)),
  }
  return joined(resolved, { ...noDrafts(), events: [{ ...aboutOf(before, flip.at), kind: 'monitor.recovered', data }] })
}

const aboutOf = (row: HeartbeatRow, occurredAt: number) => ({
  workspaceId: row.workspaceId,
  resource: { type: 'heartbeat', id: row.id },
  occurredAt,
})

const dataOf = (fact: HeartbeatFact, flip: Flip, incident: IncidentRow | null) => ({
  previous_status: flip.from!,
  reason: flip.reason,
  monitor: null,
  heartbeat: fact,
  probe: null,
  incident: incident && incidentFact(incident),
})

// As much as a check keeps of an answer.
const mostOutput = 4096

/** What was waited for; of a job that told of its failure, how it ended and what it said. */
const evidenceOf = ({ last_ping_at, expected_at, schedule }: HeartbeatFact, failure: Failure | null) => ({
  last_ping_at,
  expected_at,
  schedule,
  ...(failure && {
    exit_status: failure.exitStatus,
    body: failure.body && new TextDecoder().decode(failure.body.subarray(0, mostOutput)),
    body_truncated: (failure.body?.length ?? 0) > mostOutput,
  }),
})

const actionOf = (flip: Flip): AuditAction =>
  flip.to === 'down'
    ? flip.reason === 'fail'
      ? 'heartbeat.fail'
      : 'heartbeat.miss'
    : flip.from === 'down'
      ? 'heartbeat.recover'
      : flip.from === 'paused'
        ? 'heartbeat.resume'
        : 'heartbeat.begin'

function reasonOf(row: HeartbeatRow, flip: Flip): string {
  switch (flip.reason) {
    case 'late':
      return `No ping came in time; expected ${describeSchedule(row.schedule)}.`
    case 'start_timeout':
      return 'A run started and did not finish within the grace time.'
    case 'fail':
      return 'The job reported a failure.'
    default:
      return 'A ping came.'
  }
}
