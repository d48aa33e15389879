import { type Calendar, FIRST_YEAR, LAST_YEAR, type Steps } from './calendar-parse'
import { instantOf, wallReading } from '../../core/wall-clock'

export { type Calendar, parseCalendar, ScheduleError } from './calendar-parse'

const DAY_MS = 86_400_000

/**
 * The first moment of the calendar strictly after `afterMs`, both in ms since the epoch; null when there is
 * none up to the end of 2199. A moment between two milliseconds is given as the later one.
 *
 * Clock changes are kept as systemd keeps them: a time in the hour that is skipped does not happen that day;
 * from a moment in the hour that comes twice, the search goes on by the clock's reading, so that a time in
 * that hour happens once, at its first showing.
 */
export function nextCalendar(calendar: Calendar, afterMs: number): number | null {
  let reading = wallReading(calendar.timezone, afterMs)
  let inclusive = false
  for (;;) {
    const next = nextReading(calendar, reading, inclusive)
    if (next === null) return null
    const found = instantOf(calendar.timezone, next, afterMs)
    if (found !== null && 'at' in found) return found.at
    // Going on from the end of the gap, not from the reading in it, keeps this at one round for each gap.
    inclusive = found !== null
    reading = found?.resumesAt ?? next
  }
}

/** Local readings are ms since the epoch as if the zone were UTC; see wallReading. */
function nextReading(calendar: Calendar, from: number, inclusive: boolean): number | null {
  const date = new Date(from)
  if (date.getUTCFullYear() < FIRST_YEAR) return nextReading(calendar, Date.UTC(FIRST_YEAR, 0, 1), true)
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()]
  const micros = date.getUTCSeconds() * 1e6 + date.getUTCMilliseconds() * 1e3 + (inclusive ? 0 : 1)
  const today = Date.UTC(year, month - 1, day)
  if (nextDay(calendar, year, month, day, today) === today) {
    const time = nextTime(calendar, date.getUTCHours(), date.getUTCMinutes(), micros)
    if (time !== null) return today + time
  }
  const later = nextDay(calendar, year, month, day + 1, Infinity)
  return later === null ? null : later + nextTime(calendar, 0, 0, 0)!
}

/** Midnight of the first matching day from the given one on, not after `until`. Looks at each day of 230 years at most once. */
function nextDay(calendar: Calendar, fromYear: number, fromMonth: number, fromDay: number, until: number): number | null {
  for (let year = nextOf(calendar.years, fromYear); year !== null && year <= LAST_YEAR; year = nextOf(calendar.years, year + 1)) {
    let month = nextOf(calendar.months, year === fromYear ? fromMonth : 1)
    for (; month !== null; month = nextOf(calendar.months, month + 1)) {
      const first = Date.UTC(year, month - 1, 1)
      if (first > until) return null
      const days = new Date(Date.UTC(year, month, 0)).getUTCDate()
      const earliest = year === fromYear && month === fromMonth ? fromDay : 1
      for (let day = nextDayOfMonth(calendar, earliest, days); day !== null; day = nextDayOfMonth(calendar, day + 1, days)) {
        const midnight = first + (day - 1) * DAY_MS
        if (midnight > until) return null
        // 1970-01-01 was a Thursday, the fourth day of the week.
        if ((calendar.weekdays >> ((midnight / DAY_MS + 3) % 7)) & 1) return midnight
      }
    }
  }
  return null
}

function nextDayOfMonth(calendar: Calendar, from: number, days: number): number | null {
  if (from > days) return null
  if (!calendar.daysFromMonthEnd) {
    const day = nextOf(calendar.days, from)
    return day !== null && day <= days ? day : null
  }
  // The n-th last day is day `days + 1 - n`: the next day on is the next smaller n.
  let best = 0
  for (const { start, stop, step } of calendar.days) {
    const n = Math.min(days + 1 - from, stop)
    if (n >= start) best = Math.max(best, n - ((n - start) % step))
  }
  return best === 0 ? null : days + 1 - best
}

/** The ms of the day of the first matching time from the given one on, or null when the day has none left. */
function nextTime(calendar: Calendar, fromHour: number, fromMinute: number, fromMicros: number): number | null {
  for (let hour = nextOf(calendar.hours, fromHour); hour !== null; hour = nextOf(calendar.hours, hour + 1)) {
    let minute = nextOf(calendar.minutes, hour === fromHour ? fromMinute : 0)
    for (; minute !== null; minute = nextOf(calendar.minutes, minute + 1)) {
      const micros = nextOf(calendar.seconds, hour === fromHour && minute === fromMinute ? fromMicros : 0)
      if (micros !== null) return (hour * 60 + minute) * 60_000 + Math.ceil(micros / 1000)
    }
  }
  return null
}

function nextOf(steps: readonly Steps[], from: number): number | null {
  let best: number | null = null
  for (const { start, stop, step } of steps) {
    const value = from <= start ? start : start + Math.ceil((from - start) / step) * step
    if (value <= stop && (best === null || value < best)) best = value
  }
  return best
}
