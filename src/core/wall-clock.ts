/** A stretch of time in which a zone keeps one offset: `from <= t < until`, all in ms since the epoch. */
interface OffsetSpan {
  readonly from: number
  readonly until: number
  /** What is added to UTC to get the zone's local reading, in ms. */
  readonly offset: number
}

// Offsets lie between -12 h and +14 h today; local mean times before 1900 reach almost 16 h.
const WIDEST_OFFSET = 16 * 3_600_000

// Keyed by the zone's canonical spelling, so it holds at most one list for each zone of the tz database.
const spansByZone = new Map<string, OffsetSpan[]>()
// The epoch as a date of each zone, from which every other date of the zone is reached.
const epochByZone = new Map<string, Temporal.ZonedDateTime>()

/**
 * The zone's name in the spelling of the tz database, or null when there is no such zone.
 * Fixed offsets such as `+02:00` are no zones here: croner and systemd take names only.
 */
export function canonicalTimezone(name: string): string | null {
  if (!/^[a-z][a-z0-9_+/-]*$/i.test(name)) return null
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/**
 * What the clocks of `zone` (canonical, see canonicalTimezone) show at `at`: the local date and time
 * written as the ms since the epoch that the same reading would have in UTC.
 */
export function wallReading(zone: string, at: number): number {
  return at + spanAt(zone, at).offset
}

/**
 * The first instant after `after` (ms since the epoch) at which the clocks of `zone` show `reading`
 * (see wallReading). When clocks are set forward over the reading it never comes: then `{ resumesAt }`
 * is the first reading shown after the gap. Null when the reading exists only at or before `after`.
 */
export function instantOf(zone: string, reading: number, after: number): { at: number } | { resumesAt: number } | null {
  let exists = false
  let span = spanAt(zone, reading - WIDEST_OFFSET)
  for (;;) {
    const at = reading - span.offset
    if (at >= span.from && at < span.until) {
      exists = true
      if (at > after) return { at }
    }
    // A later span shows later readings from its start on; the first one that starts past ours ends the search.
    if (span.until > reading + WIDEST_OFFSET) return null
    const next = spanAt(zone, span.until)
    if (!exists && at >= span.until && reading < next.from + next.offset) return { resumesAt: next.from + next.offset }
    span = next
  }
}

function spanAt(zone: string, at: number): OffsetSpan {
  const known = spansByZone.get(zone) ?? []
  if (known.length === 0) spansByZone.set(zone, known)
  let low = 0
  let high = known.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (known[middle]!.until <= at) low = middle + 1
    else high = middle
  }
  const found = known[low]
  if (found !== undefined && found.from <= at) return found
  const span = readSpan(zone, at)
  known.splice(low, 0, span)
  return span
}

function readSpan(zone: string, at: number): OffsetSpan {
  // Naming the zone costs twenty times more than moving a date that already knows it.
  let source = epochByZone.get(zone)
  if (source === undefined) {
    source = Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone)
    epochByZone.set(zone, source)
  }
  const local = source.add({ milliseconds: at - source.epochMilliseconds })
  const offset = Math.round(local.offsetNanoseconds / 1e6)
  // "previous" is strictly before, so that a transition exactly at `at` needs a look from 1 ms later.
  const from = local.add({ milliseconds: 1 }).getTimeZoneTransition('previous')?.epochMilliseconds ?? -Infinity
  const until = local.getTimeZoneTransition('next')?.epochMilliseconds ?? Infinity
  return { from, until, offset }
}
