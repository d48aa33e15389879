import { and, gt, inArray } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import type { Delivery } from './delivery-jobs'
import { webhookEndpoints } from './tables'

/** Until when (ms UTC) the open breakers of endpoints hold back what waits for them, by endpoint. */
export type OpenBreakers = ReadonlyMap<string, number>

const waits = ({ status }: Delivery): boolean => status === 'pending' || status === 'retrying'

/**
 * The open breakers behind which some deliveries wait. It is looked up where deliveries are shown: an endpoint that refuses may have
 * ten thousand of them, which are not written each time its breaker opens.
 */
export async function openBreakers(ctx: Ctx, rows: readonly Delivery[]): Promise<OpenBreakers> {
  const ids = [...new Set(rows.filter(waits).map(row => row.endpointId))]
  if (ids.length === 0) return new Map()
  const open = await ctx.hub.read
    .select({ id: webhookEndpoints.id, until: webhookEndpoints.breakerUntil })
    .from(webhookEndpoints)
    .where(and(inArray(webhookEndpoints.id, ids), gt(webhookEndpoints.breakerUntil, ctx.hub.clock.now())))
  return new Map(open.map(row => [row.id, row.until!]))
}

/** A delivery with what holds it back; one whose next try comes later anyway waits for that. */
export function behindBreaker(row: Delivery, breakers: OpenBreakers): Delivery {
  const until = breakers.get(row.endpointId)
  if (until === undefined || !waits(row) || (row.nextAttemptAt ?? 0) >= until) return row
  return { ...row, reason: 'breaker_open', nextAttemptAt: until }
}
