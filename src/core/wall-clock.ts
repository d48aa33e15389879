/** A period in which a zone has the same offset: `from <= t < until`, in ms since the epoch. */
interface OffsetSpan {
  readonly from: number
  readonly until: number
  /** Added to UTC to get local time, in ms. */
  readonly offset: number
}

// Today's offsets are between -12 h and +14 h; local mean times before 1900 reach almost 16 h.
const MAX_OFFSET = 16 * 3_600_000

// Keyed by canonical zone name, so its size is limited by the tz database.
const spansByZone = new Map<string, OffsetSpan[]>()
// The epoch in each zone; other dates of the zone are derived from it.
const epochByZone = new Map<string, Temporal.ZonedDateTime>()

/**
 * Returns the name of a zone as spelled in the tz database; null for an unknown zone. Fixed offsets such as `+02:00` are not
 * accepted, because croner and systemd only accept names.
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
 * Returns the local time in `zone` (canonical, see canonicalTimezone) at `at`, as the ms since the epoch of the same date and
 * time in UTC.
 */
export function wallReading(zone: string, at: number): number {
  return at + spanAt(zone, at).offset
}

/**
 * Returns the first instant after `after` (ms since the epoch) with the local time `reading` in `zone` (see wallReading). If the
 * local time is skipped by a daylight saving change, `{ resumesAt }` is the first local time after the gap. Null if the local
 * time exists only at or before `after`.
 */
export function instantOf(zone: string, reading: number, after: number): { at: number } | { resumesAt: number } | null {
  let exists = false
  let span = spanAt(zone, reading - MAX_OFFSET)
  for (;;) {
    const at = reading - span.offset
    if (at >= span.from && at < span.until) {
      exists = true
      if (at > after) return { at }
    }
    // Later spans have later local times: stop at the first one that starts after `reading`.
    if (span.until > reading + MAX_OFFSET) return null
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
  // Creating a date from a zone name is 20 times slower than adding to an existing date.
  let source = epochByZone.get(zone)
  if (source === undefined) {
    source = Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone)
    epochByZone.set(zone, source)
  }
  const local = source.add({ milliseconds: at - source.epochMilliseconds })
  const offset = Math.round(local.offsetNanoseconds / 1e6)
  // "previous" is exclusive: add 1 ms to include a transition exactly at `at`.
  const from = local.add({ milliseconds: 1 }).getTimeZoneTransition('previous')?.epochMilliseconds ?? -Infinity
  const until = local.getTimeZoneTransition('next')?.epochMilliseconds ?? Infinity
  return { from, until, offset }
}
