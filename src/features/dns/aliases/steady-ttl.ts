/** A TTL as it is told, and what was seen of it since. */
export interface SteadyTtl {
  /** Seconds. */
  ttl: number
  /** The highest that was seen since, below `ttl`. */
  highest: number
  /** When `ttl` was seen or taken (ms UTC). */
  since: number
}

const patienceSeconds = 60

/**
 * The TTL of a target by what resolvers tell of it, which is what is left of it in their memory: the highest is the one that the target
 * has, and a lower one is believed once none as high was seen for as long as it lives.
 */
export function steadyTtl(before: SteadyTtl | null, seen: number, now: number): SteadyTtl {
  if (!before || seen >= before.ttl) return { ttl: seen, highest: 0, since: now }
  const highest = Math.max(before.highest, seen)
  const isOver = now - before.since > (before.ttl + patienceSeconds) * 1000
  return isOver ? { ttl: highest, highest: 0, since: now } : { ...before, highest }
}
