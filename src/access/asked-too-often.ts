import type { Ctx } from '../core/ctx'
import { tryAgain } from '../core/problem'
import { limiterOf } from './limiter'

/**
 * Holds what callers make the hub send or ask elsewhere to a number a minute: it must not become a way to flood somebody.
 * @param what names the policy that was violated
 * @param id of what is asked or sent to
 * @throws Problem 429
 */
export function refuseAskedTooOften(ctx: Ctx, what: string, id: string, quota: number): void {
  const verdict = limiterOf(ctx.hub).take([{ name: what, key: id, quota, windowSeconds: 60 }], ctx.hub.clock.now())
  if (!verdict.allowed) throw tryAgain(verdict.retryAfterSeconds, { 'violated-policies': verdict.violated })
}
