import { and, asc, desc, eq, gt, lt, lte, sql } from 'drizzle-orm'
import { prepared } from '../../../core/db/prepared'
import type { Hub } from '../../../core/hub'
import { othersTurn } from '../../../core/turns'
import { monitorGaps, monitorTransitions } from '../tables'
import type { MonitorRow } from '../view'
import { stretchesOf, type Stretch, type Timeline } from './uptime'

const transitionsAtOnce = 500

/** What a monitor was shown as, from `from` up to `to` (ms UTC), but neither before it was made nor in what is to come. */
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
 * The same of several monitors, by their ids. Most of them have not changed since `from`, and are not looked up.
 * @param from ms UTC, as `to`
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

/** Changes after `begin` and before `end`, and what it was before the first of them; a monitor that flaps has many. */
async function transitionsBetween(hub: Hub, { id }: MonitorRow, begin: number, end: number) {
  const transitions: { at: number; to: MonitorRow['status'] }[] = []
  let first: MonitorRow['status'] | null = null
  // Behind every id of its millisecond.
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
    await othersTurn()
  }
}

type Changed = Pick<typeof monitorTransitions.$inferSelect, 'id' | 'at' | 'from' | 'to'>
