/** A calendar day or month in a time zone: `from <= t < to` (ms UTC). */
interface CalendarSpan {
  /** `2026-11-21`, or `2026-11`. */
  name: string
  from: number
  to: number
}

/** The days or months in a window, with the first and last cut to the window. @param zone from canonicalTimezone */
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

/** The start of the day that is `daysBefore` days before the day of `at`. */
export const dayBegins = (zone: string, at: number, daysBefore: number): number =>
  midnight(zone, Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate().subtract({ days: daysBefore }))

/** The start of a day. If clocks skip midnight, that is the first moment after the gap. */
const midnight = (zone: string, date: Temporal.PlainDate): number => date.toZonedDateTime(zone).epochMilliseconds
