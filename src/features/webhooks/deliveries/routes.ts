import type { AnyElysia } from 'elysia'
import { crud } from '../../../api/crud'
import { area } from '../../../api/route'
import type { Relations } from '../../../core/relation'
import { deliveryListing, getDelivery, listDeliveries, resendDelivery, deliveryRelations } from './deliveries'
import { WebhookDelivery, WebhookDeliveryDetail, WebhookDeliveryList } from './shapes'
import { expungeDelivery } from './expunge'

/** @param eventRelations relations of events */
export const webhookDeliveryRoutes = (eventRelations: Relations): AnyElysia =>
  area(
    'webhook-deliveries',
    'Webhooks',
    crud({
      type: 'webhook_delivery',
      name: 'webhook delivery',
      plural: 'webhook deliveries',
      response: WebhookDelivery,
      list: {
        operationId: 'listWebhookDeliveries',
        description:
          'Lists the deliveries of all endpoints, including test messages, newest first. Finished ones are kept for the number of days that the plan allows ' +
          '(`delivery_log_days`).',
        listing: deliveryListing,
        response: WebhookDeliveryList,
        expands: deliveryRelations(eventRelations),
        run: listDeliveries,
      },
      get: {
        description: 'Returns a delivery with all its attempts: request, response, and timings.',
        response: WebhookDeliveryDetail,
        expands: deliveryRelations(eventRelations),
        restrictedTokens: 'handler',
        run: getDelivery,
      },
      verbs: {
        resend: {
          description:
            'Sends a delivery again immediately, with the same message ID and body, and a new signature. This replaces the scheduled retry, ' +
            'if any. If the endpoint is ordered, the delivery doesn’t wait for earlier ones. A delivery that is being sent right now, or whose endpoint is inactive, disabled, or deleted, ' +
            'returns 409. Limited to 5 requests a minute per endpoint.',
          status: 202,
          restrictedTokens: 'handler',
          problems: ['conflict', 'precondition_failed', 'rate_limited'],
          run: resendDelivery,
        },
        expunge: {
          description:
            'Removes the response headers and bodies of a finished delivery from the log, and the body of a test message. The ' +
            'attempts and their outcomes are kept. The body of an event is deleted with the event. A delivery that is not finished returns 409.',
          restrictedTokens: 'handler',
          problems: ['conflict', 'precondition_failed'],
          run: expungeDelivery,
        },
      },
    }),
  )
