import { and, asc, desc, eq, gt, gte, lt, lte } from 'drizzle-orm'
import type { Hub } from '../../../core/hub'
import { othersTurn } from '../../../core/turns'
import { monitorGaps, monitorTransitions } from '../tables'
import type { MonitorRow } from '../view'
import { stretchesOf, type Stretch, type Timeline } from './uptime'

const transitionsAtOnce = 2_000

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
  const gaps = await hub.read
    .select({ from: monitorGaps.from, to: monitorGaps.to, shares: monitorGaps.shares })
    .from(monitorGaps)
    .where(and(gt(monitorGaps.to, begin), lt(monitorGaps.from, end)))
  const timeline: Timeline = {
    transitions,
    first: before?.to ?? first ?? monitor.status,
    gaps: gaps.filter(gap => gap.shares === null || gap.shares.includes(monitor.share)),
  }
  return stretchesOf(timeline, begin, end)
}

/** Changes after `begin` and before `end`, and what it was before the first of them; a monitor that flaps has many. */
async function transitionsBetween(hub: Hub, { id }: MonitorRow, begin: number, end: number) {
  const transitions: { at: number; to: MonitorRow['status'] }[] = []
  const own = eq(monitorTransitions.monitorId, id)
  let first: MonitorRow['status'] | null = null
  for (let after = { at: begin, ids: new Set<string>() }; ;) {
    // Of one millisecond there may be several: it is read again from there, without those that were seen.
    const rows = await hub.read
      .select()
      .from(monitorTransitions)
      .where(
        and(
          own,
          after.ids.size > 0 ? gte(monitorTransitions.at, after.at) : gt(monitorTransitions.at, after.at),
          lt(monitorTransitions.at, end),
        ),
      )
      .orderBy(asc(monitorTransitions.at), asc(monitorTransitions.id))
      .limit(transitionsAtOnce)
    const fresh = rows.filter(row => !after.ids.has(row.id))
    first ??= fresh[0]?.from ?? null
    for (const { at, to } of fresh) transitions.push({ at, to })
    const last = fresh.at(-1)
    if (rows.length < transitionsAtOnce || !last) return { first, transitions }
    after = { at: last.at, ids: new Set(rows.filter(row => row.at === last.at).map(row => row.id)) }
    await othersTurn()
  }
}
