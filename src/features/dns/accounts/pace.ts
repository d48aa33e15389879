import { limiterOf } from '../../../access/limiter'
import type { Ctx } from '../../../core/ctx'
import { tryAgain } from '../../../core/problem'

/**
 * Holds what callers make the hub ask other servers to a number a minute: it must not become a way to flood somebody.
 * @param id of the provider or zone
 * @throws Problem 429
 */
export function refuseAskedTooOften(
  ctx: Ctx,
  what: 'provider-checks' | 'provider-zones' | 'zone-imports' | 'zone-refreshes',
  id: string,
  quota: number,
): void {
  const verdict = limiterOf(ctx.hub).take([{ name: what, key: id, quota, windowSeconds: 60 }], ctx.hub.clock.now())
  if (!verdict.allowed) throw tryAgain(verdict.retryAfterSeconds, { 'violated-policies': verdict.violated })
}
