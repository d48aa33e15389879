import type { Ctx } from '../core/ctx'
import type { Hub } from '../core/hub'
import type { Problem } from '../core/problem'
import { tooManyRequests } from '../core/problem'
import { RateLimiter, type Bucket, type RateVerdict } from './rate-limits'

const limiters = new WeakMap<Hub, RateLimiter>()

/** The rate limiter of this process. Each hub on one database counts separately. */
export function limiterOf(hub: Hub): RateLimiter {
  let limiter = limiters.get(hub)
  if (!limiter) limiters.set(hub, (limiter = new RateLimiter()))
  return limiter
}

/** Counts a request against limits. @throws Problem 429 */
export function countRequest(hub: Hub, buckets: readonly Bucket[]): void {
  const verdict = limiterOf(hub).take(buckets, hub.clock.now())
  if (!verdict.allowed) throw rateLimited(verdict)
}

/** The problem for a request over its rate limit, with the violated policies. */
export const rateLimited = (verdict: RateVerdict): Problem =>
  tooManyRequests(verdict.retryAfterSeconds, { 'violated-policies': verdict.violated })

/**
 * Runs something whose failures count against limits. It is counted before, so that failures at the same time count too, and
 * refunded if it succeeds.
 * @throws Problem 429, and whatever `attempt` throws
 */
export async function limitFailures<T>(hub: Hub, buckets: readonly Bucket[], attempt: () => Promise<T>): Promise<T> {
  countRequest(hub, buckets)
  const result = await attempt()
  limiterOf(hub).refund(buckets, hub.clock.now())
  return result
}

/**
 * Limits how often callers can make the hub send messages or requests to others, so that it cannot be used to flood someone.
 * @param policy name of the rate limit policy
 * @param id of the resource that is counted
 * @throws Problem 429
 */
export function refuseTooManyRequests(ctx: Ctx, policy: string, id: string, quota: number): void {
  countRequest(ctx.hub, [{ name: policy, key: id, quota, windowSeconds: 60 }])
}

/**
 * Runs a check of a credential that can be guessed. Over the limit, the check does not run: a correct guess must not be
 * recognizable, and an expensive check must not be free. Attempts are counted before the check, so that concurrent attempts gain
 * nothing, and refunded if the check succeeds.
 * @param slowing over this limit, attempts are delayed, ten at a time; more are refused
 * @throws Problem 429, and whatever the check throws, which counts as a failed attempt
 */
export async function limitGuessing<T>(hub: Hub, buckets: Bucket[], check: () => Promise<T>, slowing?: Bucket): Promise<T> {
  countRequest(hub, buckets)
  const limiter = limiterOf(hub)
  const slowed = slowing ? [slowing] : []
  if (limiter.take(slowed, hub.clock.now()).allowed) {
    const result = await check()
    limiter.refund([...buckets, ...slowed], hub.clock.now())
    return result
  }
  const waiting = waitingAt(hub)
  const key = `${slowing!.name} ${slowing!.key}`
  const count = waiting.get(key) ?? 0
  if (count >= maxWaiting) {
    limiter.refund(buckets, hub.clock.now())
    throw tooManyRequests(slowedMs / 1000, { 'violated-policies': [slowing!.name] })
  }
  waiting.set(key, count + 1)
  try {
    await new Promise<void>(resolve => hub.clock.after(slowedMs, resolve))
    const result = await check()
    limiter.refund(buckets, hub.clock.now())
    return result
  } finally {
    const left = waiting.get(key)! - 1
    if (left > 0) waiting.set(key, left)
    else waiting.delete(key)
  }
}

// Delayed attempts by what they count against.
const waitings = new WeakMap<Hub, Map<string, number>>()
function waitingAt(hub: Hub): Map<string, number> {
  let waiting = waitings.get(hub)
  if (!waiting) waitings.set(hub, (waiting = new Map()))
  return waiting
}
const maxWaiting = 10

// A user at a new device notices little of it.
const slowedMs = 5000
