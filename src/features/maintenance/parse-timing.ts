import { parseCron, InvalidCron } from '../../core/cron'
import type { FieldProblem } from '../../core/problem'
import { canonicalTimezone, wallReading } from '../../core/wall-clock'
import { occurrencesAfter, type Timing } from './occurrences'
import { recurrenceOf, InvalidRecurrence } from './recurrence'
import { maxDurationSeconds, minDurationSeconds } from './shapes'

/** The schedule of a window in the fields of the API. */
export interface TimingInput {
  kind: 'once' | 'rrule' | 'cron'
  starts_at_local: string | null
  timezone: string
  duration_seconds: number
  rrule: string | null
  cron: string | null
  exdates: string[]
}

/** Validates a schedule. Returns the timing, or all problems. */
export function parseTiming(
  input: TimingInput,
): { timing: Omit<Timing, 'startedAt' | 'startedUntil' | 'stoppedAt'> } | { problems: FieldProblem[] } {
  const problems: FieldProblem[] = []
  const report = (field: string, detail: string) => void problems.push({ pointer: `#/${field}`, code: 'invalid', detail })
  const zone = canonicalTimezone(input.timezone)
  if (zone === null) report('timezone', 'must be an IANA time zone name such as Europe/Berlin.')
  const isValidDuration = input.duration_seconds >= minDurationSeconds && input.duration_seconds <= maxDurationSeconds
  if (!isValidDuration) {
    const detail = `must be between ${minDurationSeconds} and ${maxDurationSeconds} seconds.`
    problems.push({ pointer: '#/duration_seconds', code: 'out_of_range', detail })
  }
  for (const [field, kind] of [
    ['rrule', 'rrule'],
    ['cron', 'cron'],
  ] as const) {
    if (input[field] !== null && input.kind !== kind) report(field, `can’t be used if \`kind\` is \`${input.kind}\`.`)
    if (input[field] === null && input.kind === kind) report(field, `is required if \`kind\` is \`${kind}\`.`)
  }
  const start = input.starts_at_local === null ? null : parseLocalTime(input.starts_at_local)
  if (input.starts_at_local === null && input.kind !== 'cron')
    report('starts_at_local', `is required if \`kind\` is \`${input.kind}\`.`)
  if (input.starts_at_local !== null && start === null)
    report('starts_at_local', 'must be a local time between 2000 and 2199 without an offset, such as 2026-12-24T22:00:00.')
  if (input.kind === 'once' && input.exdates.length > 0) report('exdates', 'can’t be used if `kind` is `once`.')
  const exdates = input.exdates.map(
    one => (/^\d{4}-\d\d-\d\d$/.test(one) ? parseLocalTime(`${one}T00:00`)?.slice(0, 10) : parseLocalTime(one)) ?? null,
  )
  exdates.forEach((one, index) => {
    if (one === null) report(`exdates/${index}`, 'must be a date or the local start time of an occurrence.')
  })
  const timing = {
    kind: input.kind,
    startsAtLocal: start,
    timezone: zone ?? 'UTC',
    durationSeconds: isValidDuration ? input.duration_seconds : minDurationSeconds,
    rrule:
      input.rrule === null
        ? null
        : input.rrule
            .trim()
            .toUpperCase()
            .replace(/^RRULE:/, ''),
    cron: input.cron === null ? null : input.cron.trim().split(/\s+/).join(' '),
    exdates: exdates.filter(one => one !== null),
  }
  // Check the rule even if other fields are invalid, but not if it is missing.
  const hasRule = input.kind === 'once' || input[input.kind] !== null
  const problem = hasRule && (start !== null || input.kind !== 'rrule') ? ruleProblem(timing) : null
  if (problem) problems.push(problem)
  return problems.length > 0 ? { problems } : { timing }
}

const maxSimultaneous = 10

/** Adds the seconds to a local time. Null: not a valid date or time. */
function parseLocalTime(text: string): string | null {
  const [matched, year] = /^(\d{4})-\d\d-\d\dT\d\d:\d\d(?::\d\d)?$/.exec(text) ?? []
  if (matched === undefined || Number(year) < 2000 || Number(year) > 2199) return null
  const full = matched.length === 16 ? `${matched}:00` : matched
  const at = Date.parse(`${full}Z`)
  return Number.isNaN(at) || new Date(at).toISOString().slice(0, 19) !== full ? null : full
}

function ruleProblem(timing: Omit<Timing, 'startedAt' | 'startedUntil' | 'stoppedAt'>): FieldProblem | null {
  const field = timing.kind
  if (field === 'once') return null
  const invalid = (detail: string): FieldProblem => ({ pointer: `#/${field}`, code: 'invalid', detail })
  try {
    if (field === 'cron') parseCron(timing.cron!, timing.timezone)
    else recurrenceOf(timing.rrule!, 0, at => wallReading(timing.timezone, at))
  } catch (error) {
    if (error instanceof InvalidCron) return invalid(`must be a valid cron expression. ${error.message}`)
    if (error instanceof InvalidRecurrence) return invalid(error.message)
    throw error
  }
  const schedule = { ...timing, startedAt: null, startedUntil: null, stoppedAt: null }
  const first = timing.startsAtLocal === null ? Date.UTC(2026, 0, 1) : Date.parse(`${timing.startsAtLocal}Z`) - 2 * 86_400_000
  const found = occurrencesAfter(schedule, first, maxSimultaneous + 1)
  if (found.length === 0) return invalid('must have an occurrence within 30 years.')
  const isCrowded = found.length > maxSimultaneous && found.at(-1)!.from - found[0]!.from < timing.durationSeconds * 1000
  if (!isCrowded) return null
  return {
    pointer: '#/duration_seconds',
    code: 'invalid',
    detail: `must be shorter: at most ${maxSimultaneous} occurrences can overlap.`,
  }
}
