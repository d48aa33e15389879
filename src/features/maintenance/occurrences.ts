import { cronOf } from '../../core/cron'
import { canonicalTimezone, instantOf, wallReading } from '../../core/wall-clock'
import { recurrenceOf, type Reading, type Recurrence } from './recurrence'

/** When a window is in force, as it is kept. */
export interface Timing {
  kind: 'once' | 'rrule' | 'cron'
  startsAtLocal: string | null
  timezone: string
  durationSeconds: number
  rrule: string | null
  cron: string | null
  exdates: readonly string[]
  startedAt: number | null
  startedUntil: number | null
  stoppedAt: number | null
}

/** A time in which a window is in force: `from <= t < until`, ms UTC. */
export interface Occurrence {
  from: number
  until: number
  /** Whether it was begun by hand. */
  byHand: boolean
}

/**
 * The occurrences that are in force at some time from `from` on and before `until` (ms UTC), in order, at most so many. A local time
 * that the clocks skip comes when they have been set forward, one that they show twice comes the first time.
 */
export function occurrencesBetween(timing: Timing, from: number, until: number, most: number): Occurrence[] {
  const length = timing.durationSeconds * 1000
  const planned = startsBetween(timing, from - length + 1, until, most + 1).map(start => plannedOf(timing, start))
  const { startedAt, startedUntil } = timing
  const byHand = startedAt === null ? [] : [{ from: startedAt, until: startedUntil!, byHand: true }]
  return [...planned, ...byHand]
    .filter(one => one.until > from && one.from < until && one.until > one.from)
    .sort((a, b) => a.from - b.from || a.until - b.until)
    .slice(0, most)
}

/** The first occurrences that begin after `after` (ms UTC), at most so many. */
export function occurrencesAfter(timing: Timing, after: number, most: number): Occurrence[] {
  const found: Occurrence[] = []
  for (let from = after + 1; found.length < most; from = found.at(-1)!.from + 1) {
    const next = nextStart(timing, from)
    if (next === null) break
    found.push(plannedOf(timing, next))
  }
  return found
}

const mostNext = 5

/** The next five occurrences (see occurrencesAfter), remembered until the first of them begins. @param now ms UTC */
export function nextOccurrences(timing: Timing, now: number): Occurrence[] {
  const { kind, startsAtLocal, timezone, durationSeconds, rrule, cron, exdates, stoppedAt } = timing
  const key = JSON.stringify([kind, startsAtLocal, timezone, durationSeconds, rrule, cron, exdates, stoppedAt])
  const known = nexts.get(key)
  if (known && now >= known.at && (known.next.length === 0 || now < known.next[0]!.from)) return known.next
  nexts.delete(key)
  return kept(nexts, key, () => ({ at: now, next: occurrencesAfter(timing, now, mostNext) })).next
}

const nexts = new Map<string, { at: number; next: Occurrence[] }>()

/** What a stop by hand cut short is over since then. */
function plannedOf({ durationSeconds, stoppedAt }: Timing, from: number): Occurrence {
  const until = from + durationSeconds * 1000
  return { from, until: stoppedAt !== null && from <= stoppedAt && stoppedAt < until ? stoppedAt : until, byHand: false }
}

const dayMs = 86_400_000
// Of a window that takes place no more than every few years.
const farthestMs = 30 * 366 * dayMs

function startsBetween(timing: Timing, from: number, until: number, most: number): number[] {
  const zone = canonicalTimezone(timing.timezone)!
  if (timing.kind === 'cron') {
    const found: number[] = []
    for (
      let at = cronStart(timing, zone, from);
      at !== null && at < until && found.length < most;
      at = cronStart(timing, zone, at + 1)
    )
      found.push(at)
    return found
  }
  // Readings run ahead of and behind instants by less than a day.
  const readings =
    timing.kind === 'once'
      ? [startOf(timing)]
      : recurrence(timing, zone).between(readingAt(zone, from) - dayMs, readingAt(zone, until) + dayMs)
  return readings
    .filter(reading => !isExcluded(timing, reading))
    .map(reading => shownAt(zone, reading))
    .filter(at => at >= from && at < until)
    .slice(0, most)
}

function nextStart(timing: Timing, from: number): number | null {
  const zone = canonicalTimezone(timing.timezone)!
  if (timing.kind === 'cron') return cronStart(timing, zone, from)
  if (timing.kind === 'once') {
    const at = shownAt(zone, startOf(timing))
    return at >= from ? at : null
  }
  const rule = recurrence(timing, zone)
  for (let reading = rule.next(readingAt(zone, from) - dayMs); reading !== null; reading = rule.next(reading + 1)) {
    const at = shownAt(zone, reading)
    if (at > from + farthestMs) return null
    if (at >= from && !isExcluded(timing, reading)) return at
  }
  return null
}

function cronStart(timing: Timing, zone: string, from: number): number | null {
  const begins = timing.startsAtLocal === null ? from : Math.max(from, shownAt(zone, startOf(timing)))
  const { next } = cron(timing, zone)
  for (let at = next(begins - 1); at !== null && at <= from + farthestMs; at = next(at))
    if (!isExcluded(timing, readingAt(zone, at))) return at
  return null
}

const readingAt = (zone: string, at: number): Reading => wallReading(zone, at)

/** When the clocks of a zone first show a reading, or, where they skip it, when they have been set forward. */
function shownAt(zone: string, reading: Reading): number {
  const found = instantOf(zone, reading, -Infinity)
  if (found && 'at' in found) return found.at
  const after = found && instantOf(zone, found.resumesAt, -Infinity)
  return after && 'at' in after ? after.at : reading
}

const startOf = ({ startsAtLocal }: Timing): Reading => Date.parse(`${startsAtLocal}Z`)

/** Whether somebody took this one out: by its day, or by the time at which it begins. */
function isExcluded({ exdates }: Timing, reading: Reading): boolean {
  if (exdates.length === 0) return false
  const text = new Date(reading).toISOString().slice(0, 19)
  return exdates.includes(text) || exdates.includes(text.slice(0, 10))
}

// Rules that were read, the least recently used first.
const mostRules = 2000
const rules = new Map<string, Recurrence>()
const crons = new Map<string, ReturnType<typeof cronOf>>()

const recurrence = (timing: Timing, zone: string): Recurrence =>
  kept(rules, `${zone}\n${timing.startsAtLocal}\n${timing.rrule}`, () =>
    recurrenceOf(timing.rrule!, startOf(timing), at => readingAt(zone, at)),
  )

const cron = (timing: Timing, zone: string): ReturnType<typeof cronOf> =>
  kept(crons, `${zone}\n${timing.cron}`, () => cronOf(timing.cron!, zone))

function kept<T>(among: Map<string, T>, key: string, make: () => T): T {
  const found = among.get(key) ?? make()
  among.delete(key)
  if (among.size >= mostRules) among.delete(among.keys().next().value!)
  among.set(key, found)
  return found
}
