import { localText, momentOf } from '../../parts/timezone'

const dayMs = 86_400_000

/** `2026-11-22`, as in the page's address. */
export const dayText = (day: Date): string => localText(day.getTime()).slice(0, 10)

/** A day of the calendar in the time zone that is shown, by its beginning. */
export const dayStart = (at: Date): Date => begun(dayText(at))

/** So many days later, at the beginning of the day, whatever the clocks do in between. */
export const plusDays = (day: Date, count: number): Date => dated(new Date(civil(day).getTime() + count * dayMs))

/** The first day of a month so many later. */
export const plusMonths = (day: Date, count: number): Date =>
  dated(new Date(Date.UTC(civil(day).getUTCFullYear(), monthOf(day) + count, 1)))

/** The Monday of a day's week. */
export const weekStart = (day: Date): Date => plusDays(day, -((civil(day).getUTCDay() + 6) % 7))

/** From 0, as in Date. */
export const monthOf = (day: Date): number => civil(day).getUTCMonth()

/** The number that a day has in its month. */
export const numberOf = (day: Date): number => civil(day).getUTCDate()

/** The day of such a text; today for any other. */
export function dayFrom(text: string, today: Date): Date {
  const at = momentOf(`${text}T00:00`)
  return at === null ? today : dayStart(new Date(at))
}

/** The days that are shown: the week, or all weeks of the month. */
export function daysShown(view: 'month' | 'week', day: Date): Date[] {
  const first = weekStart(view === 'week' ? day : plusMonths(day, 0))
  const next = plusMonths(day, 1)
  const days: Date[] = []
  for (let one = first; view === 'week' ? days.length < 7 : one < next || days.length % 7 > 0; one = plusDays(one, 1))
    days.push(one)
  return days
}

// Days are counted as those of UTC, where none is longer than another.
const civil = (day: Date): Date => new Date(`${dayText(day)}T00:00:00Z`)
const begun = (text: string): Date => new Date(momentOf(`${text}T00:00`)!)
const dated = (civilDay: Date): Date => begun(civilDay.toISOString().slice(0, 10))

/** Something that has a place on the calendar: `from <= t < to`, ms since the epoch. */
export interface Placed {
  from: number
  to: number
}

/** A part of it in one row of days: the columns it covers, and the line that is free for it. */
export interface Bar<Item> {
  item: Item
  /** From 0. */
  first: number
  last: number
  lane: number
}

/** Places what overlaps a row of days so that nothing lies on top of another. */
export function barsOf<Item extends Placed>(days: readonly Date[], items: readonly Item[]): Bar<Item>[] {
  const ends: number[] = []
  const starts = [...days.map(day => day.getTime()), plusDays(days.at(-1)!, 1).getTime()]
  const bars: Bar<Item>[] = []
  for (const item of [...items].sort((a, b) => a.from - b.from || b.to - a.to)) {
    const covered = days.map((_, at) => at).filter(at => item.from < starts[at + 1]! && item.to > starts[at]!)
    if (covered.length === 0) continue
    const [first, last] = [covered[0]!, covered.at(-1)!]
    const free = ends.findIndex(end => end < first)
    const lane = free === -1 ? ends.length : free
    ends[lane] = last
    bars.push({ item, first, last, lane })
  }
  return bars
}
