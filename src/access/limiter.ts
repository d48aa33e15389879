import type { Hub } from '../core/hub'
import { tryAgain } from '../core/problem'
import { RateLimiter, type Bucket } from './rate-limits'

const limiters = new WeakMap<Hub, RateLimiter>()

/** The rate limits of this process: each hub of one database counts for itself. */
export function limiterOf(hub: Hub): RateLimiter {
  let limiter = limiters.get(hub)
  if (!limiter) limiters.set(hub, (limiter = new RateLimiter()))
  return limiter
}

/**
 * Runs the check of a credential that can be guessed. Over the limit it is not run at all: a right guess must not show, and a
 * check that is dear must not be had for nothing. It is counted before it runs, so that many at once get no further than one
 * after another, and what was right is taken back.
 * @throws Problem 429, and whatever the check throws, which then counts as wrong
 */
export async function unlessGuessing<T>(hub: Hub, buckets: Bucket[], check: () => Promise<T>): Promise<T> {
  const limiter = limiterOf(hub)
  const verdict = limiter.take(buckets, hub.clock.now())
  if (!verdict.allowed) throw tryAgain(verdict.retryAfterSeconds, { 'violated-policies': verdict.violated })
  const right = await check()
  limiter.giveBack(buckets, hub.clock.now())
  return right
}
