import { refuseAskedTooOften } from '../../access/asked-too-often'
import type { Ctx } from '../../core/ctx'

/**
 * Holds what people send by hand to five a minute and receiver.
 * @throws Problem 429
 */
export const refuseTooOften = (
  ctx: Ctx,
  what: 'endpoint-tests' | 'endpoint-resends' | 'endpoint-recoveries' | 'stream-tests',
  endpointId: string,
): void => refuseAskedTooOften(ctx, what, endpointId, 5)
