import { instant } from '../../core/clock'
import type { EventData } from '../../core/events'
import type { HeartbeatRow } from './view'

type Fact = NonNullable<EventData<'monitor.alert'>['heartbeat']>

/**
 * The member `heartbeat` of the events about heartbeats.
 * @param times ms UTC; those of the row when absent
 */
export const heartbeatFact = (
  row: HeartbeatRow,
  times: { lastPingAt: number | null; expectedAt: number | null; downAt: number | null } = {
    ...row,
    downAt: row.status === 'down' ? row.statusSince : row.downAt,
  },
): Fact => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  tags: row.tags,
  schedule: row.schedule as Fact['schedule'],
  last_ping_at: instant(times.lastPingAt),
  expected_at: instant(times.expectedAt),
  down_at: instant(times.downAt),
})
