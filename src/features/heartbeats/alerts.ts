import type { AuditAction } from '../../core/audit-actions'
import type { AuditDraft, EventDraft } from '../../core/change'
import { instant } from '../../core/clock'
import type { AuditActor, AuditContext } from '../../core/db/tables'
import { describeSchedule } from './schedule'
import type { Flip, HeartbeatState } from './state'
import type { HeartbeatRow } from './view'

/** What a change of status tells the world: an event where somebody must know, an audit entry always. */
export interface Told {
  audits: AuditDraft[]
  events: EventDraft[]
}

/**
 * @param before the row as it was, which holds when the ping was expected and since when it was down
 */
export function tell(
  before: HeartbeatRow,
  state: HeartbeatState,
  flip: Flip,
  by: { actor: AuditActor; context: AuditContext },
): Told {
  const audits: AuditDraft[] = [
    {
      workspaceId: before.workspaceId,
      action: actionOf(flip),
      ...by,
      targets: [{ type: 'heartbeat', id: before.id, name: before.name }],
      before: { status: flip.from },
      after: { status: flip.to },
      reason: reasonOf(before, flip),
    },
  ]
  const kind = flip.to === 'down' ? 'heartbeat.missed' : flip.from === 'down' && flip.to === 'up' ? 'heartbeat.recovered' : null
  if (kind === null) return { audits, events: [] }
  const subject = {
    status: flip.to,
    previous_status: flip.from!,
    reason: flip.reason,
    monitor: null,
    probe: null,
    incident: null,
    heartbeat: {
      id: before.id,
      name: before.name,
      slug: before.slug,
      tags: before.tags,
      schedule: before.schedule,
      last_ping_at: instant(state.lastPingAt),
      expected_at: instant(flip.to === 'down' ? before.expectedAt : state.expectedAt),
      down_at: instant(flip.to === 'down' ? flip.at : state.downAt),
    },
  }
  const common = { workspaceId: before.workspaceId, resource: { type: 'heartbeat', id: before.id }, occurredAt: flip.at }
  return {
    audits,
    events: [
      kind === 'heartbeat.missed'
        ? { ...common, kind: 'monitor.alert', data: { kind, ...subject } }
        : {
            ...common,
            kind: 'monitor.recovered',
            data: { kind, ...subject, downtime_seconds: Math.max(0, Math.round((flip.at - before.statusSince) / 1000)) },
          },
    ] as EventDraft[],
  }
}

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
