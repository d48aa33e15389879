import { parseCron, InvalidCron } from '../../../core/cron'
import { canonicalTimezone } from '../../../core/wall-clock'
import { nextCalendar, parseCalendar, ScheduleError, unknownTimezone } from './calendar'

/**
 * When pings are expected: a fixed period after the last one, at the times of a cron expression with five fields, or at the earliest of
 * several systemd calendar events, one per line. `grace_seconds` is how late a ping may be, and how long a started run may take.
 */
export type Schedule =
  | { kind: 'period'; period_seconds: number; grace_seconds: number }
  | { kind: 'cron' | 'calendar'; expression: string; timezone: string; grace_seconds: number }

type ScheduleProblemCode = 'out_of_range' | 'unknown_timezone' | 'too_long' | 'invalid_expression' | 'never_fires'

/** A validation problem. `pointer` is a JSON pointer relative to the schedule. */
interface ScheduleProblem {
  pointer: '/period_seconds' | '/grace_seconds' | '/expression' | '/timezone'
  code: ScheduleProblemCode
  detail: string
}

export const MAX_SECONDS = 365 * 86_400
const MIN_PERIOD_SECONDS = 5
const MIN_GRACE_SECONDS = 1
const MAX_LINE_LENGTH = 100
const MAX_EXPRESSION_LENGTH = 1000

/**
 * Returns all problems of a schedule. Expressions without a match after `nowMs` are invalid, such as a calendar with only past years.
 * Without `nowMs`, only expressions without any match are.
 */
export function checkSchedule(schedule: Schedule, nowMs = 0): ScheduleProblem[] {
  const problems: ScheduleProblem[] = []
  if (schedule.kind === 'period') {
    problems.push(...checkSeconds('/period_seconds', schedule.period_seconds, MIN_PERIOD_SECONDS))
  } else {
    const zoneKnown = canonicalTimezone(schedule.timezone) !== null
    if (!zoneKnown) problems.push({ pointer: '/timezone', code: 'unknown_timezone', detail: unknownTimezone(schedule.timezone) })
    problems.push(...checkExpression(zoneKnown ? schedule : { ...schedule, timezone: 'UTC' }, nowMs))
  }
  problems.push(...checkSeconds('/grace_seconds', schedule.grace_seconds, MIN_GRACE_SECONDS))
  return problems
}

/**
 * Returns when the ping after the one at `lastPingAt` is expected, in ms since the epoch, or null if the schedule has ended.
 * @throws ScheduleError if the schedule is invalid (see checkSchedule)
 */
export function expectedAfter(schedule: Schedule, lastPingAt: number): number | null {
  if (schedule.kind === 'period') return lastPingAt + schedule.period_seconds * 1000
  return timetableOf(schedule).next(lastPingAt)
}

/**
 * Returns when the next ping is expected and when the heartbeat goes down without it, in ms since the epoch, or null if nothing is
 * expected. As in Healthchecks (hc/api/models.py, get_grace_start), the grace period begins at the expected time of the ping or at the
 * start of an unfinished run, whichever is earlier.
 */
export function downAfter(
  schedule: Schedule,
  { lastPingAt, startedAt }: { lastPingAt: number | null; startedAt: number | null },
): { expectedAt: number | null; downAt: number | null } {
  const expectedAt = lastPingAt === null ? null : expectedAfter(schedule, lastPingAt)
  return { expectedAt, downAt: downFrom(schedule, expectedAt, startedAt) }
}

/** Returns the `downAt` of downAfter for a known expected time. */
export function downFrom(schedule: Schedule, expectedAt: number | null, startedAt: number | null): number | null {
  const graceStart = Math.min(expectedAt ?? Infinity, startedAt ?? Infinity)
  return graceStart === Infinity ? null : graceStart + schedule.grace_seconds * 1000
}

/** Describes the schedule in English: `every 5 min, grace period 1 min`. */
export function describeSchedule(schedule: Schedule): string {
  const grace = `grace period ${durationText(schedule.grace_seconds)}`
  if (schedule.kind === 'period') return `every ${durationText(schedule.period_seconds)}, ${grace}`
  const expressions = linesOf(schedule.expression)
    .map(line => `"${line}"`)
    .join(' or ')
  return `${schedule.kind} ${expressions} in ${schedule.timezone}, ${grace}`
}

function checkSeconds(pointer: '/period_seconds' | '/grace_seconds', seconds: number, min: number): ScheduleProblem[] {
  if (Number.isInteger(seconds) && seconds >= min && seconds <= MAX_SECONDS) return []
  const name = pointer === '/period_seconds' ? 'period' : 'grace period'
  const detail = `The ${name} must be a whole number of seconds between ${min} and ${MAX_SECONDS} (365 days).`
  return [{ pointer, code: 'out_of_range', detail }]
}

type TimedSchedule = Extract<Schedule, { expression: string }>

function checkExpression(schedule: TimedSchedule, nowMs: number): ScheduleProblem[] {
  const problem = (code: ScheduleProblemCode, detail: string): ScheduleProblem[] => [{ pointer: '/expression', code, detail }]
  if (schedule.expression.length > MAX_EXPRESSION_LENGTH) {
    return problem('too_long', `The expression is longer than ${MAX_EXPRESSION_LENGTH} characters.`)
  }
  const long = linesOf(schedule.expression).find(line => line.length > MAX_LINE_LENGTH)
  if (long !== undefined) {
    return problem('too_long', `The line "${long.slice(0, 20)}…" is longer than ${MAX_LINE_LENGTH} characters.`)
  }
  try {
    if (timetableOf(schedule).next(nowMs) !== null) return []
    return problem(
      'never_fires',
      'The expression has no upcoming times: no date matches it, or all matching dates are in the past.',
    )
  } catch (error) {
    if (error instanceof ScheduleError) return problem('invalid_expression', error.message)
    throw error
  }
}

interface Timetable {
  next(after: number): number | null
}

const MAX_TIMETABLES = 2000

// An LRU cache: a Map keeps insertion order, so the least recently used entry comes first.
const timetables = new Map<string, Timetable>()

function timetableOf(schedule: TimedSchedule): Timetable {
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

function cronTimetable({ expression, timezone }: TimedSchedule): Timetable {
  const zone = canonicalTimezone(timezone)
  if (zone === null) throw new ScheduleError(unknownTimezone(timezone))
  try {
    return parseCron(expression, zone)
  } catch (error) {
    throw error instanceof InvalidCron ? new ScheduleError(error.message) : error
  }
}

function calendarTimetable({ expression, timezone }: TimedSchedule): Timetable {
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

function durationText(seconds: number): string {
  let rest = seconds
  const parts: string[] = []
  for (const [size, unit] of UNITS) {
    const count = Math.floor(rest / size)
    if (count > 0) parts.push(`${count} ${unit}`)
    rest %= size
  }
  return parts.join(' ') || '0 s'
}
