import { eq } from 'drizzle-orm'
import { target } from '../../core/audit'
import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { locking } from '../../core/db/dialect'
import { requireMatch } from '../../core/if-match'
import { conflict } from '../../core/problem'
import { deliveryOf } from './deliveries'
import { deliveryView } from './delivery-view'
import type { WebhookDeliveryView } from './delivery-shapes'
import { isFinal, webhookAttempts, webhookDeliveries } from './tables'

/**
 * Removes from the log what a receiver answered, headers and bodies, and the body of a test message. The delivery, its tries and
 * their outcomes stay; the body of an event is the event's and stays too.
 * @throws Problem 404, 409 while it has not ended, 412
 */
export async function expungeDelivery(ctx: Ctx, id: string): Promise<WebhookDeliveryView> {
  return await change(ctx, 'webhooks.delivery.expunge', async tx => {
    await deliveryOf(tx, ctx, id)
    // Held until this is done: a resend at the same moment would write an answer behind it.
    await locking(tx.select({ id: webhookDeliveries.id }).from(webhookDeliveries).where(eq(webhookDeliveries.id, id)))
    const row = await deliveryOf(tx, ctx, id)
    requireMatch(ctx, row)
    if (!isFinal(row.status)) throw conflict('The delivery has not ended: what is still to be received could not be removed.')
    const now = ctx.hub.clock.now()
    await tx.update(webhookAttempts).set({ response: null }).where(eq(webhookAttempts.deliveryId, id))
    const [changed] = await tx
      .update(webhookDeliveries)
      .set({ testBody: null, expungedAt: now, version: row.version + 1, updatedAt: now })
      .where(eq(webhookDeliveries.id, id))
      .returning()
    return {
      result: deliveryView(changed!),
      target: target('webhook_delivery', { id, name: row.event }),
      before: deliveryView(row),
      after: deliveryView(changed!),
    }
  })
}
