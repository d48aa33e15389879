import { dayOfHour, hourOf, hoursADay } from '../../../core/db/series/hours'
import { checksOf } from './check-series'
import { and, asc, eq, gt, inArray } from 'drizzle-orm'
import { longestRetentionDays, pruneByPlan } from '../../../access/retention'
import type { Hub } from '../../../core/hub'
import { yieldToEventLoop } from '../../../core/time-slices'
import { monitors } from '../tables'
import { recorderOf } from './recorder'

/**
 * How many hours raw results are kept with several hubs, so that another hub can adopt the monitors of one that died. A single hub needs them only
 * until it has packed them.
 */
export const beatRetentionHours = 2
/** How many days before today the phases of single checks are kept. */
const phaseRetentionDays = 1
/** How many days before today hourly rollups are kept. Daily rollups are kept as long as the monitor. */
export const hourlyRetentionDays = 100

const dayMs = 86_400_000
const monitorsAtOnce = 200
// By then a hub has claimed its monitors and read back their open hours.
const settledMs = 600_000

/** Deletes expired data, mostly by dropping whole tables. */
export async function pruneSeries(hub: Hub): Promise<void> {
  const hour = hourOf(hub.clock.now())
  const today = dayOfHour(hour)
  const recorder = recorderOf(hub)
  const unsealed = recorder.openHours.oldest() ?? hour
  if (hub.clock.now() - recorder.startedAt >= settledMs)
    await checksOf(hub).dropBefore({ rows: Math.min(hour - (hub.series.isShared ? beatRetentionHours : 0), unsealed) })

  const longest = await longestRetentionDays(hub, 'monitor_results_days')
  await checksOf(hub).dropBefore({ details: today - phaseRetentionDays, chunks: longest === null ? null : today - longest })
  if (longest !== null) await checksOf(hub).deleteTexts(today - longest - 1)
  await hub.series.compact()
}

/** Deletes results past the retention of each plan, old hourly rollups, and leftovers of deleted monitors. Runs daily. */
export async function thinSeries(hub: Hub): Promise<void> {
  const today = dayOfHour(hourOf(hub.clock.now()))
  await pruneByPlan(hub, 'monitor_results_days', async (workspaceId, before) => {
    for await (const some of numbersOf(hub, workspaceId)) await checksOf(hub).deleteChunks(some, Math.floor(before / dayMs))
    return 0
  })
  for await (const some of numbersOf(hub, null)) await checksOf(hub).deleteHours(some, (today - hourlyRetentionDays) * hoursADay)
  await deleteOrphans(hub)
}

/** The numbers of the monitors of a workspace, or of all workspaces, in batches. */
async function* numbersOf(hub: Hub, workspaceId: string | null): AsyncGenerator<number[]> {
  for (let after = -1; ;) {
    const rows = await hub.read
      .select({ number: monitors.number })
      .from(monitors)
      .where(and(workspaceId === null ? undefined : eq(monitors.workspaceId, workspaceId), gt(monitors.number, after)))
      .orderBy(asc(monitors.number))
      .limit(monitorsAtOnce)
    if (rows.length === 0) return
    yield rows.map(row => row.number)
    await yieldToEventLoop()
    after = rows.at(-1)!.number
  }
}

/** After one hub deleted a monitor, another may still have written results of it. */
async function deleteOrphans(hub: Hub): Promise<void> {
  for (let after = -1; ;) {
    const stored = await checksOf(hub).seriesWithDays(after, monitorsAtOnce)
    if (stored.length === 0) return
    const rows = await hub.read.select({ number: monitors.number }).from(monitors).where(inArray(monitors.number, stored))
    const known = new Set(rows.map(row => row.number))
    for (const number of stored) if (!known.has(number)) await deleteMonitorSeries(hub, number)
    after = stored.at(-1)!
  }
}

/** Deletes all series of a monitor, one table at a time. */
export async function deleteMonitorSeries(hub: Hub, number: number): Promise<void> {
  await recorderOf(hub).release([number])
  for await (const _ of checksOf(hub).delete(number)) await yieldToEventLoop()
}
