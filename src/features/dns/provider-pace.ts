import { limiterOf } from '../../access/limiter'
import type { Ctx } from '../../core/ctx'
import { tryAgain } from '../../core/problem'

/**
 * Holds what callers make the hub ask a provider to a number a minute: it must not become a way to flood somebody.
 * @throws Problem 429
 */
export function refuseAskedTooOften(
  ctx: Ctx,
  what: 'provider-checks' | 'provider-zones',
  providerId: string,
  quota: number,
): void {
  const verdict = limiterOf(ctx.hub).take([{ name: what, key: providerId, quota, windowSeconds: 60 }], ctx.hub.clock.now())
  if (!verdict.allowed) throw tryAgain(verdict.retryAfterSeconds, { 'violated-policies': verdict.violated })
}
