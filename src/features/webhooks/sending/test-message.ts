import { storedPolicy } from '../../../access/network-policy'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { eventKind } from '../../event-kinds'
import { newId } from '../../../core/ids'
import { findRow } from '../../../core/rows'
import { closeBreaker } from './breaker'
import type { Delivery } from './delivery-jobs'
import { attemptView, deliveryView } from '../deliveries/view'
import type { WebhookTestInput } from '../endpoints/shapes'
import { endpointRows, endpointTarget } from '../endpoints/view'
import { exampleDataAt } from './example-data'
import { post } from './post'
import type { WebhookDeliveryDetail } from '../deliveries/shapes'
import { lockEndpoint } from './holds'
import { webhookAttempts, webhookDeliveries } from '../deliveries/tables'
import { limitManualCalls } from './manual-limits'

/**
 * Sends the example of an event kind, with current dates, to an endpoint once, even if it is inactive or disabled, and returns the result. The message
 * has the header X-Service-Test: 1 and its own message ID. A successful test closes the breaker, because it shows that the
 * endpoint works; a failed one has no effect on the endpoint.
 * @throws Problem 404, 429
 */
export async function sendTest(ctx: Ctx, endpointId: string, input: WebhookTestInput): Promise<WebhookDeliveryDetail> {
  const { hub, workspaceId } = ctx
  const endpoint = await findRow(hub.read, ctx, endpointRows, endpointId)
  limitManualCalls(ctx, 'endpoint-tests', endpointId)
  const event = input.event ?? endpoint.events[0]!
  const policy = await storedPolicy(hub.read, workspaceId)
  const createdAt = hub.clock.now()
  const body = JSON.stringify({ event, data: exampleDataAt(eventKind(event)!, createdAt) })
  const draft: Delivery = {
    id: newId('dlv'),
    workspaceId,
    endpointId,
    eventId: null,
    messageId: newId('msg'),
    event,
    resourceType: null,
    resourceId: null,
    sequence: null,
    orderPosition: null,
    occurredAt: createdAt,
    testBody: body,
    status: 'in_flight',
    reason: null,
    attemptCount: 0,
    lastStatusCode: null,
    lastErrorClass: null,
    nextAttemptAt: null,
    finishedAt: null,
    endedAs: null,
    expungedAt: null,
    version: 1,
    createdAt,
    updatedAt: createdAt,
  }
  const tried = await post(hub, { delivery: draft, endpoint, body, trigger: 'test', policy })
  return await change(ctx, 'webhooks.endpoint.test', async tx => {
    const now = hub.clock.now()
    if (tried.reason === null) {
      const locked = await lockEndpoint(tx, endpointId)
      if (locked && (locked.consecutiveFailures > 0 || locked.breakerUntil !== null)) await closeBreaker(tx, locked)
    }
    const [row] = await tx
      .insert(webhookDeliveries)
      .values({
        ...draft,
        status: tried.reason === null ? 'delivered' : 'exhausted',
        reason: tried.reason,
        attemptCount: 1,
        lastStatusCode: tried.row.statusCode ?? null,
        lastErrorClass: tried.row.errorClass ?? null,
        finishedAt: now,
        updatedAt: now,
      })
      .returning()
    const [attempt] = await tx
      .insert(webhookAttempts)
      .values({ id: newId('att'), deliveryId: row!.id, ...tried.row })
      .returning()
    const result = { ...deliveryView(row!), attempts: [attemptView(attempt!, body)] }
    return { result, target: endpointTarget(endpoint), reason: `${event}: ${tried.reason ?? 'delivered'}` }
  })
}
