import { cronOf, CronRefused } from '../../core/cron'
import { canonicalTimezone } from '../../core/wall-clock'
import { nextCalendar, parseCalendar, ScheduleError } from './calendar'

/**
 * When pings are expected: a fixed span after the last one, by a cron expression of five words, or by systemd
 * calendar events, one a line, of which the earliest counts. `grace_seconds` is how late a ping may be, and
 * how long a started run may take.
 */
export type Schedule =
  | { kind: 'period'; period_seconds: number; grace_seconds: number }
  | { kind: 'cron' | 'calendar'; expression: string; timezone: string; grace_seconds: number }

export type ScheduleProblemCode = 'out_of_range' | 'unknown_timezone' | 'too_long' | 'invalid_expression' | 'never_fires'

/** A broken rule. `pointer` is a JSON pointer relative to the schedule. */
export interface ScheduleProblem {
  pointer: '/period_seconds' | '/grace_seconds' | '/expression' | '/timezone'
  code: ScheduleProblemCode
  detail: string
}

export const MAX_SECONDS = 365 * 86_400
export const MIN_PERIOD_SECONDS = 5
export const MIN_GRACE_SECONDS = 1
export const MAX_LINE_LENGTH = 100
export const MAX_EXPRESSION_LENGTH = 1000

/**
 * Every rule the schedule breaks; empty when it is fine. `nowMs` is from when it must still come up: a calendar
 * that names only past years never fires again. Left out, only what never fired at all is refused.
 */
export function checkSchedule(schedule: Schedule, nowMs = 0): ScheduleProblem[] {
  const problems: ScheduleProblem[] = []
  if (schedule.kind === 'period') {
    problems.push(...checkSeconds('/period_seconds', schedule.period_seconds, MIN_PERIOD_SECONDS))
  } else {
    const zoneKnown = canonicalTimezone(schedule.timezone) !== null
    if (!zoneKnown) {
      const detail = `"${schedule.timezone}" is not a time zone of the tz database, such as UTC or Europe/Paris.`
      problems.push({ pointer: '/timezone', code: 'unknown_timezone', detail })
    }
    problems.push(...checkExpression(zoneKnown ? schedule : { ...schedule, timezone: 'UTC' }, nowMs))
  }
  problems.push(...checkSeconds('/grace_seconds', schedule.grace_seconds, MIN_GRACE_SECONDS))
  return problems
}

/**
 * When the ping after the one at `lastPingAt` is expected, in ms since the epoch; null when the schedule has ended.
 * @throws ScheduleError for a schedule that checkSchedule refuses
 */
export function expectedAfter(schedule: Schedule, lastPingAt: number): number | null {
  if (schedule.kind === 'period') return lastPingAt + schedule.period_seconds * 1000
  return timetableOf(schedule).next(lastPingAt)
}

/**
 * When the next ping is expected and when the heartbeat is down without it, all in ms since the epoch.
 * Healthchecks' rule (hc/api/models.py, get_grace_start): the grace time begins when the ping is expected, or when
 * a run started that has not finished, whichever is earlier. Null where nothing is expected.
 */
export function downAfter(
  schedule: Schedule,
  { lastPingAt, startedAt }: { lastPingAt: number | null; startedAt: number | null },
): { expectedAt: number | null; downAt: number | null } {
  const expectedAt = lastPingAt === null ? null : expectedAfter(schedule, lastPingAt)
  return { expectedAt, downAt: downFrom(schedule, expectedAt, startedAt) }
}

/** The second half of downAfter, for an expected time that is already known. */
export function downFrom(schedule: Schedule, expectedAt: number | null, startedAt: number | null): number | null {
  const graceStart = Math.min(expectedAt ?? Infinity, startedAt ?? Infinity)
  return graceStart === Infinity ? null : graceStart + schedule.grace_seconds * 1000
}

