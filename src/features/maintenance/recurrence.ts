import { RRuleTemporal } from 'rrule-temporal'

/** Times as clocks show them, without a zone: the milliseconds since 1970 that the same reading would have in UTC. */
export type Reading = number

/** A recurrence rule that is not taken; the message is a rule, to follow the name of the member. */
export class RecurrenceRefused extends Error {
  override name = 'RecurrenceRefused'
}

export interface Recurrence {
  /** The readings from `from` on and before `until`. */
  between(from: Reading, until: Reading): Reading[]
  /** The first reading from `from` on; null when there is none. */
  next(from: Reading): Reading | null
}

export const longestRule = 300
const mostInterval = 1000
const mostCount = 1000
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
// With how many days, weeks, months or years are looked through for the next occurrence, or for the last of so many, before there is
// taken to be none: about 70 years, since 29 February may be a Monday after 40.
const periods: Record<string, number> = { DAILY: 25_000, WEEKLY: 4_000, MONTHLY: 1_000, YEARLY: 100 }
const frequencies = Object.keys(periods)

/**
 * Reads a recurrence rule (RFC 5545 section 3.3.10) of days, weeks, months or years. It is expanded by the readings of clocks, so that a
 * time which the clocks skip is not left out.
 * @param start the reading that it begins at, which need not fit the rule
 * @param inUtc what a UTC time of UNTIL reads there
 * @throws RecurrenceRefused
 */
export function recurrenceOf(text: string, start: Reading, inUtc: (at: number) => Reading): Recurrence {
  const rruleString = `RRULE:${checked(text, inUtc)}`
  const rule = new RRuleTemporal({
    rruleString,
    dtstart: Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO('UTC'),
    strict: true,
    maxIterations: periods[/FREQ=([A-Z]+)/.exec(rruleString)![1]!],
    cache: false,
  } as never)
  if (rruleString.includes('COUNT=')) return counted(reading => orNothing(() => rule.all(date => reading(readingOf(date)))))
  return {
    between: (from, until) =>
      until <= from ? [] : (orNothing(() => rule.between(new Date(from), new Date(until - 1), true)) ?? []).map(readingOf),
    next: from => {
      const found = orNothing(() => rule.next(new Date(from), true))
      return found ? readingOf(found) : null
    },
  }
}

/** A rule that ends after so many is worked out once, since each question is counted from its beginning. */
function counted(workOut: (each: (reading: Reading) => true) => unknown): Recurrence {
  let all: Reading[] | null = null
  const readings = () => {
    if (all) return all
    const found: Reading[] = []
    workOut(reading => {
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

/** The library throws where it has looked through as many periods as it may. */
function orNothing<T>(look: () => T): T | null {
  try {
    return look()
  } catch {
    return null
  }
}

const readingOf = (date: { epochMilliseconds: number }): Reading => date.epochMilliseconds

/** The rule with UNTIL as the library wants it. */
function checked(text: string, inUtc: (at: number) => Reading): string {
  const bare = text
    .trim()
    .toUpperCase()
    .replace(/^RRULE:/, '')
  if (text.length > longestRule) throw new RecurrenceRefused(`must have at most ${longestRule} characters.`)
  const named = new Map<string, string>()
  for (const part of bare.split(';').filter(one => one !== '')) {
    const [, name, value] = /^([A-Z]+)=([A-Z0-9,+-]+)$/.exec(part) ?? []
    if (name === undefined || !parts.includes(name))
      throw new RecurrenceRefused(`must be made of ${parts.join(', ')}, such as FREQ=WEEKLY;BYDAY=SA.`)
    if (named.has(name)) throw new RecurrenceRefused(`must have ${name} once.`)
    named.set(name, value!)
  }
  if (!frequencies.includes(named.get('FREQ') ?? ''))
    throw new RecurrenceRefused(`must have a FREQ of ${frequencies.join(', ')}.`)
  within(named, 'INTERVAL', mostInterval)
  within(named, 'COUNT', mostCount)
  for (const [name, most] of listed) eachWithin(named, name, most)
  if (named.has('UNTIL')) named.set('UNTIL', untilOf(named.get('UNTIL')!, inUtc))
  const rule = [...named].map(([name, value]) => `${name}=${value}`).join(';')
  try {
    new RRuleTemporal({
      rruleString: `RRULE:${rule}`,
      dtstart: Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO('UTC'),
      strict: true,
    } as never)
  } catch (error) {
    throw new RecurrenceRefused(`must be a rule of RFC 5545, and this is refused: ${(error as Error).message}.`)
  }
  return rule
}

function within(named: ReadonlyMap<string, string>, name: string, most: number): void {
  const value = named.get(name)
  if (value !== undefined && (!/^\d{1,6}$/.test(value) || Number(value) < 1 || Number(value) > most))
    throw new RecurrenceRefused(`must have ${name} from 1 to ${most}.`)
}

// The library takes numbers that no day has, and then goes by the rest of the rule alone.
const listed = [
  ['BYMONTH', 12],
  ['BYMONTHDAY', 31],
  ['BYYEARDAY', 366],
  ['BYWEEKNO', 53],
  ['BYSETPOS', 366],
] as const

function eachWithin(named: ReadonlyMap<string, string>, name: string, most: number): void {
  const sign = name === 'BYMONTH' ? '' : '[+-]?'
  const isRight = (one: string) =>
    new RegExp(`^${sign}\\d{1,3}$`).test(one) && Math.abs(Number(one)) >= 1 && Math.abs(Number(one)) <= most
  if (!(named.get(name)?.split(',').every(isRight) ?? true))
    throw new RecurrenceRefused(`must have ${name} from 1 to ${most}${sign === '' ? '' : `, or from -${most} to -1`}.`)
}

/** A date means all of that day. What has no Z is of the window's own time zone, as is what has, once it is read there. */
function untilOf(text: string, inUtc: (at: number) => Reading): string {
  const [, year, month, day, hour = '23', minute = '59', second = '59', zulu] =
    /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z)?)?$/.exec(text) ?? []
  const reading = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  if (Number.isNaN(reading))
    throw new RecurrenceRefused('must have an UNTIL such as 20261231, 20261231T235959 or 20261231T235959Z.')
  const local = zulu ? inUtc(reading) : reading
  return new Date(local).toISOString().replace(/[-:]|\.\d+/g, '')
}
