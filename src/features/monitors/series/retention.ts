import { and, asc, eq, gt, inArray } from 'drizzle-orm'
import { longestByPlan, pruneByPlan } from '../../../access/retention'
import { dayOfHour, hourOf, hoursADay } from '../../../core/db/series/store'
import type { Hub } from '../../../core/hub'
import { othersTurn } from '../../../core/turns'
import { monitors } from '../tables'
import { recorderOf } from './recorder'

/**
 * How long results are kept as they came where several hubs write them (hours after theirs): one that dies leaves its own to another.
 * A hub alone needs them until it has packed them.
 */
export const beatHoursKept = 2
/** How long the parts of single checks are kept (days before today). */
export const phaseDaysKept = 1
/** How long what came of each hour is kept (days before today); that of days is kept as long as the monitor. */
export const rollHourDaysKept = 100

const dayMs = 86_400_000
const monitorsAtOnce = 200
// By then a hub has the monitors it runs, and has read what was written of their hours.
const settledMs = 600_000

/** Drops what is past its time, most of it by whole tables. */
export async function pruneSeries(hub: Hub): Promise<void> {
  const hour = hourOf(hub.clock.now())
  const today = dayOfHour(hour)
  const recorder = recorderOf(hub)
  const unsealed = recorder.openHours.oldest() ?? hour
  if (hub.clock.now() - recorder.startedAt >= settledMs)
    await hub.series.dropBefore({ beats: Math.min(hour - (hub.series.isShared ? beatHoursKept : 0), unsealed) })

  const longest = await longestByPlan(hub, 'monitor_results_days')
  await hub.series.dropBefore({ phases: today - phaseDaysKept, chunks: longest === null ? null : today - longest })
  if (longest !== null) await hub.series.deleteTexts(today - longest - 1)
  await hub.series.tidy()
}

/** Deletes what is kept by the plan of a workspace, hours that are old, and what is left of monitors that are no more. Once a day. */
export async function thinSeries(hub: Hub): Promise<void> {
  const today = dayOfHour(hourOf(hub.clock.now()))
  await pruneByPlan(hub, 'monitor_results_days', async (workspaceId, before) => {
    for await (const some of numbersOf(hub, workspaceId)) await hub.series.deleteChunks(some, Math.floor(before / dayMs))
    return 0
  })
  for await (const some of numbersOf(hub, null)) await hub.series.deleteHours(some, (today - rollHourDaysKept) * hoursADay)
  await forgetStrays(hub)
}

/** Numbers of the monitors of a workspace, or of all, some at a time. */
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
    await othersTurn()
    after = rows.at(-1)!.number
  }
}

/** A monitor whose deletion was noted by one hub may have been written down by another afterwards. */
async function forgetStrays(hub: Hub): Promise<void> {
  for (let after = -1; ;) {
    const kept = await hub.series.monitorsWithDays(after, monitorsAtOnce)
    if (kept.length === 0) return
    const rows = await hub.read.select({ number: monitors.number }).from(monitors).where(inArray(monitors.number, kept))
    const known = new Set(rows.map(row => row.number))
    for (const number of kept) if (!known.has(number)) await forgetMonitor(hub, number)
    after = kept.at(-1)!
  }
}

/** Deletes all series of a monitor, a table at a time. */
export async function forgetMonitor(hub: Hub, number: number): Promise<void> {
  await recorderOf(hub).release([number])
  for await (const _ of hub.series.forget(number)) await othersTurn()
}
