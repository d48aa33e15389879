import { hourMs } from '../../../core/db/series/chunk'
import { Roll } from '../../../core/db/series/roll'
import { dayOfHour, hourOf, hoursADay, type StoredRoll } from '../../../core/db/series/store'
import type { Hub } from '../../../core/hub'
import { beatsOfHours } from './hour-beats'
import { beatHoursKept, rollHourDaysKept } from './retention'

const dayMs = hoursADay * hourMs

/** Before it (ms UTC), what came of hours is no longer kept. */
export const oldestHourAt = (now: number): number => (dayOfHour(hourOf(now)) - rollHourDaysKept) * dayMs

/**
 * What came of the hours from `from` to `to` (ms UTC): of days where hours are no longer kept, else of hours, and of hours that are
 * still open as far as they are.
 */
export async function* rollsOfHours(hub: Hub, monitor: number, from: number, to: number, location: number | null) {
  const now = hub.clock.now()
  const fits = (one: StoredRoll) => location === null || one.location === location
  const firstHour = Math.max(hourOf(from), hourOf(oldestHourAt(now)))
  const untilHour = hourOf(to - 1) + 1
  const days = await hub.series.rolls('day', [monitor], Math.floor(from / dayMs), dayOfHour(firstHour))
  for (const one of days.filter(fits)) yield { at: one.at * dayMs, roll: one.roll }
  const stored = await hub.series.rolls('hour', [monitor], firstHour, untilHour)
  for (const one of stored.filter(fits)) yield { at: one.at * hourMs, roll: one.roll }
  const sealed = new Set(stored.map(one => one.at))
  for (let hour = Math.max(firstHour, hourOf(now) - beatHoursKept); hour < untilHour; hour++) {
    if (sealed.has(hour)) continue
    const roll = new Roll()
    for (const beat of await beatsOfHours(hub, monitor, hour, hour + 1))
      if (location === null || beat.location === location) roll.add(beat)
    yield { at: hour * hourMs, roll }
  }
}
