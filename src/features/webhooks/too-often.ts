import { limiterOf } from '../../access/limiter'
import type { Ctx } from '../../core/ctx'
import { tryAgain } from '../../core/problem'

/**
 * Holds what people send by hand to five a minute and receiver: it must not become a way to flood somebody.
 * @throws Problem 429
 */
export function refuseTooOften(
  ctx: Ctx,
  what: 'endpoint-tests' | 'endpoint-resends' | 'endpoint-recoveries' | 'stream-tests',
  endpointId: string,
): void {
  const verdict = limiterOf(ctx.hub).take([{ name: what, key: endpointId, quota: 5, windowSeconds: 60 }], ctx.hub.clock.now())
  if (!verdict.allowed) throw tryAgain(verdict.retryAfterSeconds, { 'violated-policies': verdict.violated })
}
