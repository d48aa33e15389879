import { canonicalTimezone } from '../../../core/wall-clock'

/** An invalid schedule. The message names the problem and the invalid part. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError'
}

/** The values `start, start + step, …` up to and including `stop`. */
export interface Steps {
  readonly start: number
  readonly stop: number
  readonly step: number
}

/**
 * A parsed calendar event. A time matches if each of its local fields matches at least one entry in the list of that field, and the
 * bit of its weekday is set (Monday = 1 … Sunday = 64).
 */
export interface Calendar {
  /** Canonical name in the tz database. */
  readonly timezone: string
  readonly weekdays: number
  readonly years: readonly Steps[]
  readonly months: readonly Steps[]
  readonly days: readonly Steps[]
  /** Whether days were written with `~` and count from the end of the month: 1 is the last day, 2 the one before it. */
  readonly daysFromMonthEnd: boolean
  readonly hours: readonly Steps[]
  readonly minutes: readonly Steps[]
  /** In microseconds, like in systemd. */
  readonly seconds: readonly Steps[]
}

/** The range of years in systemd (MIN_YEAR and MAX_YEAR). */
export const FIRST_YEAR = 1970
export const LAST_YEAR = 2199

const SECOND = 1_000_000
const EVERY_DAY = 0b1111111

/**
 * Parses a calendar event in the syntax of systemd.time(7), "Calendar events": `[weekdays] [date] [time] [zone]`, a keyword from
 * minutely to semiannually, or `@seconds`. Accepts what systemd 252 accepts, and surrounding blanks.
 * @param defaultTimezone the time zone of expressions without one
 * @throws ScheduleError
 */
export function parseCalendar(expression: string, defaultTimezone: string): Calendar {
  const words = expression.trim().split(/ +/)
  if (words[0] === '') throw new ScheduleError('The calendar expression is empty.')
  const ownZone = words.length > 1 && /^[a-z]/i.test(words.at(-1)!) ? words.pop()! : null
  // First, because the last word of an invalid expression, such as “every day”, is probably not a time zone.
  const event = parseEvent(words)
  const zone = ownZone ?? defaultTimezone
  const timezone = canonicalTimezone(zone)
  if (timezone === null) throw new ScheduleError(unknownTimezone(zone))
  return { timezone, ...event }
}

/** Parses an event without time zone. A timestamp has its own. */
function parseEvent(words: string[]): Omit<Calendar, 'timezone'> & { timezone?: string } {
  const special = SPECIALS[words[0]!.toLowerCase()]
  if (special !== undefined && words.length === 1) return parseEvent([special])

  const weekdays = /^[a-z]/i.test(words[0]!) ? parseWeekdays(words.shift()!) : EVERY_DAY
  if (words[0]?.startsWith('@')) return { ...parseTimestamp(words), weekdays }
  const date = words[0]?.includes(':') ? undefined : words.shift()
  const time = words.shift()
  if (words.length > 0) throw new ScheduleError(`Unexpected "${words.join(' ')}" after the time "${time}".`)
  return { weekdays, ...parseDate(date), ...parseTime(time) }
}

// "anually" and the last four entries are not in the manual, but systemd accepts them.
const SPECIALS: Record<string, string> = {
  minutely: '*:*:00',
  hourly: '*:00:00',
  daily: '00:00:00',
  monthly: '*-*-01',
  weekly: 'Mon',
  yearly: '*-01-01',
  annually: '*-01-01',
  anually: '*-01-01',
  quarterly: '*-01,04,07,10-01',
  semiannually: '*-01,07-01',
  'semi-annually': '*-01,07-01',
  biannually: '*-01,07-01',
  'bi-annually': '*-01,07-01',
}

/** The message for an unknown time zone. */
export const unknownTimezone = (name: string): string =>
  `"${name}" is not a valid time zone. Use an IANA name such as UTC or Europe/Paris.`

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

function parseWeekdays(word: string): number {
  let bits = 0
  // A list may end with a comma, as in "Wed, 17:48".
  for (const item of word.replace(/,$/, '').split(',')) {
    const [, first, last] = /^([a-z]+)(?:(?:\.\.|-)([a-z]+))?$/i.exec(item) ?? []
    if (first === undefined) {
      const place = item === word ? '' : ` in "${word}"`
      throw new ScheduleError(`"${item}"${place} is not a weekday or a range of weekdays such as Mon..Fri.`)
    }
    const from = weekdayNumber(first)
    const to = last === undefined ? from : weekdayNumber(last)
    if (from > to) throw new ScheduleError(`The weekday range "${item}" is reversed. Weeks start on Monday.`)
    for (let day = from; day <= to; day++) bits |= 1 << day
  }
  return bits
}

function weekdayNumber(name: string): number {
  const lower = name.toLowerCase()
  const index = WEEKDAYS.findIndex(weekday => weekday === lower || weekday.slice(0, 3) === lower)
  if (index < 0) throw new ScheduleError(`"${name}" is not a weekday. Use names such as Mon or Monday.`)
  return index
}

type DateFields = Pick<Calendar, 'years' | 'months' | 'days' | 'daysFromMonthEnd'>
type TimeFields = Pick<Calendar, 'hours' | 'minutes' | 'seconds'>

/** The allowed values of a field. `step` is one unit, the step of `*`. */
interface Field {
  readonly name: string
  readonly min: number
  readonly max: number
  readonly step: number
}

