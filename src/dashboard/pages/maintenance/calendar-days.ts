import { toLocalInput, parseLocalInput } from '../../parts/timezone'

const dayMs = 86_400_000

/** Formats a day as `2026-11-22`, as in the page URL. */
export const dayText = (day: Date): string => toLocalInput(day.getTime()).slice(0, 10)

/** Returns the start of the day in the display time zone. */
export const dayStart = (at: Date): Date => startOfDay(dayText(at))

/** Adds days, regardless of clock changes, and returns the start of that day. */
export const plusDays = (day: Date, count: number): Date => dayOfCivil(new Date(civilDay(day).getTime() + count * dayMs))

/** Adds months and returns the first day of that month. */
export const plusMonths = (day: Date, count: number): Date =>
  dayOfCivil(new Date(Date.UTC(civilDay(day).getUTCFullYear(), monthOf(day) + count, 1)))

/** Returns the Monday of the week. */
const weekStart = (day: Date): Date => plusDays(day, -((civilDay(day).getUTCDay() + 6) % 7))

/** The month, starting at 0 as in Date. */
export const monthOf = (day: Date): number => civilDay(day).getUTCMonth()

/** The day of the month. */
export const dayOfMonth = (day: Date): number => civilDay(day).getUTCDate()

/** Parses a day such as `2026-11-22`. Returns today if it is invalid. */
export function dayFrom(text: string, today: Date): Date {
  const at = parseLocalInput(`${text}T00:00`)
  return at === null ? today : dayStart(new Date(at))
}

/** The days to show: the week, or all weeks of the month. */
export function daysShown(view: 'month' | 'week', day: Date): Date[] {
  const first = weekStart(view === 'week' ? day : plusMonths(day, 0))
  const next = plusMonths(day, 1)
  const days: Date[] = []
  for (let one = first; view === 'week' ? days.length < 7 : one < next || days.length % 7 > 0; one = plusDays(one, 1))
    days.push(one)
  return days
}

// Calculate with UTC days, which all have the same length.
const civilDay = (day: Date): Date => new Date(`${dayText(day)}T00:00:00Z`)
const startOfDay = (text: string): Date => new Date(parseLocalInput(`${text}T00:00`)!)
const dayOfCivil = (civil: Date): Date => startOfDay(civil.toISOString().slice(0, 10))

/** An item on the calendar: `from <= t < to`, in ms since the epoch. */
interface CalendarItem {
  from: number
  to: number
}

/** The part of an item in one row of days: the columns it spans, and its lane. */
interface Bar<Item> {
  item: Item
  /** First column, starting at 0. */
  first: number
  last: number
  lane: number
}

/** Returns the first free lane from one position to another, and marks it as used. @param ends where each lane is free again */
export function laneOf(ends: number[], from: number, to: number): number {
  const free = ends.findIndex(end => end <= from)
  const lane = free === -1 ? ends.length : free
  ends[lane] = to
  return lane
}

/** Arranges the items in a row of days in lanes, so that they don’t overlap. */
export function barsOf<Item extends CalendarItem>(days: readonly Date[], items: readonly Item[]): Bar<Item>[] {
  const ends: number[] = []
  const starts = [...days.map(day => day.getTime()), plusDays(days.at(-1)!, 1).getTime()]
  const bars: Bar<Item>[] = []
  for (const item of [...items].sort((a, b) => a.from - b.from || b.to - a.to)) {
    const covered = days.map((_, at) => at).filter(at => item.from < starts[at + 1]! && item.to > starts[at]!)
    if (covered.length === 0) continue
    const [first, last] = [covered[0]!, covered.at(-1)!]
    bars.push({ item, first, last, lane: laneOf(ends, first, last + 1) })
  }
  return bars
}
