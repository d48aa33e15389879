/**
 * Seconds to wait before each try, counted from the end of the try before: the ten tries Standard Webhooks 1.0.0
 * recommends, the first at once, the last 75 h 35 min 5 s after it.
 */
export const standardSchedule: readonly number[] = [
  0,
  5,
  5 * 60,
  30 * 60,
  2 * 3_600,
  5 * 3_600,
  10 * 3_600,
  14 * 3_600,
  20 * 3_600,
  24 * 3_600,
]

/** Most retries an endpoint may ask for, and most seconds they may spread over: 8 days. */
export const mostRetries = 20
export const longestSchedule = 8 * 86_400

/** A try that failed, and what is needed to choose the time of the next. */
export interface FailedTry {
  /** Number of the try that just failed: 1 for the first. */
  attempt: number
  /** The present time, in milliseconds since 1970. */
  nowMs: number
  /** A number from 0 up to 1, as `Math.random` gives. */
  random: () => number
  /** The receiver's `Retry-After` header, if it sent one. */
  retryAfter?: string | null
  /** Seconds before each try, that of the first included; the standard ten when absent. */
  schedule?: readonly number[]
}

/**
 * When to try again, in milliseconds since 1970, or null when the last try has been made.
 * Never earlier than the schedule says nor than `Retry-After` asks for (obeyed up to 24 hours); later by up to a tenth
 * of the wait, that tenth being held between 1 second and 15 minutes, so that what failed together does not return together.
 * @throws RangeError when `attempt` is not a whole number of at least 1.
 */
export function nextRetry({ attempt, nowMs, random, retryAfter, schedule = standardSchedule }: FailedTry): number | null {
  if (!Number.isInteger(attempt) || attempt < 1) throw new RangeError('Tries are counted from 1.')
  const delaySeconds = schedule[attempt]
  if (delaySeconds === undefined) return null
  const askedMs = Math.min(retryAfterMs(retryAfter ?? '', nowMs) ?? 0, longestRetryAfterMs)
  const waitMs = Math.max(delaySeconds * 1_000, askedMs)
  const spreadMs = Math.min(Math.max(waitMs / 10, 1_000), 15 * 60_000)
  return Math.ceil(nowMs + waitMs + random() * spreadMs)
}

/**
 * The wait a `Retry-After` header asks for (RFC 9110 section 10.2.3), in milliseconds and never negative,
 * or null when it is neither seconds nor a date in one of the three forms of section 5.6.7.
 */
export function retryAfterMs(header: string, nowMs: number): number | null {
  const value = header.trim()
  if (/^\d+$/.test(value)) return Number(value) * 1_000
  const date = httpDateMs(value, nowMs)
  return date === null ? null : Math.max(0, date - nowMs)
}

const longestRetryAfterMs = 24 * 3_600_000
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const time = '(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)'
const dateForms = [
  // Sun, 06 Nov 1994 08:49:37 GMT
  new RegExp(`^[A-Z][a-z]{2}, (?<day>\\d\\d) (?<month>[A-Z][a-z]{2}) (?<year>\\d{4}) ${time} GMT$`),
  // Sunday, 06-Nov-94 08:49:37 GMT
  new RegExp(`^[A-Z][a-z]{5,8}, (?<day>\\d\\d)-(?<month>[A-Z][a-z]{2})-(?<year>\\d\\d) ${time} GMT$`),
  // Sun Nov  6 08:49:37 1994
  new RegExp(`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})$`),
]

function httpDateMs(value: string, nowMs: number): number | null {
  const parts = dateForms.map(form => form.exec(value)?.groups).find(groups => groups !== undefined)
  if (!parts) return null
  const month = months.indexOf(parts['month'] ?? '')
  const [day, hour, minute, second] = [parts['day'], parts['hour'], parts['minute'], parts['second']].map(Number)
  if (month < 0 || !day || hour === undefined || minute === undefined || second === undefined) return null
  // A leap second is written 60.
  if (day > 31 || hour > 23 || minute > 59 || second > 60) return null
  return Date.UTC(fullYear(parts['year'] ?? '', nowMs), month, day, hour, minute, second)
}

/** A year of two digits that seems more than 50 years ahead is the latest such year in the past (section 5.6.7). */
function fullYear(digits: string, nowMs: number): number {
  if (digits.length === 4) return Number(digits)
  const thisYear = new Date(nowMs).getUTCFullYear()
  const year = thisYear - (thisYear % 100) + Number(digits)
  return year > thisYear + 50 ? year - 100 : year
}
