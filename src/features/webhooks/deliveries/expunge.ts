import { eq } from 'drizzle-orm'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { conflict } from '../../../core/problem'
import { changedRow, lockRow, saveRow } from '../../../core/rows'
import { deliveryRows } from './deliveries'
import { deliveryView } from './view'
import type { WebhookDeliveryView } from './shapes'
import { isFinal, webhookAttempts } from './tables'

/**
 * Removes the response headers and bodies of a delivery from the log, and the body of a test message. The attempts and their
 * outcomes are kept, and so is the body of an event, which belongs to the event.
 * @throws Problem 404, 409 while it is unfinished, 412
 */
export async function expungeDelivery(ctx: Ctx, id: string): Promise<WebhookDeliveryView> {
  return await change(ctx, 'webhooks.delivery.expunge', async tx => {
    // Lock the delivery: a concurrent resend would store another response.
    const row = await lockRow(tx, ctx, deliveryRows, id)
    if (!isFinal(row.status))
      throw conflict('The delivery is not finished yet, so it can still receive responses. Remove them when it is finished.')
    await tx.update(webhookAttempts).set({ response: null }).where(eq(webhookAttempts.deliveryId, id))
    const changed = await saveRow(tx, ctx, deliveryRows, row, { testBody: null, expungedAt: ctx.hub.clock.now() })
    return await changedRow(deliveryRows, row, changed, deliveryView)
  })
}
