import { and, asc, desc, eq, gt, lt, lte, sql } from 'drizzle-orm'
import { prepared } from '../../../core/db/prepared'
import type { Hub } from '../../../core/hub'
import { yieldToEventLoop } from '../../../core/time-slices'
import { monitorGaps, monitorTransitions } from '../tables'
import type { MonitorRow } from '../view'
import { stretchesOf, type Stretch, type Timeline } from './uptime'

const transitionsAtOnce = 500

/** The status history of a monitor from `from` to `to` (ms UTC), limited to the time between its creation and now. */
export async function historyOf(hub: Hub, monitor: MonitorRow, from: number, to: number): Promise<Stretch[]> {
  const begin = Math.max(from, monitor.createdAt)
  const end = Math.min(to, hub.clock.now())
  if (begin >= end) return []
  const own = eq(monitorTransitions.monitorId, monitor.id)
  const [before] = await hub.read
    .select({ to: monitorTransitions.to })
    .from(monitorTransitions)
    .where(and(own, lte(monitorTransitions.at, begin)))
    .orderBy(desc(monitorTransitions.at), desc(monitorTransitions.id))
    .limit(1)
  const { first, transitions } = await transitionsBetween(hub, monitor, begin, end)
  const gaps = await gapsBetween(hub, begin, end)
  return stretchesOf({ transitions, first: before?.to ?? first ?? monitor.status, gaps: gapsOf(gaps, monitor) }, begin, end)
}

/**
 * The same for several monitors, by id. Monitors without a status change since `from`, which are most, need no query.
 * @param from ms UTC, like `to`
 */
export async function historiesOf(
  hub: Hub,
  several: readonly MonitorRow[],
  from: number,
  to: number,
): Promise<Map<string, Stretch[]>> {
  const end = Math.min(to, hub.clock.now())
  const gaps = await gapsBetween(hub, from, end)
  const histories = new Map<string, Stretch[]>()
  for (const monitor of several) {
    const steady: Timeline = { transitions: [], first: monitor.status, gaps: gapsOf(gaps, monitor) }
    const isSteady = monitor.statusSince <= from && from < end
    histories.set(monitor.id, isSteady ? stretchesOf(steady, from, end) : await historyOf(hub, monitor, from, to))
  }
  return histories
}

type Gap = Pick<typeof monitorGaps.$inferSelect, 'from' | 'to' | 'shares'>

const gapsBetween = async (hub: Hub, begin: number, end: number): Promise<Gap[]> =>
  await hub.read
    .select({ from: monitorGaps.from, to: monitorGaps.to, shares: monitorGaps.shares })
    .from(monitorGaps)
    .where(and(gt(monitorGaps.to, begin), lt(monitorGaps.from, end)))

const gapsOf = (gaps: readonly Gap[], { share }: MonitorRow): Gap[] =>
  gaps.filter(gap => gap.shares === null || gap.shares.includes(share))

/** Status changes between `begin` and `end`, and the status before the first one. Paged, because a flapping monitor has many. */
async function transitionsBetween(hub: Hub, { id }: MonitorRow, begin: number, end: number) {
  const transitions: { at: number; to: MonitorRow['status'] }[] = []
  let first: MonitorRow['status'] | null = null
  // Sorts after every id with the same timestamp.
  for (let after = { at: begin, id: '~' }; ;) {
    const rows = await prepared<Changed[]>(hub.read, 'transitions-between', read =>
      read
        .select({
          id: monitorTransitions.id,
          at: monitorTransitions.at,
          from: monitorTransitions.from,
          to: monitorTransitions.to,
        })
        .from(monitorTransitions)
        .where(
          and(
            eq(monitorTransitions.monitorId, sql.placeholder('id')),
            sql`(${monitorTransitions.at}, ${monitorTransitions.id}) > (${sql.placeholder('at')}, ${sql.placeholder('after')})`,
            sql`${monitorTransitions.at} < ${sql.placeholder('end')}`,
          ),
        )
        .orderBy(asc(monitorTransitions.at), asc(monitorTransitions.id))
        .limit(transitionsAtOnce),
    ).execute({ id, at: after.at, after: after.id, end })
    first ??= rows[0]?.from ?? null
    for (const { at, to } of rows) transitions.push({ at, to })
    const last = rows.at(-1)
    if (rows.length < transitionsAtOnce || !last) return { first, transitions }
    after = last
    await yieldToEventLoop()
  }
}

type Changed = Pick<typeof monitorTransitions.$inferSelect, 'id' | 'at' | 'from' | 'to'>
