import { hourMs, hoursADay } from '../../../core/db/series/hours'
import { and, eq, inArray } from 'drizzle-orm'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import type { Hub } from '../../../core/hub'
import { monitors } from '../tables'
import type { MonitorRow } from '../view'
import { walkBack } from './results'
import { defaultRecentResults, type RecentQuery, type RecentView } from './shapes'
import { historiesOf } from './timeline'
import { timeByStatus, uptimePercent } from './uptime'

const dayMs = hoursADay * hourMs

/** The last checks of several monitors within the last 24 hours, and their uptime, for rows of a list. */
export async function readRecent(
  ctx: Ctx,
  { ids, results = defaultRecentResults }: RecentQuery,
): Promise<{ data: RecentView[] }> {
  const { hub } = ctx
  const rows = await hub.read
    .select()
    .from(monitors)
    .where(and(eq(monitors.workspaceId, ctx.workspaceId), inArray(monitors.id, ids)))
  const now = hub.clock.now()
  const histories = await historiesOf(hub, rows, now - dayMs, now)
  const found = new Map<string, RecentView>()
  for (const row of rows) {
    const [spent] = timeByStatus(histories.get(row.id)!, [Math.max(now - dayMs, row.createdAt), now])
    found.set(row.id, {
      id: row.id,
      uptime_percent: spent ? uptimePercent(spent) : null,
      results: await resultsOf(hub, row, now, results),
    })
  }
  return { data: ids.flatMap(id => found.get(id) ?? []) }
}

async function resultsOf(hub: Hub, row: MonitorRow, now: number, max: number): Promise<RecentView['results']> {
  if (row.type === 'group') return []
  // Look back only twice as long as needed: a monitor that was paused shows fewer results, but no days have to be read.
  const back = Math.min(Math.max(2 * max * row.intervalSeconds * 1000, hourMs), dayMs)
  const from = Math.max(now - back, row.createdAt)
  const beats = await walkBack(hub, row.number, from, now + 1, beat => beat.at >= from && beat.at <= now, max)
  return beats.reverse().map(beat => ({ at: instant(beat.at), status: beat.status, latency_ms: beat.ms }))
}
