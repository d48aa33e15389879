import { RRuleTemporal } from 'rrule-temporal'

/** A local time without a zone, in ms since 1970 as if it were UTC. */
export type Reading = number

/** An invalid recurrence rule. The message follows the name of the field: “must …”. */
export class InvalidRecurrence extends Error {
  override name = 'InvalidRecurrence'
}

export interface Recurrence {
  /** Returns the local times from `from` to before `until`. */
  between(from: Reading, until: Reading): Reading[]
  /** Returns the first local time from `from` on, or null. */
  next(from: Reading): Reading | null
}

export const maxRuleLength = 300
const maxInterval = 1000
const maxCount = 1000
const parts = [
  'FREQ',
  'INTERVAL',
  'COUNT',
  'UNTIL',
  'BYDAY',
  'BYMONTH',
  'BYMONTHDAY',
  'BYYEARDAY',
  'BYWEEKNO',
  'BYSETPOS',
  'WKST',
]
// How many days, weeks, months, or years to search for an occurrence: about 70 years, since a rule such as “Monday, February 29” can have
// gaps of 40 years.
const maxPeriods: Record<string, number> = { DAILY: 25_000, WEEKLY: 4_000, MONTHLY: 1_000, YEARLY: 100 }
const frequencies = Object.keys(maxPeriods)

/**
 * Parses a daily, weekly, monthly, or yearly recurrence rule (RFC 5545 section 3.3.10). It is expanded in local time, so that times that
 * the clocks skip are not lost.
 * @param start local time of the start, which does not have to match the rule
 * @param localTime converts a UTC time in UNTIL to local time
 * @throws InvalidRecurrence
 */
export function recurrenceOf(text: string, start: Reading, localTime: (at: number) => Reading): Recurrence {
  const rruleString = `RRULE:${normalized(text, localTime)}`
  const rule = new RRuleTemporal({
    rruleString,
    dtstart: Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO('UTC'),
    strict: true,
    maxIterations: maxPeriods[/FREQ=([A-Z]+)/.exec(rruleString)![1]!],
    cache: false,
  } as never)
  if (rruleString.includes('COUNT=')) return finite(onReading => orNull(() => rule.all(date => onReading(readingOf(date)))))
  return {
    between: (from, until) =>
      until <= from ? [] : (orNull(() => rule.between(new Date(from), new Date(until - 1), true)) ?? []).map(readingOf),
    next: from => {
      const found = orNull(() => rule.next(new Date(from), true))
      return found ? readingOf(found) : null
    },
  }
}

/** Expands a rule with COUNT only once, since the library counts from the start for every query. */
function finite(expand: (onReading: (reading: Reading) => true) => unknown): Recurrence {
  let all: Reading[] | null = null
  const readings = () => {
    if (all) return all
    const found: Reading[] = []
    expand(reading => {
      found.push(reading)
      return true
    })
    return (all = found)
  }
  return {
    between: (from, until) => readings().filter(one => one >= from && one < until),
    next: from => readings().find(one => one >= from) ?? null,
  }
}

/** The library throws when it reaches `maxIterations`. */
function orNull<T>(search: () => T): T | null {
  try {
    return search()
  } catch {
    return null
  }
}

const readingOf = (date: { epochMilliseconds: number }): Reading => date.epochMilliseconds

/** Validates a rule and converts UNTIL to the form that the library expects. */
function normalized(text: string, localTime: (at: number) => Reading): string {
  const bare = text
    .trim()
    .toUpperCase()
    .replace(/^RRULE:/, '')
  if (text.length > maxRuleLength) throw new InvalidRecurrence(`must be at most ${maxRuleLength} characters long.`)
  const named = new Map<string, string>()
  for (const part of bare.split(';').filter(one => one !== '')) {
    const [, name, value] = /^([A-Z]+)=([A-Z0-9,+-]+)$/.exec(part) ?? []
    if (name === undefined || !parts.includes(name))
      throw new InvalidRecurrence(`must consist of ${parts.join(', ')}, such as FREQ=WEEKLY;BYDAY=SA.`)
    if (named.has(name)) throw new InvalidRecurrence(`must contain ${name} only once.`)
    named.set(name, value!)
  }
  if (!frequencies.includes(named.get('FREQ') ?? ''))
    throw new InvalidRecurrence(`must have a FREQ of ${frequencies.slice(0, -1).join(', ')}, or ${frequencies.at(-1)}.`)
  requireRange(named, 'INTERVAL', maxInterval)
  requireRange(named, 'COUNT', maxCount)
  for (const [name, max] of listParts) requireRangeOfEach(named, name, max)
  if (named.has('UNTIL')) named.set('UNTIL', untilOf(named.get('UNTIL')!, localTime))
  const rule = [...named].map(([name, value]) => `${name}=${value}`).join(';')
  try {
    new RRuleTemporal({
      rruleString: `RRULE:${rule}`,
      dtstart: Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO('UTC'),
      strict: true,
    } as never)
  } catch (error) {
    throw new InvalidRecurrence(`must be a valid recurrence rule (RFC 5545): ${(error as Error).message}.`)
  }
  return rule
}

function requireRange(named: ReadonlyMap<string, string>, name: string, max: number): void {
  const value = named.get(name)
  if (value !== undefined && (!/^\d{1,6}$/.test(value) || Number(value) < 1 || Number(value) > max))
    throw new InvalidRecurrence(`must have ${name} between 1 and ${max}.`)
}

// The library accepts impossible numbers and then ignores that part of the rule, so check them here.
const listParts = [
  ['BYMONTH', 12],
  ['BYMONTHDAY', 31],
  ['BYYEARDAY', 366],
  ['BYWEEKNO', 53],
  ['BYSETPOS', 366],
] as const

function requireRangeOfEach(named: ReadonlyMap<string, string>, name: string, max: number): void {
  const sign = name === 'BYMONTH' ? '' : '[+-]?'
  const isValid = (one: string) =>
    new RegExp(`^${sign}\\d{1,3}$`).test(one) && Math.abs(Number(one)) >= 1 && Math.abs(Number(one)) <= max
  if (!(named.get(name)?.split(',').every(isValid) ?? true))
    throw new InvalidRecurrence(`must have ${name} between 1 and ${max}${sign === '' ? '' : `, or between -${max} and -1`}.`)
}

/** Converts UNTIL to local time. A date includes that whole day. Times without Z already are in the time zone of the window. */
function untilOf(text: string, localTime: (at: number) => Reading): string {
  const [, year, month, day, hour = '23', minute = '59', second = '59', zulu] =
    /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z)?)?$/.exec(text) ?? []
  const reading = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  if (Number.isNaN(reading))
    throw new InvalidRecurrence('must have an UNTIL such as 20261231, 20261231T235959, or 20261231T235959Z.')
  const local = zulu ? localTime(reading) : reading
  return new Date(local).toISOString().replace(/[-:]|\.\d+/g, '')
}
