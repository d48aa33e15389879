import type { Severity } from '../../../core/notices'
import { severities } from '../../../core/notices'

/** When notifications of a channel are held. Times are local times in `timezone`. */
export interface QuietHours {
  /** IANA time zone name. */
  timezone: string
  /** Days on which quiet hours start, `mon` to `sun`. */
  days: Day[]
  /** `HH:MM`; if `to` is not later than `from`, quiet hours end on the next day. */
  from: string
  to: string
  /** Messages of at least this severity are sent anyway; null holds everything. */
  except_severity: Severity | null
}

export const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
type Day = (typeof days)[number]

/** Whether a severity is at least as high as another. */
export const isAtLeast = (severity: Severity, minimum: Severity): boolean =>
  severities.indexOf(severity) >= severities.indexOf(minimum)

/**
 * When the quiet hours that hold a message end (ms UTC); null if it isn't held. A local time skipped in spring means the first time after
 * the gap, one repeated in autumn the first of the two (Temporal, `compatible`).
 * @param at ms UTC
 */
export function heldUntil(quiet: QuietHours | null, severity: Severity, at: number): number | null {
  if (quiet === null) return null
  if (quiet.except_severity !== null && isAtLeast(severity, quiet.except_severity)) return null
  const today = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(quiet.timezone).toPlainDate()
  // Quiet hours that started yesterday may still be active.
  for (const startDate of [today.subtract({ days: 1 }), today]) {
    if (!quiet.days.includes(days[startDate.dayOfWeek - 1]!)) continue
    const endDate = quiet.to > quiet.from ? startDate : startDate.add({ days: 1 })
    const [from, to] = [instantOf(quiet, startDate, quiet.from), instantOf(quiet, endDate, quiet.to)]
    if (at >= from && at < to) return to
  }
  return null
}

const instantOf = ({ timezone }: QuietHours, date: Temporal.PlainDate, time: string): number =>
  date.toZonedDateTime({ timeZone: timezone, plainTime: Temporal.PlainTime.from(time) }).epochMilliseconds
