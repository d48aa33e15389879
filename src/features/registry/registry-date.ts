const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const time = String.raw`(?:[T ]+(?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d)(?:\.\d{1,9})?)?)?`
const zone = String.raw`\s*(?<zone>Z|UTC|GMT|[+-]\d\d:?\d\d)?(?: [A-Z]{3,5})?`
const forms = [
  // 2027-01-31T10:00:00Z, 2027-01-31 10:00:00, 2027.01.31, 2027. 01. 31., 2027/01/31
  new RegExp(String.raw`^(?<year>\d{4})[-./] ?(?<month>\d\d?)[-./] ?(?<day>\d\d?)\.?${time}${zone}$`, 'i'),
  // 31-01-2027, 31/01/2027 23:59:00
  new RegExp(String.raw`^(?<day>\d\d?)[-./](?<month>\d\d?)[-./](?<year>\d{4})${time}${zone}$`, 'i'),
  // 31-January-2027, 13-Jun-2014 17:17:40 UTC
  new RegExp(String.raw`^(?<day>\d\d?)[- ](?<month>[a-z]{3,9})[- ](?<year>\d{4})${time}${zone}$`, 'i'),
  // 2027-Jan-31.
  new RegExp(String.raw`^(?<year>\d{4})-(?<month>[a-z]{3,9})-(?<day>\d\d?)\.?$`, 'i'),
]

// Others mean “never”, or are mistakes. The first domains were registered in 1985.
const minYear = 1985
const maxYear = 2099

/**
 * Parses a date of a registry, to ms UTC. A date without a time is the start of that day. Null if it is not a date, if there is no such day,
 * or if it can’t be one of a registration.
 * @param offsetMinutes offset from UTC of times without a time zone, or with an ambiguous abbreviation of one
 */
export function registryDate(text: string, offsetMinutes = 0): number | null {
  const trimmed = text.slice(0, 60).trim()
  const parts = forms.map(form => form.exec(trimmed)?.groups).find(groups => groups !== undefined)
  if (!parts) return null
  const year = Number(parts['year'])
  const month = monthOf(parts['month']!)
  const day = Number(parts['day'])
  if (year < minYear || year > maxYear) return null
  const at = new Date(Date.UTC(year, month - 1, day))
  if (at.getUTCMonth() !== month - 1 || at.getUTCDate() !== day) return null
  const [hour, minute, second] = ['hour', 'minute', 'second'].map(name => Number(parts[name] ?? 0)) as [number, number, number]
  if (hour > 24 || minute > 59 || second > 60) return null
  const clock = (hour * 60 + minute) * 60 + second
  const offset = parts['zone'] === undefined ? (parts['hour'] === undefined ? 0 : offsetMinutes) : minutesOf(parts['zone'])
  return at.getTime() + clock * 1000 - offset * 60_000
}

const monthOf = (text: string): number => (/^\d/.test(text) ? Number(text) : months.indexOf(text.slice(0, 3).toLowerCase()) + 1)

function minutesOf(zoneText: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(zoneText) ?? []
  return sign === undefined ? 0 : Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes))
}
