/** A day of the local calendar, by its beginning. */
export const dayStart = (at: Date): Date => new Date(at.getFullYear(), at.getMonth(), at.getDate())

/** So many days later, at the beginning of the day, whatever the clocks do in between. */
export const plusDays = (day: Date, count: number): Date => new Date(day.getFullYear(), day.getMonth(), day.getDate() + count)

/** The Monday of a day's week. */
export const weekStart = (day: Date): Date => plusDays(day, -((day.getDay() + 6) % 7))

/** `2026-11-22`, as in the page's address. */
export const dayText = (day: Date): string =>
  `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, '0')}-${String(day.getDate()).padStart(2, '0')}`

/** The day of such a text; today for any other. */
export function dayFrom(text: string, today: Date): Date {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []
  const found = year === undefined ? today : new Date(Number(year), Number(month) - 1, Number(day))
  return Number.isNaN(found.getTime()) ? today : dayStart(found)
}

/** The days that are shown: the week, or all weeks of the month. */
export function daysShown(view: 'month' | 'week', day: Date): Date[] {
  const first = weekStart(view === 'week' ? day : new Date(day.getFullYear(), day.getMonth(), 1))
  const last = new Date(day.getFullYear(), day.getMonth() + 1, 0)
  const days: Date[] = []
  for (let one = first; view === 'week' ? days.length < 7 : one <= last || days.length % 7 > 0; one = plusDays(one, 1))
    days.push(one)
  return days
}

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
