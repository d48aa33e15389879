import { dayOfHour, hourMs, hourOf, hoursADay } from '../../../core/db/series/hours'
import { type CheckSeries, checkSeries, checksOf } from './check-series'
import { Rollup } from '../../../core/db/series/rollup'
import type { StoredRollup } from '../../../core/db/series/series'
import type { Hub } from '../../../core/hub'
import { yieldToEventLoop } from '../../../core/time-slices'
import { beatsOfHours } from './hour-beats'
import { recorderOf } from './recorder'
import { beatRetentionHours, hourlyRetentionDays } from './retention'

const dayMs = hoursADay * hourMs

/** The start of the hourly rollups (ms UTC). Older data exists only by day. */
export const oldestHourAt = (now: number): number => (dayOfHour(hourOf(now)) - hourlyRetentionDays) * dayMs

/** The rollup of a period that starts at `at` (ms UTC). */
interface RolledAt {
  at: number
  roll: Rollup<CheckSeries>
}

/**
 * Hourly rollups from `from` to `to` (ms UTC). Yields daily rollups where hourly ones are no longer kept, and partial rollups for
 * hours that are still open.
 */
export async function* rollsOfHours(hub: Hub, monitor: number, from: number, to: number, location: number | null) {
  const firstHour = Math.max(hourOf(from), hourOf(oldestHourAt(hub.clock.now())))
  yield* storedDays(hub, monitor, Math.floor(from / dayMs), dayOfHour(firstHour), location)
  yield* storedHours(hub, monitor, firstHour, hourOf(to - 1) + 1, location)
}

/** The same with as few rollups as possible: daily ones for all whole days in the range. */
export async function* rollsOfSpan(hub: Hub, monitor: number, from: number, to: number): AsyncGenerator<RolledAt> {
  const begin = Math.max(hourOf(from), hourOf(oldestHourAt(hub.clock.now())))
  const until = hourOf(to - 1) + 1
  const firstDay = Math.ceil(begin / hoursADay)
  // Later days may not be rolled up yet.
  const untilDay = Math.max(firstDay, Math.min(Math.floor(to / dayMs), dayOfHour(hourOf(hub.clock.now())) - 1))
  yield* storedDays(hub, monitor, Math.floor(from / dayMs), dayOfHour(begin), null)
  if (firstDay * hoursADay >= until) {
    yield* storedHours(hub, monitor, begin, until, null)
    return
  }
  yield* storedHours(hub, monitor, begin, firstDay * hoursADay, null)
  yield* storedDays(hub, monitor, firstDay, untilDay, null)
  yield* storedHours(hub, monitor, untilDay * hoursADay, until, null)
}

async function* storedDays(
  hub: Hub,
  monitor: number,
  from: number,
  until: number,
  location: number | null,
): AsyncGenerator<RolledAt> {
  if (from >= until) return
  for (const one of await checksOf(hub).rollups('day', [monitor], from, until))
    if (isOf(one, location)) yield { at: one.at * dayMs, roll: one.roll }
}

async function* storedHours(
  hub: Hub,
  monitor: number,
  from: number,
  until: number,
  location: number | null,
): AsyncGenerator<RolledAt> {
  const mayBeOpen = Math.min(hourOf(hub.clock.now()) - beatRetentionHours, recorderOf(hub).oldestHour(monitor))
  for (let at = from; at < until; at += hoursAtOnce) {
    const end = Math.min(until, at + hoursAtOnce)
    const stored = await checksOf(hub).rollups('hour', [monitor], at, end)
    for (const one of stored) if (isOf(one, location)) yield { at: one.at * hourMs, roll: one.roll }
    const sealed = new Set(stored.map(one => one.at))
    for (let hour = Math.max(at, mayBeOpen); hour < end; hour++) {
      if (sealed.has(hour)) continue
      const roll = new Rollup(checkSeries)
      for (const beat of await beatsOfHours(hub, monitor, hour, hour + 1))
        if (location === null || beat.part === location) roll.add(beat)
      yield { at: hour * hourMs, roll }
    }
    await yieldToEventLoop()
  }
}

// Limits how many histograms are unpacked before other work gets a turn.
const hoursAtOnce = 240
const isOf = (one: StoredRollup<CheckSeries>, location: number | null): boolean => location === null || one.part === location
