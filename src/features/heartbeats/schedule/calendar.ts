import { type Calendar, FIRST_YEAR, LAST_YEAR, type Steps } from './calendar-parse'
import { instantOf, wallReading } from '../../../core/wall-clock'

export { parseCalendar, ScheduleError, unknownTimezone } from './calendar-parse'

const DAY_MS = 86_400_000

/**
 * Returns the first match strictly after `afterMs`, both in ms since the epoch, or null if there is none up to the end of 2199.
 * Matches between two milliseconds are rounded up.
 *
 * Clock changes are handled like in systemd: a time in a skipped hour does not occur that day. A time in a repeated hour occurs once,
 * in the first pass, since the search continues with the local time.
 */
export function nextCalendar(calendar: Calendar, afterMs: number): number | null {
  let reading = wallReading(calendar.timezone, afterMs)
  let inclusive = false
  for (;;) {
    const next = nextReading(calendar, reading, inclusive)
    if (next === null) return null
    const found = instantOf(calendar.timezone, next, afterMs)
    if (found !== null && 'at' in found) return found.at
    // Continuing at the end of the gap limits this to one iteration per gap.
    inclusive = found !== null
    reading = found?.resumesAt ?? next
  }
}

/** Local times are ms since the epoch as if the zone were UTC, see wallReading. */
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

/** Returns midnight of the first matching day from the given day to `until`. Visits each day of 230 years at most once. */
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
  // The n-th last day is day `days + 1 - n`, so the next day has the next smaller n.
  let best = 0
  for (const { start, stop, step } of calendar.days) {
    const n = Math.min(days + 1 - from, stop)
    if (n >= start) best = Math.max(best, n - ((n - start) % step))
  }
  return best === 0 ? null : days + 1 - best
}

/** Returns the first matching time of day from the given time on, in ms since midnight, or null if there is none left. */
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
