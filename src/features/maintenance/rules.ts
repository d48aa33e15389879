import { cronOf, CronRefused } from '../../core/cron'
import type { FieldProblem } from '../../core/problem'
import { canonicalTimezone, wallReading } from '../../core/wall-clock'
import { occurrencesAfter, type Timing } from './occurrences'
import { recurrenceOf, RecurrenceRefused } from './recurrence'
import { longest, shortest } from './shapes'

/** A window as it is asked for, in the members of the API. */
export interface Asked {
  kind: 'once' | 'rrule' | 'cron'
  starts_at_local: string | null
  timezone: string
  duration_seconds: number
  rrule: string | null
  cron: string | null
  exdates: readonly string[]
}

/** The timing that is asked for, or every rule that it breaks. */
export function timingOf(
  asked: Asked,
): { timing: Omit<Timing, 'startedAt' | 'startedUntil' | 'stoppedAt'> } | { problems: FieldProblem[] } {
  const problems: FieldProblem[] = []
  const refuse = (member: string, detail: string) => void problems.push({ pointer: `#/${member}`, code: 'invalid', detail })
  const zone = canonicalTimezone(asked.timezone)
  if (zone === null) refuse('timezone', 'must be a time zone of the tz database, such as Europe/Paris or UTC.')
  const isSpan = asked.duration_seconds >= shortest && asked.duration_seconds <= longest
  if (!isSpan) {
    const detail = `must be from ${shortest} to ${longest}.`
    problems.push({ pointer: '#/duration_seconds', code: 'out_of_range', detail })
  }
  for (const [member, kind] of [
    ['rrule', 'rrule'],
    ['cron', 'cron'],
  ] as const) {
    if (asked[member] !== null && asked.kind !== kind) refuse(member, `must be left out when kind is ${asked.kind}.`)
    if (asked[member] === null && asked.kind === kind) refuse(member, `must be given when kind is ${kind}.`)
  }
  const start = asked.starts_at_local === null ? null : localTime(asked.starts_at_local)
  if (asked.starts_at_local === null && asked.kind !== 'cron')
    refuse('starts_at_local', `must be given when kind is ${asked.kind}.`)
  if (asked.starts_at_local !== null && start === null)
    refuse('starts_at_local', 'must be a local time of the years 2000 to 2199 without an offset, such as 2026-12-24T22:00:00.')
  if (asked.kind === 'once' && asked.exdates.length > 0) refuse('exdates', 'must be left out when kind is once.')
  const exdates = asked.exdates.map(
    one => (/^\d{4}-\d\d-\d\d$/.test(one) ? localTime(`${one}T00:00`)?.slice(0, 10) : localTime(one)) ?? null,
  )
  exdates.forEach((one, place) => {
    if (one === null) refuse(`exdates/${place}`, 'must be a date, or the local time at which an occurrence begins.')
  })
  const timing = {
    kind: asked.kind,
    startsAtLocal: start,
    timezone: zone ?? 'UTC',
    durationSeconds: isSpan ? asked.duration_seconds : shortest,
    rrule:
      asked.rrule === null
        ? null
        : asked.rrule
            .trim()
            .toUpperCase()
            .replace(/^RRULE:/, ''),
    cron: asked.cron === null ? null : asked.cron.trim().split(/\s+/).join(' '),
    exdates: exdates.filter(one => one !== null),
  }
  // What is missing cannot be read; what is there is, whatever else is wrong.
  const isThere = asked.kind === 'once' || asked[asked.kind] !== null
  const problem = isThere && (start !== null || asked.kind !== 'rrule') ? unreadable(timing) : null
  if (problem) problems.push(problem)
  return problems.length > 0 ? { problems } : { timing }
}

const mostAtOnce = 10

/** A local time with its seconds, or null where there is no such date, or no such time. */
function localTime(text: string): string | null {
  const [whole, year] = /^(\d{4})-\d\d-\d\dT\d\d:\d\d(?::\d\d)?$/.exec(text) ?? []
  if (whole === undefined || Number(year) < 2000 || Number(year) > 2199) return null
  const full = whole.length === 16 ? `${whole}:00` : whole
  const at = Date.parse(`${full}Z`)
  return Number.isNaN(at) || new Date(at).toISOString().slice(0, 19) !== full ? null : full
}

function unreadable(timing: Omit<Timing, 'startedAt' | 'startedUntil' | 'stoppedAt'>): FieldProblem | null {
  const member = timing.kind
  if (member === 'once') return null
  const refused = (detail: string): FieldProblem => ({ pointer: `#/${member}`, code: 'invalid', detail })
  try {
    if (member === 'cron') cronOf(timing.cron!, timing.timezone)
    else recurrenceOf(timing.rrule!, 0, at => wallReading(timing.timezone, at))
  } catch (error) {
    if (error instanceof CronRefused) return refused(`must be a cron expression. ${error.message}`)
    if (error instanceof RecurrenceRefused) return refused(error.message)
    throw error
  }
  const whole = { ...timing, startedAt: null, startedUntil: null, stoppedAt: null }
  const first = timing.startsAtLocal === null ? Date.UTC(2026, 0, 1) : Date.parse(`${timing.startsAtLocal}Z`) - 2 * 86_400_000
  const found = occurrencesAfter(whole, first, mostAtOnce + 1)
  if (found.length === 0) return refused('must come up at least once within thirty years.')
  const isCrowded = found.length > mostAtOnce && found.at(-1)!.from - found[0]!.from < timing.durationSeconds * 1000
  if (!isCrowded) return null
  return {
    pointer: '#/duration_seconds',
    code: 'invalid',
    detail: `must be so short that at most ${mostAtOnce} occurrences are in force at once.`,
  }
}
