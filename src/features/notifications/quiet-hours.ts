import type { Severity } from '../../core/notices'
import { severities } from '../../core/notices'

/** When a channel is left in peace. Times are those of clocks on the wall in `timezone`. */
export interface QuietHours {
  /** IANA name. */
  timezone: string
  /** The days on which it begins, `mon` to `sun`. */
  days: Day[]
  /** `HH:MM`; where `to` is not later, it ends on the next day. */
  from: string
  to: string
  /** What matters at least this much is told all the same; null holds everything. */
  except_severity: Severity | null
}

export const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Day = (typeof days)[number]

/** Whether one matters at least as much as the other. */
export const isAtLeast = (severity: Severity, least: Severity): boolean =>
  severities.indexOf(severity) >= severities.indexOf(least)

/**
 * When the quiet hours that hold a message at this moment end (ms UTC); null when nothing holds it. A time that a clock skips in spring
 * is the first one after it, one that it shows twice in autumn is the first of the two (Temporal, `compatible`).
 * @param at ms UTC
 */
export function heldUntil(quiet: QuietHours | null, severity: Severity, at: number): number | null {
  if (quiet === null) return null
  if (quiet.except_severity !== null && isAtLeast(severity, quiet.except_severity)) return null
  const today = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(quiet.timezone).toPlainDate()
  // Those that began yesterday may still go on.
  for (const began of [today.subtract({ days: 1 }), today]) {
    if (!quiet.days.includes(days[began.dayOfWeek - 1]!)) continue
    const ends = quiet.to > quiet.from ? began : began.add({ days: 1 })
    const [from, to] = [momentOf(quiet, began, quiet.from), momentOf(quiet, ends, quiet.to)]
    if (at >= from && at < to) return to
  }
  return null
}

const momentOf = ({ timezone }: QuietHours, date: Temporal.PlainDate, time: string): number =>
  date.toZonedDateTime({ timeZone: timezone, plainTime: Temporal.PlainTime.from(time) }).epochMilliseconds
