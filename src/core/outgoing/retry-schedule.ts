import { retryAfterMs } from '../net/retry-after'

/**
 * Seconds to wait before each attempt, from the end of the previous one: the ten attempts that Standard Webhooks 1.0.0
 * recommends, the first immediately and the last 75 h 35 min 5 s later.
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

/** Limits of a custom schedule: the number of retries, and their total delay of 8 days in seconds. */
export const maxRetries = 20
export const maxScheduleSeconds = 8 * 86_400

/** A failed attempt, and the input for scheduling the next one. */
interface FailedAttempt {
  /** Number of the failed attempt, from 1. */
  attempt: number
  /** The current time, in milliseconds since 1970. */
  nowMs: number
  /** Returns a number from 0 up to 1, like `Math.random`. */
  random: () => number
  /** `Retry-After` header of the response, if any. */
  retryAfter?: string | null
  /** Seconds before each attempt, including the first; defaults to the standard schedule. */
  schedule?: readonly number[]
}

/**
 * Returns when to retry, in milliseconds since 1970, or null after the last attempt. Never earlier than the schedule or
 * `Retry-After` (honored up to 24 hours). Adds a jitter of up to 10% of the delay, between 1 second and 15 minutes, to spread
 * retries.
 * @throws RangeError if `attempt` is not an integer of at least 1
 */
export function nextRetry({ attempt, nowMs, random, retryAfter, schedule = standardSchedule }: FailedAttempt): number | null {
  if (!Number.isInteger(attempt) || attempt < 1) throw new RangeError('Attempts are counted from 1.')
  const delaySeconds = schedule[attempt]
  if (delaySeconds === undefined) return null
  const retryAfterDelayMs = Math.min(retryAfterMs(retryAfter ?? '', nowMs) ?? 0, maxRetryAfterMs)
  const waitMs = Math.max(delaySeconds * 1_000, retryAfterDelayMs)
  const jitterMs = Math.min(Math.max(waitMs / 10, 1_000), 15 * 60_000)
  return Math.ceil(nowMs + waitMs + random() * jitterMs)
}

const maxRetryAfterMs = 24 * 3_600_000

/** Pauses after a run that failed on our side: doubling from 1 s to 5 min, without a limit, because no delivery may be lost. */
export const unlimitedBackoff = (attempts: number): number => Math.min(1_000 * 2 ** (attempts - 1), 300_000)
