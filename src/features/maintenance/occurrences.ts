import { parseCron } from '../../core/cron'
import { canonicalTimezone, instantOf, wallReading } from '../../core/wall-clock'
import { recurrenceOf, type Reading, type Recurrence } from './recurrence'

/** The schedule of a window, as stored, with its last manual start and stop. */
export interface Timing {
  kind: 'once' | 'rrule' | 'cron'
  startsAtLocal: string | null
  timezone: string
  durationSeconds: number
  rrule: string | null
  cron: string | null
  exdates: string[]
  startedAt: number | null
  startedUntil: number | null
  stoppedAt: number | null
}

/** A period in which a window is active: `from <= t < until`, ms UTC. */
export interface Occurrence {
  from: number
  until: number
  /** Whether it was started manually, outside the schedule. */
  startedManually: boolean
}

/**
 * Returns up to `max` occurrences that are active between `from` and `until` (ms UTC), in order. A start in the hour that the clocks
 * skip moves to the end of the gap. A start in the hour that occurs twice uses the first pass.
 */
export function occurrencesBetween(timing: Timing, from: number, until: number, max: number): Occurrence[] {
  const length = timing.durationSeconds * 1000
  const scheduled = startsBetween(timing, from - length + 1, until, max + 1).map(start => scheduledOccurrence(timing, start))
  const { startedAt, startedUntil } = timing
  const manual = startedAt === null ? [] : [{ from: startedAt, until: startedUntil!, startedManually: true }]
  return [...scheduled, ...manual]
    .filter(one => one.until > from && one.from < until && one.until > one.from)
    .sort((a, b) => a.from - b.from || a.until - b.until)
    .slice(0, max)
}

/** Returns the first scheduled occurrences that start after `after` (ms UTC), up to `max`. */
export function occurrencesAfter(timing: Timing, after: number, max: number): Occurrence[] {
  const found: Occurrence[] = []
  for (let from = after + 1; found.length < max; from = found.at(-1)!.from + 1) {
    const next = nextStart(timing, from)
    if (next === null) break
    found.push(scheduledOccurrence(timing, next))
  }
  return found
}

const maxNext = 5

/** Returns the next five occurrences (see occurrencesAfter), cached until the first one starts. @param now ms UTC */
export function nextOccurrences(timing: Timing, now: number): Occurrence[] {
  const { kind, startsAtLocal, timezone, durationSeconds, rrule, cron, exdates, stoppedAt } = timing
  const key = JSON.stringify([kind, startsAtLocal, timezone, durationSeconds, rrule, cron, exdates, stoppedAt])
  const known = nextCache.get(key)
  if (known && now >= known.at && (known.next.length === 0 || now < known.next[0]!.from)) return known.next
  nextCache.delete(key)
  return cached(nextCache, key, () => ({ at: now, next: occurrencesAfter(timing, now, maxNext) })).next
}

const nextCache = new Map<string, { at: number; next: Occurrence[] }>()

/** An occurrence stopped manually ends at the stop. */
function scheduledOccurrence({ durationSeconds, stoppedAt }: Timing, from: number): Occurrence {
  const until = from + durationSeconds * 1000
  return { from, until: stoppedAt !== null && from <= stoppedAt && stoppedAt < until ? stoppedAt : until, startedManually: false }
}

const dayMs = 86_400_000
// Limits the search for the next occurrence of windows that rarely occur.
const maxSearchMs = 30 * 366 * dayMs

function startsBetween(timing: Timing, from: number, until: number, max: number): number[] {
  const zone = canonicalTimezone(timing.timezone)!
  if (timing.kind === 'cron') {
    const found: number[] = []
    for (
      let at = cronStart(timing, zone, from);
      at !== null && at < until && found.length < max;
      at = cronStart(timing, zone, at + 1)
    )
      found.push(at)
    return found
  }
  // Local times differ from UTC by less than a day.
  const readings =
    timing.kind === 'once'
      ? [startOf(timing)]
      : recurrence(timing, zone).between(readingAt(zone, from) - dayMs, readingAt(zone, until) + dayMs)
  return readings
    .filter(reading => !isExcluded(timing, reading))
    .map(reading => instantOfReading(zone, reading))
    .filter(at => at >= from && at < until)
    .slice(0, max)
}

function nextStart(timing: Timing, from: number): number | null {
  const zone = canonicalTimezone(timing.timezone)!
  if (timing.kind === 'cron') return cronStart(timing, zone, from)
  if (timing.kind === 'once') {
    const at = instantOfReading(zone, startOf(timing))
    return at >= from ? at : null
  }
  const rule = recurrence(timing, zone)
  for (let reading = rule.next(readingAt(zone, from) - dayMs); reading !== null; reading = rule.next(reading + 1)) {
    const at = instantOfReading(zone, reading)
    if (at > from + maxSearchMs) return null
    if (at >= from && !isExcluded(timing, reading)) return at
  }
  return null
}

function cronStart(timing: Timing, zone: string, from: number): number | null {
  const earliest = timing.startsAtLocal === null ? from : Math.max(from, instantOfReading(zone, startOf(timing)))
  const { next } = cron(timing, zone)
  for (let at = next(earliest - 1); at !== null && at <= from + maxSearchMs; at = next(at))
    if (!isExcluded(timing, readingAt(zone, at))) return at
  return null
}

const readingAt = (zone: string, at: number): Reading => wallReading(zone, at)

/** Converts a local time to UTC: the first pass if it occurs twice, the end of the gap if the clocks skip it. */
function instantOfReading(zone: string, reading: Reading): number {
  const found = instantOf(zone, reading, -Infinity)
  if (found && 'at' in found) return found.at
  const after = found && instantOf(zone, found.resumesAt, -Infinity)
  return after && 'at' in after ? after.at : reading
}

const startOf = ({ startsAtLocal }: Timing): Reading => Date.parse(`${startsAtLocal}Z`)

/** Whether an occurrence is excluded by its date or its local start time. */
function isExcluded({ exdates }: Timing, reading: Reading): boolean {
  if (exdates.length === 0) return false
  const text = new Date(reading).toISOString().slice(0, 19)
  return exdates.includes(text) || exdates.includes(text.slice(0, 10))
}

// LRU caches of parsed rules.
const maxCached = 2000
const rules = new Map<string, Recurrence>()
const crons = new Map<string, ReturnType<typeof parseCron>>()

const recurrence = (timing: Timing, zone: string): Recurrence =>
  cached(rules, `${zone}\n${timing.startsAtLocal}\n${timing.rrule}`, () =>
    recurrenceOf(timing.rrule!, startOf(timing), at => readingAt(zone, at)),
  )

const cron = (timing: Timing, zone: string): ReturnType<typeof parseCron> =>
  cached(crons, `${zone}\n${timing.cron}`, () => parseCron(timing.cron!, zone))

function cached<T>(cache: Map<string, T>, key: string, create: () => T): T {
  const entry = cache.get(key) ?? create()
  cache.delete(key)
  if (cache.size >= maxCached) cache.delete(cache.keys().next().value!)
  cache.set(key, entry)
  return entry
}
