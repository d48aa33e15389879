/**
 * Parses a `Retry-After` header (RFC 9110 section 10.2.3) to milliseconds from now, never negative. Returns null if it is neither
 * seconds nor a date in one of the three formats of section 5.6.7.
 */
export function retryAfterMs(header: string, nowMs: number): number | null {
  const value = header.trim()
  if (/^\d+$/.test(value)) return Number(value) * 1_000
  const date = httpDateMs(value, nowMs)
  return date === null ? null : Math.max(0, date - nowMs)
}

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

/** A two-digit year more than 50 years in the future is in the past (section 5.6.7). */
function fullYear(digits: string, nowMs: number): number {
  if (digits.length === 4) return Number(digits)
  const thisYear = new Date(nowMs).getUTCFullYear()
  const year = thisYear - (thisYear % 100) + Number(digits)
  return year > thisYear + 50 ? year - 100 : year
}
