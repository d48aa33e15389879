import { and, count, eq, inArray } from 'drizzle-orm'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { findRow } from '../../../core/rows'
import { breakerView } from '../sending/breaker'
import { lastSuccess } from '../sending/delivery-rows'
import { endpointRows } from './view'
import type { WebhookEndpointHealthView } from './shapes'
import { webhookDeliveries } from '../deliveries/tables'

const waitingStates = ['pending', 'in_flight', 'retrying', 'held'] as const

/** @throws Problem 404 */
export async function endpointHealth(ctx: Ctx, id: string): Promise<WebhookEndpointHealthView> {
  const { read, clock } = ctx.hub
  const endpoint = await findRow(read, ctx, endpointRows, id)
  const rows = await read
    .select({ status: webhookDeliveries.status, n: count() })
    .from(webhookDeliveries)
    .where(
      and(
        eq(webhookDeliveries.workspaceId, ctx.workspaceId),
        inArray(webhookDeliveries.status, [...waitingStates]),
        eq(webhookDeliveries.endpointId, id),
      ),
    )
    .groupBy(webhookDeliveries.status)
  const waiting = new Map(rows.map(row => [row.status, row.n]))
  const [pending, in_flight, retrying, held] = waitingStates.map(state => waiting.get(state) ?? 0) as [
    number,
    number,
    number,
    number,
  ]
  return {
    breaker: breakerView(endpoint, clock.now()),
    consecutive_failures: endpoint.consecutiveFailures,
    failed_attempts: endpoint.failedAttempts,
    last_success_at: instant(await lastSuccess(read, id)),
    deliveries: { pending, in_flight, retrying, held },
  }
}