/** The schedule in plain English: `every 5 min, grace 1 min`. */
export function describeSchedule(schedule: Schedule): string {
  const grace = `grace ${spell(schedule.grace_seconds)}`
  if (schedule.kind === 'period') return `every ${spell(schedule.period_seconds)}, ${grace}`
  const expressions = linesOf(schedule.expression)
    .map(line => `"${line}"`)
    .join(' or ')
  return `${schedule.kind} ${expressions} in ${schedule.timezone}, ${grace}`
}

function checkSeconds(pointer: '/period_seconds' | '/grace_seconds', seconds: number, min: number): ScheduleProblem[] {
  if (Number.isInteger(seconds) && seconds >= min && seconds <= MAX_SECONDS) return []
  const what = pointer === '/period_seconds' ? 'period' : 'grace time'
  const detail = `The ${what} is a whole number of seconds from ${min} to ${MAX_SECONDS} (365 days).`
  return [{ pointer, code: 'out_of_range', detail }]
}

type Timed = Extract<Schedule, { expression: string }>

function checkExpression(schedule: Timed, nowMs: number): ScheduleProblem[] {
  const found = (code: ScheduleProblemCode, detail: string): ScheduleProblem[] => [{ pointer: '/expression', code, detail }]
  if (schedule.expression.length > MAX_EXPRESSION_LENGTH) {
    return found('too_long', `The expression is longer than ${MAX_EXPRESSION_LENGTH} characters in all.`)
  }
  const long = linesOf(schedule.expression).find(line => line.length > MAX_LINE_LENGTH)
  if (long !== undefined) {
    return found('too_long', `The expression "${long.slice(0, 20)}…" is longer than ${MAX_LINE_LENGTH} characters.`)
  }
  try {
    if (timetableOf(schedule).next(nowMs) !== null) return []
    return found('never_fires', 'The expression never comes up: no date fits it, or all that do are over.')
  } catch (error) {
    if (error instanceof ScheduleError) return found('invalid_expression', error.message)
    throw error
  }
}

interface Timetable {
  next(after: number): number | null
}

const MAX_TIMETABLES = 2000

// The least recently used comes first: a Map keeps the order in which keys were put in.
const timetables = new Map<string, Timetable>()

function timetableOf(schedule: Timed): Timetable {
  const key = `${schedule.kind}\n${schedule.timezone}\n${schedule.expression}`
  let timetable = timetables.get(key)
  if (timetable === undefined) {
    timetable = schedule.kind === 'cron' ? cronTimetable(schedule) : calendarTimetable(schedule)
    if (timetables.size >= MAX_TIMETABLES) timetables.delete(timetables.keys().next().value!)
  } else {
    timetables.delete(key)
  }
  timetables.set(key, timetable)
  return timetable
}

function cronTimetable({ expression, timezone }: Timed): Timetable {
  const zone = canonicalTimezone(timezone)
  if (zone === null) throw new ScheduleError(`"${timezone}" is not a time zone of the tz database.`)
  try {
    return cronOf(expression, zone)
  } catch (error) {
    throw error instanceof CronRefused ? new ScheduleError(error.message) : error
  }
}

function calendarTimetable({ expression, timezone }: Timed): Timetable {
  const lines = linesOf(expression)
  if (lines.length === 0) throw new ScheduleError('The calendar expression is empty.')
  const calendars = lines.map(line => parseCalendar(line, timezone))
  return {
    next: after =>
      calendars.reduce<number | null>((earliest, calendar) => {
        const at = nextCalendar(calendar, after)
        return at === null || (earliest !== null && earliest < at) ? earliest : at
      }, null),
  }
}

function linesOf(expression: string): string[] {
  return expression
    .split(/\r?\n/)
    .map(line => line.trim())
    .filter(line => line !== '')
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
]

function spell(seconds: number): string {
  let left = seconds
  const parts: string[] = []
  for (const [size, unit] of UNITS) {
    const count = Math.floor(left / size)
    if (count > 0) parts.push(`${count} ${unit}`)
    left %= size
  }
  return parts.join(' ') || '0 s'
}
