import type { Hub } from '../core/hub'
import { RateLimiter } from './rate-limits'

const limiters = new WeakMap<Hub, RateLimiter>()

/** The rate limits of this process: each hub of one database counts for itself. */
export function limiterOf(hub: Hub): RateLimiter {
  let limiter = limiters.get(hub)
  if (!limiter) limiters.set(hub, (limiter = new RateLimiter()))
  return limiter
}
