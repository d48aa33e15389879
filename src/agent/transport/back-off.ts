/** Pauses after failed requests are between these (ms). */
const minMs = 1000
const maxMs = 300_000
/** A hub can ask for a pause of at most this (ms). */
const maxRetryAfterMs = 3_600_000

/**
 * The pause before the next attempt (ms): random up to a limit that doubles with each failure, so that agents don’t return all at once
 * after an outage. Not shorter than the hub asked for.
 * @param failures failed attempts in a row, from 1
 * @param random like `Math.random`
 */
export function pauseMs(failures: number, random: () => number, retryAfterMs: number | null = null): number {
  const limit = Math.min(minMs * 2 ** failures, maxMs)
  return Math.max(Math.round(minMs + random() * (limit - minMs)), Math.min(retryAfterMs ?? 0, maxRetryAfterMs))
}