const YEAR: Field = { name: 'year', min: FIRST_YEAR, max: LAST_YEAR, step: 1 }
const MONTH: Field = { name: 'month', min: 1, max: 12, step: 1 }
const DAY: Field = { name: 'day', min: 1, max: 31, step: 1 }
// systemd counts back at most 28 days, which every month has.
const DAY_FROM_END: Field = { name: 'day from the end of the month', min: 1, max: 28, step: 1 }
const HOUR: Field = { name: 'hour', min: 0, max: 23, step: 1 }
const MINUTE: Field = { name: 'minute', min: 0, max: 59, step: 1 }
const SECONDS: Field = { name: 'second', min: 0, max: 60 * SECOND - 1, step: SECOND }

function parseDate(text = '*-*-*'): DateFields {
  const [, a, firstSign, b, secondSign, c] = /^([^-~]+)([-~])([^-~]+)(?:([-~])([^-~]+))?$/.exec(text) ?? []
  if (a === undefined || b === undefined || (c !== undefined && firstSign === '~')) {
    throw new ScheduleError(`"${text}" is not a valid date (YYYY-MM-DD or MM-DD, or with ~ before the day) or time (HH:MM).`)
  }
  const [year, month, day] = c === undefined ? ['*', a, b] : [a, b, c]
  const daysFromMonthEnd = (secondSign ?? firstSign) === '~'
  return {
    years: parseField(year, YEAR),
    months: parseField(month, MONTH),
    // The day "~*" matches any day.
    days: parseField(day, daysFromMonthEnd && day !== '*' ? DAY_FROM_END : DAY),
    daysFromMonthEnd: daysFromMonthEnd && day !== '*',
  }
}

function parseTime(text = '00:00:00'): TimeFields {
  const [hour, minute, second, ...rest] = text.split(':')
  if (hour === undefined || minute === undefined || rest.length > 0) {
    throw new ScheduleError(`"${text}" is not a valid time. Use HH:MM or HH:MM:SS.`)
  }
  return { hours: parseField(hour, HOUR), minutes: parseField(minute, MINUTE), seconds: parseField(second ?? '00', SECONDS) }
}

function parseTimestamp(words: string[]): Calendar {
  const [word = '', ...rest] = words
  const [, digits] = /^@(\d{1,10})$/.exec(word) ?? []
  if (digits === undefined || rest.length > 0) {
    throw new ScheduleError(`"${words.join(' ')}" is not a valid timestamp. Use @ followed by the seconds since 1970.`)
  }
  const at = new Date(Number(digits) * 1000)
  if (at.getUTCFullYear() > LAST_YEAR) throw new ScheduleError(`The timestamp "${word}" is after the year ${LAST_YEAR}.`)
  const [date, time] = at.toISOString().split(/[T.]/)
  return { timezone: 'UTC', weekdays: EVERY_DAY, ...parseDate(date), ...parseTime(time) }
}

function parseField(text: string, field: Field): Steps[] {
  if (text === '*') return [{ start: field.min, stop: field.max, step: field.step }]
  return text.split(',').map(item => parseSteps(item, text, field))
}

function parseSteps(item: string, text: string, field: Field): Steps {
  const [, first, last, repeat] = /^(\d+(?:\.\d+)?)(?:\.\.(\d+(?:\.\d+)?))?(?:\/(\d+(?:\.\d+)?))?$/.exec(item) ?? []
  if (first === undefined) {
    const place = item === text ? `The ${field.name} "${text}"` : `"${item}" in the ${field.name} "${text}"`
    const hint = item.startsWith('*') ? ` Use ${field.min}/n to repeat from the first value.` : ''
    throw new ScheduleError(`${place} is not a number, a range (a..b), or a repetition (a/n).${hint}`)
  }
  const start = bounded(parseNumber(first, item, field), item, field)
  const step = repeat === undefined ? field.step : parseSpan(repeat, item, field)
  if (step === 0) throw new ScheduleError(`The ${field.name} repetition "${item}" must be greater than 0.`)
  if (last !== undefined) {
    const end = parseNumber(last, item, field)
    if (end < start) throw new ScheduleError(`The ${field.name} range "${item}" is reversed.`)
    // Only check the last value that is reached: 4..13/3 ends at 10, a valid month.
    return { start, stop: bounded(end - ((end - start) % step), item, field), step }
  }
  if (repeat === undefined) return { start, stop: start, step }
  const room = field === DAY_FROM_END ? start - field.min : field.max - start
  if (step > room) throw new ScheduleError(`The ${field.name} repetition "${item}" never reaches a second value.`)
  // Days from the end of the month repeat toward the last day, so they count down to 1.
  if (field === DAY_FROM_END) return { start: start - (room - (room % step)), stop: start, step }
  return { start, stop: field.max, step }
}

function bounded(value: number, item: string, field: Field): number {
  if (value >= field.min && value <= field.max) return value
  const max = Math.floor(field.max / field.step)
  throw new ScheduleError(`"${item}" is out of range: the ${field.name} must be between ${field.min} and ${max}.`)
}

function parseNumber(digits: string, item: string, field: Field): number {
  const value = parseSpan(digits, item, field)
  // Two-digit years are 1970 to 2069.
  return field === YEAR && value < 100 ? value + (value < 70 ? 2000 : 1900) : value
}

function parseSpan(digits: string, item: string, field: Field): number {
  const [whole = '', fraction] = digits.split('.')
  if (fraction === undefined) return Number(whole) * field.step
  if (field !== SECONDS) throw new ScheduleError(`"${item}" is not a whole number. Only seconds can have decimals.`)
  // Round the decimal digits to microseconds. Floating point would round some halves down.
  const micros = Number(fraction.slice(0, 6).padEnd(6, '0')) + ((fraction[6] ?? '0') >= '5' ? 1 : 0)
  return Number(whole) * SECOND + micros
}
