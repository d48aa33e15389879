import { instant } from '../../core/clock'
import type { EventData } from '../../core/events'
import type { HeartbeatState } from './state'
import type { HeartbeatRow } from './view'

export type HeartbeatFact = NonNullable<EventData<'monitor.alert'>['heartbeat']>

/**
 * The member `heartbeat` of the events about heartbeats.
 * @param times ms UTC; those of the row when absent
 */
export const heartbeatFact = (
  row: HeartbeatRow,
  times: Pick<HeartbeatState, 'lastPingAt' | 'expectedAt' | 'downAt'> = {
    ...row,
    downAt: row.status === 'down' ? row.statusSince : row.downAt,
  },
): HeartbeatFact => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  tags: row.tags,
  schedule: row.schedule as HeartbeatFact['schedule'],
  last_ping_at: instant(times.lastPingAt),
  expected_at: instant(times.expectedAt),
  down_at: instant(times.downAt),
})
