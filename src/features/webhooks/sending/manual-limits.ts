import { refuseTooManyRequests } from '../../../access/limiter'
import type { Ctx } from '../../../core/ctx'

/**
 * Limits manual sends to five a minute per endpoint.
 * @throws Problem 429
 */
export const limitManualCalls = (
  ctx: Ctx,
  what: 'endpoint-tests' | 'endpoint-resends' | 'endpoint-recoveries',
  endpointId: string,
): void => refuseTooManyRequests(ctx, what, endpointId, 5)
