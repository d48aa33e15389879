/** The estimated TTL of a record that is only seen through caches. */
export interface StableTtl {
  /** Seconds. */
  ttl: number
  /** Highest lower TTL seen since then. */
  highest: number
  /** When `ttl` was last seen or adopted (ms UTC). */
  since: number
}

const graceSeconds = 60

/**
 * Estimates the TTL of a target from resolver responses, which contain the remaining TTL of their cache entry. The highest TTL
 * seen is the real one. A lower TTL is adopted once the current one wasn’t seen for as long as it lasts.
 */
export function stableTtl(before: StableTtl | null, seen: number, now: number): StableTtl {
  if (!before || seen >= before.ttl) return { ttl: seen, highest: 0, since: now }
  const highest = Math.max(before.highest, seen)
  const isOutdated = now - before.since > (before.ttl + graceSeconds) * 1000
  return isOutdated ? { ttl: highest, highest: 0, since: now } : { ...before, highest }
}
