/** UTC times as formatUtcMinute and formatUtcSecond write them. */
const utcTime = /\b(\d{4}-\d\d-\d\d) (\d\d:\d\d)(:\d\d)? UTC\b(?![+-]\d)/g

/**
 * Converts the UTC times in a text to a time zone: `2026-11-27 04:43 UTC` becomes `2026-11-27 05:43 UTC+1`.
 * @param timezone IANA name
 */
export const inTimezone = (text: string, timezone: string): string =>
  text.replaceAll(utcTime, (time, date: string, minute: string, second: string | undefined) => {
    const at = Date.parse(`${date}T${minute}${second ?? ''}Z`)
    if (Number.isNaN(at)) return time
    const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone)
    return `${local.toPlainDate()} ${local.toPlainTime().toString({ smallestUnit: second ? 'second' : 'minute' })} ${offsetName(local.offset)}`
  })

/** `UTC+1` for `+01:00`, `UTC+5:45` for `+05:45`, `UTC` for `+00:00`. */
function offsetName(offset: string): string {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)/.exec(offset)!
  if (hours === '00' && minutes === '00') return 'UTC'
  return `UTC${sign}${Number(hours)}${minutes === '00' ? '' : `:${minutes}`}`
}
