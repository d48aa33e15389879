import { eq } from 'drizzle-orm'
import { workspaces } from '../../access/tables'
import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { eventKind, type EventKind } from '../../core/events'
import { newId } from '../../core/ids'
import { closeBreaker } from './breaker'
import type { Delivery } from './delivery-jobs'
import { attemptView, deliveryView } from './delivery-view'
import { endpointOf, endpointTarget } from './endpoints'
import { post } from './post'
import type { WebhookDeliveryDetail } from './delivery-shapes'
import { heldStill } from './standing'
import { webhookAttempts, webhookDeliveries } from './tables'
import { refuseTooOften } from './too-often'

/**
 * Sends an endpoint the example of a kind, once and at once, also while it is paused or disabled, and tells what came of it.
 * The receiver sees X-Service-Test: 1 and a message id of its own. A test that is taken closes the endpoint's breaker, since it proves
 * that the endpoint is well; otherwise how it is answered has no effect on the endpoint.
 * @throws Problem 404, 429
 */
export async function sendTest(ctx: Ctx, endpointId: string, kind?: EventKind): Promise<WebhookDeliveryDetail> {
  const { hub, workspaceId } = ctx
  const endpoint = await endpointOf(hub.read, ctx, endpointId)
  refuseTooOften(ctx, 'endpoint-tests', endpointId)
  const event = kind ?? endpoint.events[0]!
  const body = JSON.stringify({ event, data: eventKind(event)!.example })
  const [workspace] = await hub.read
    .select({ policy: workspaces.networkPolicy })
    .from(workspaces)
    .where(eq(workspaces.id, workspaceId))
  const createdAt = hub.clock.now()
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
    turn: null,
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
  const tried = await post(hub, { delivery: draft, endpoint, body, trigger: 'test', policy: workspace!.policy })
  return await change(ctx, 'webhooks.endpoint.test', async tx => {
    const now = hub.clock.now()
    if (tried.reason === null) {
      const standing = await heldStill(tx, endpointId)
      if (standing && (standing.refusedInARow > 0 || standing.breakerUntil !== null)) await closeBreaker(tx, standing)
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
