import { hourMs } from '../../../core/db/series/chunk'
import { Roll } from '../../../core/db/series/roll'
import { dayOfHour, hourOf, hoursADay, type StoredRoll } from '../../../core/db/series/store'
import type { Hub } from '../../../core/hub'
import { othersTurn } from '../../../core/turns'
import { beatsOfHours } from './hour-beats'
import { recorderOf } from './recorder'
import { beatHoursKept, rollHourDaysKept } from './retention'

const dayMs = hoursADay * hourMs

/** Before it (ms UTC), what came of hours is no longer kept. */
export const oldestHourAt = (now: number): number => (dayOfHour(hourOf(now)) - rollHourDaysKept) * dayMs

/** What came of a stretch of time that begins at `at` (ms UTC). */
export interface RolledAt {
  at: number
  roll: Roll
}

/**
 * What came of the hours from `from` to `to` (ms UTC): of days where hours are no longer kept, else of hours, and of hours that are
 * still open as far as they are.
 */
export async function* rollsOfHours(hub: Hub, monitor: number, from: number, to: number, location: number | null) {
  const firstHour = Math.max(hourOf(from), hourOf(oldestHourAt(hub.clock.now())))
  yield* keptDays(hub, monitor, Math.floor(from / dayMs), dayOfHour(firstHour), location)
  yield* keptHours(hub, monitor, firstHour, hourOf(to - 1) + 1, location)
}

/** The same in as few pieces as there are: whole days wherever they are within it. */
export async function* rollsOfSpan(hub: Hub, monitor: number, from: number, to: number): AsyncGenerator<RolledAt> {
  const begin = Math.max(hourOf(from), hourOf(oldestHourAt(hub.clock.now())))
  const until = hourOf(to - 1) + 1
  const firstDay = Math.ceil(begin / hoursADay)
  // Later ones may not be rolled up yet.
  const untilDay = Math.max(firstDay, Math.min(Math.floor(to / dayMs), dayOfHour(hourOf(hub.clock.now())) - 1))
  yield* keptDays(hub, monitor, Math.floor(from / dayMs), dayOfHour(begin), null)
  if (firstDay * hoursADay >= until) {
    yield* keptHours(hub, monitor, begin, until, null)
    return
  }
  yield* keptHours(hub, monitor, begin, firstDay * hoursADay, null)
  yield* keptDays(hub, monitor, firstDay, untilDay, null)
  yield* keptHours(hub, monitor, untilDay * hoursADay, until, null)
}

async function* keptDays(
  hub: Hub,
  monitor: number,
  from: number,
  until: number,
  location: number | null,
): AsyncGenerator<RolledAt> {
  if (from >= until) return
  for (const one of await hub.series.rolls('day', [monitor], from, until))
    if (isOf(one, location)) yield { at: one.at * dayMs, roll: one.roll }
}

async function* keptHours(
  hub: Hub,
  monitor: number,
  from: number,
  until: number,
  location: number | null,
): AsyncGenerator<RolledAt> {
  const mayBeOpen = Math.min(hourOf(hub.clock.now()) - beatHoursKept, recorderOf(hub).oldestHour(monitor))
  for (let at = from; at < until; at += hoursAtOnce) {
    const end = Math.min(until, at + hoursAtOnce)
    const stored = await hub.series.rolls('hour', [monitor], at, end)
    for (const one of stored) if (isOf(one, location)) yield { at: one.at * hourMs, roll: one.roll }
    const sealed = new Set(stored.map(one => one.at))
    for (let hour = Math.max(at, mayBeOpen); hour < end; hour++) {
      if (sealed.has(hour)) continue
      const roll = new Roll()
      for (const beat of await beatsOfHours(hub, monitor, hour, hour + 1))
        if (location === null || beat.location === location) roll.add(beat)
      yield { at: hour * hourMs, roll }
    }
    await othersTurn()
  }
}

// Histograms are unpacked in one go.
const hoursAtOnce = 240
const isOf = (one: StoredRoll, location: number | null): boolean => location === null || one.location === location
