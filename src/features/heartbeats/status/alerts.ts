import type { AuditAction } from '../../../core/audit-actions'
import type { AuditDraft } from '../../../core/change-result'
import type { AuditActor, AuditContext } from '../../../core/db/tables'
import type { Tx } from '../../../core/db/transaction'
import type { EventData } from '../../../core/event-kinds'
import type { Hub } from '../../../core/hub'
import { joined, noDrafts, type Drafts, type IncidentRow } from '../../incidents/outages/outage'
import { incidentEventData, openIncident, resolveIncident } from '../../incidents/outages/outages'
import { heartbeatFact, type HeartbeatFact } from './fact'
import { describeSchedule } from '../schedule/schedule'
import type { Flip, HeartbeatState } from './state'
import type { HeartbeatRow } from '../view'

/** Details of the ping that reported a failure. */
interface Failure {
  exitStatus: number | null
  body: Uint8Array | null
}

/**
 * Records a status change: always in the audit log, and with an event and an incident if it is an alert or a recovery.
 * @param before the row before the change, with the expected time and the time it went down
 * @param options.alertHeldUntil when to raise the alert instead of now (ms UTC), see maintenance-hold.ts
 */
export async function reportFlip(
  tx: Tx,
  hub: Hub,
  before: HeartbeatRow,
  state: HeartbeatState,
  flip: Flip,
  by: { actor: AuditActor; context: AuditContext },
  { failure = null, alertHeldUntil = null }: { failure?: Failure | null; alertHeldUntil?: number | null } = {},
): Promise<Drafts> {
  const audit: AuditDraft = {
    workspaceId: before.workspaceId,
    action: actionOf(flip),
    ...by,
    targets: [{ type: 'heartbeat', id: before.id, name: before.name }],
    before: { status: flip.from },
    after: { status: flip.to },
    reason: `${reasonOf(before, flip)}${alertHeldUntil === null ? '' : ' No alert was sent because of a maintenance window.'}`,
  }
  const drafts = { ...noDrafts(), audits: [audit] }
  if (flip.to === 'down' && alertHeldUntil === null)
    return joined(drafts, await raiseAlert(tx, hub, before, state, flip, { confirmedAt: flip.at, failure }))
  // Skip the recovery if the outage was never announced.
  if (flip.from === 'down' && flip.to === 'up' && before.alertHeldUntil === null)
    return joined(drafts, await reportRecovery(tx, hub, before, state, flip))
  return drafts
}

/**
 * Raises the alert of a heartbeat that is down: opens its incident and emits its event.
 * @param options.confirmedAt when the alert is raised (ms UTC)
 */
export async function raiseAlert(
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
    predicate: predicateOf(flip),
    severity: before.severity,
    startedAt: flip.at,
    confirmedAt,
    cause: reasonOf(before, flip),
    locations: [],
    evidence: evidenceOf(fact, failure),
    channelIds: before.channelIds,
    link: null,
  })
  const data: EventData<'monitor.alert'> = {
    kind: 'heartbeat.missed',
    status: 'down',
    ...eventDataOf(fact, flip, opened.incident),
  }
  return joined(opened, { ...noDrafts(), events: [{ ...eventHead(before, confirmedAt), kind: 'monitor.alert', data }] })
}

async function reportRecovery(tx: Tx, hub: Hub, before: HeartbeatRow, state: HeartbeatState, flip: Flip): Promise<Drafts> {
  const fact = heartbeatFact(before, state)
  const resolved = await resolveIncident(tx, hub, { subject: before.id, at: flip.at, reason: 'recovered' })
  const data: EventData<'monitor.recovered'> = {
    kind: 'heartbeat.recovered',
    status: 'up',
    ...eventDataOf(fact, flip, resolved.incident),
    downtime_seconds: Math.max(0, Math.round((flip.at - before.statusSince) / 1000)),
  }
  return joined(resolved, { ...noDrafts(), events: [{ ...eventHead(before, flip.at), kind: 'monitor.recovered', data }] })
}

const eventHead = (row: HeartbeatRow, occurredAt: number) => ({
  workspaceId: row.workspaceId,
  resource: { type: 'heartbeat', id: row.id },
  occurredAt,
})

const eventDataOf = (fact: HeartbeatFact, flip: Flip, incident: IncidentRow | null) => ({
  previous_status: flip.from!,
  reason: flip.reason,
  monitor: null,
  heartbeat: fact,
  probe: null,
  incident: incident && incidentEventData(incident),
})

// The same limit as for the response bodies of checks.
const maxOutputBytes = 4096

/** Evidence of the incident: what was expected, and the exit status and output of a reported failure. */
const evidenceOf = ({ last_ping_at, expected_at, schedule }: HeartbeatFact, failure: Failure | null) => ({
  last_ping_at,
  expected_at,
  schedule,
  ...(failure && {
    exit_status: failure.exitStatus,
    body: failure.body && new TextDecoder().decode(failure.body.subarray(0, maxOutputBytes)),
    body_truncated: (failure.body?.length ?? 0) > maxOutputBytes,
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
        : 'heartbeat.activate'

function predicateOf({ reason }: Flip): string {
  switch (reason) {
    case 'fail':
      return 'reported a failure'
    case 'start_timeout':
      return 'did not finish in time'
    default:
      return 'missed a ping'
  }
}

function reasonOf(row: HeartbeatRow, flip: Flip): string {
  switch (flip.reason) {
    case 'late':
      return `No ping was received in time. Expected ${describeSchedule(row.schedule)}.`
    case 'start_timeout':
      return 'A run started but did not finish within the grace period.'
    case 'fail':
      return 'The job reported a failure.'
    default:
      return 'A ping was received.'
  }
}
