import { Type, type Static } from '@sinclair/typebox'
import { and, count, eq, inArray } from 'drizzle-orm'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { MaybeInstant, Shape, Words } from '../../core/shapes'
import { breakerView } from './breaker'
import { lastSuccess } from './delivery-rows'
import { endpointOf } from './endpoints'
import { webhookDeliveries } from './tables'

const waitingStates = ['pending', 'in_flight', 'retrying', 'held'] as const

const number = (description: string) => Type.Integer({ minimum: 0, description })

export const WebhookEndpointHealth = Shape(
  {
    breaker: Shape(
      {
        state: Words(['closed', 'open', 'half_open'], {
          description: '`open`: nothing is sent until then. `half_open`: one delivery goes out to see whether it is taken.',
        }),
        until: MaybeInstant({ description: 'When an open breaker becomes half open; null otherwise.' }),
      },
      { description: 'Closed while the endpoint takes what it is sent.' },
    ),
    refused_in_a_row: number('Tries in a row without an answer, or answered 429 or 5xx; five open the breaker.'),
    failed_attempts: number(
      'Tries that failed since the last one that was taken; resends by hand and recoveries are not counted.',
    ),
    last_success_at: MaybeInstant({ description: 'When a message was last taken, as far as the log reaches; null if never.' }),
    deliveries: Shape(
      {
        pending: number('Waiting for their first try.'),
        in_flight: number('Being tried.'),
        retrying: number('Waiting for another try.'),
        held: number('Kept back until the endpoint may be sent to.'),
      },
      { description: 'What has not come to an end, by state.' },
    ),
  },
  {
    $id: 'WebhookEndpointHealth',
    description: 'How an endpoint does, and what waits for it.',
    examples: [
      {
        breaker: { state: 'open', until: '2026-11-21T10:00:30.000Z' },
        refused_in_a_row: 5,
        failed_attempts: 5,
        last_success_at: '2026-11-21T09:41:12.000Z',
        deliveries: { pending: 120, in_flight: 0, retrying: 5, held: 0 },
      },
    ],
  },
)

export type WebhookEndpointHealthView = Static<typeof WebhookEndpointHealth>

/**
 * How an endpoint does: why nothing arrives, if nothing does.
 * @throws Problem 404
 */
export async function endpointHealth(ctx: Ctx, id: string): Promise<WebhookEndpointHealthView> {
  const { read, clock } = ctx.hub
  const endpoint = await endpointOf(read, ctx, id)
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
    refused_in_a_row: endpoint.refusedInARow,
    failed_attempts: endpoint.failedAttempts,
    last_success_at: instant(await lastSuccess(read, id)),
    deliveries: { pending, in_flight, retrying, held },
  }
}
