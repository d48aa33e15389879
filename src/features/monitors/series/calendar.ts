/** A day or a month as the calendar of a time zone has it: `from <= t < to` (ms UTC). */
export interface CalendarSpan {
  /** `2026-11-21`, or `2026-11`. */
  name: string
  from: number
  to: number
}

/** The days or months of a zone that a window touches, the first and the last cut to it. @param zone as of canonicalTimezone */
export function calendarSpans(zone: string, unit: 'day' | 'month', from: number, to: number): CalendarSpan[] {
  const spans: CalendarSpan[] = []
  const first = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(zone).toPlainDate()
  for (let date = unit === 'day' ? first : first.with({ day: 1 }); ;) {
    const next = date.add(unit === 'day' ? { days: 1 } : { months: 1 })
    const begins = midnight(zone, date)
    if (begins >= to) return spans
    const ends = midnight(zone, next)
    const name = unit === 'day' ? date.toString() : date.toString().slice(0, -3)
    if (ends > from) spans.push({ name, from: Math.max(begins, from), to: Math.min(ends, to) })
    date = next
  }
}

/** When the day began that lies so many days before the one of `at`. */
export const dayBegins = (zone: string, at: number, daysBefore: number): number =>
  midnight(zone, Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate().subtract({ days: daysBefore }))

/** Where clocks are set forward over midnight, the day begins with the first moment that there is of it. */
const midnight = (zone: string, date: Temporal.PlainDate): number => date.toZonedDateTime(zone).epochMilliseconds
