import type { AnyElysia } from 'elysia'
import { area, route } from '../../../api/route'
import { listQuery } from '../../../core/list'
import type { Relations } from '../../../core/relation'
import { deliveryListing, getDelivery, listDeliveries, resendDelivery, deliveryRelations } from './deliveries'
import { WebhookDelivery, WebhookDeliveryDetail, WebhookDeliveryList } from './shapes'
import { expungeDelivery } from './expunge'

/** @param eventRelations relations of events */
export const webhookDeliveryRoutes = (eventRelations: Relations): AnyElysia =>
  area('webhook-deliveries', 'Webhooks', [
    route({
      method: 'GET',
      path: '/v1/webhook-deliveries',
      guard: 'webhooks.read',
      operationId: 'listWebhookDeliveries',
      summary: 'List webhook deliveries',
      description: 'Lists the deliveries of all endpoints, including test messages, newest first.',
      query: listQuery(deliveryListing),
      response: WebhookDeliveryList,
      expands: deliveryRelations(eventRelations),
      run: (ctx, { query }) => listDeliveries(ctx, query),
    }),
    route({
      method: 'GET',
      path: '/v1/webhook-deliveries/:id',
      guard: 'webhooks.read',
      operationId: 'getWebhookDelivery',
      summary: 'Get a webhook delivery',
      description: 'Returns a delivery with all its attempts: request, response, and timings.',
      response: WebhookDeliveryDetail,
      expands: deliveryRelations(eventRelations),
      restrictedTokens: 'handler',
      run: (ctx, { params }) => getDelivery(ctx, params.id!),
    }),
    route({
      method: 'POST',
      path: '/v1/webhook-deliveries/:id/resend',
      guard: 'webhooks.write',
      action: 'webhooks.delivery.resend',
      operationId: 'resendWebhookDelivery',
      summary: 'Resend a webhook delivery',
      description:
        'Sends a delivery again immediately, with the same ID and body and a new signature. This replaces the scheduled retry, ' +
        'if any, and skips the order if the endpoint is ordered. Limited to five requests a minute per endpoint.',
      status: 202,
      response: WebhookDelivery,
      restrictedTokens: 'handler',
      problems: ['conflict', 'precondition_failed', 'rate_limited'],
      run: (ctx, { params }) => resendDelivery(ctx, params.id!),
    }),
    route({
      method: 'POST',
      path: '/v1/webhook-deliveries/:id/expunge',
      guard: 'webhooks.write',
      action: 'webhooks.delivery.expunge',
      operationId: 'expungeWebhookDelivery',
      summary: 'Expunge a webhook delivery',
      description:
        'Removes the response headers and bodies of a finished delivery from the log, and the body of a test message. The ' +
        'attempts and their outcomes are kept. The body of an event is deleted with the event.',
      response: WebhookDelivery,
      restrictedTokens: 'handler',
      problems: ['conflict', 'precondition_failed'],
      run: (ctx, { params }) => expungeDelivery(ctx, params.id!),
    }),
  ])
