import { instant } from '../../../core/clock'
import type { EventData } from '../../../core/event-kinds'
import type { HeartbeatState } from './state'
import type { HeartbeatRow } from '../view'

export type HeartbeatFact = NonNullable<EventData<'monitor.alert'>['heartbeat']>

/**
 * Returns the `heartbeat` field of events about heartbeats.
 * @param times ms UTC; defaults to the times of the row
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
