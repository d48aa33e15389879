import { retryAfterMs } from '../../core/net/retry-after'

/**
 * Seconds to wait before each try, counted from the end of the try before: the ten tries Standard Webhooks 1.0.0
 * recommends, the first at once, the last 75 h 35 min 5 s after it.
 */
export const standardSchedule: readonly number[] = [
  0,
  5,
  5 * 60,
  30 * 60,
  2 * 3_600,
  5 * 3_600,
  10 * 3_600,
  14 * 3_600,
  20 * 3_600,
  24 * 3_600,
]

/** Most retries an endpoint may ask for, and most seconds they may spread over: 8 days. */
export const mostRetries = 20
export const longestSchedule = 8 * 86_400

/** A try that failed, and what is needed to choose the time of the next. */
export interface FailedTry {
  /** Number of the try that just failed: 1 for the first. */
  attempt: number
  /** The present time, in milliseconds since 1970. */
  nowMs: number
  /** A number from 0 up to 1, as `Math.random` gives. */
  random: () => number
  /** The receiver's `Retry-After` header, if it sent one. */
  retryAfter?: string | null
  /** Seconds before each try, that of the first included; the standard ten when absent. */
  schedule?: readonly number[]
}

/**
 * When to try again, in milliseconds since 1970, or null when the last try has been made.
 * Never earlier than the schedule says nor than `Retry-After` asks for (obeyed up to 24 hours); later by up to a tenth
 * of the wait, that tenth being held between 1 second and 15 minutes, so that what failed together does not return together.
 * @throws RangeError when `attempt` is not a whole number of at least 1.
 */
export function nextRetry({ attempt, nowMs, random, retryAfter, schedule = standardSchedule }: FailedTry): number | null {
  if (!Number.isInteger(attempt) || attempt < 1) throw new RangeError('Tries are counted from 1.')
  const delaySeconds = schedule[attempt]
  if (delaySeconds === undefined) return null
  const askedMs = Math.min(retryAfterMs(retryAfter ?? '', nowMs) ?? 0, longestRetryAfterMs)
  const waitMs = Math.max(delaySeconds * 1_000, askedMs)
  const spreadMs = Math.min(Math.max(waitMs / 10, 1_000), 15 * 60_000)
  return Math.ceil(nowMs + waitMs + random() * spreadMs)
}

const longestRetryAfterMs = 24 * 3_600_000
