import { area, route } from '../../access/route'
import { listQuery } from '../../core/list'
import { Action } from '../actions/shapes'
import { getEventKind, listEventKinds } from './catalogue'
import { deliveryListing, getDelivery, listDeliveries, resendDelivery } from './deliveries'
import { createEndpoint, deleteEndpoint, endpointListing, getEndpoint, listEndpoints, updateEndpoint } from './endpoints'
import { enableEndpoint } from './enable'
import { WebhookDelivery, WebhookDeliveryDetail, WebhookDeliveryList, WebhookRecoveryInput } from './delivery-shapes'
import { EventKindEntry, EventKindList } from './event-kind-shapes'
import {
  NewWebhookEndpoint,
  WebhookEndpoint,
  WebhookEndpointEnable,
  WebhookEndpointInput,
  WebhookEndpointList,
  WebhookEndpointPatch,
  WebhookSecretRotation,
  WebhookTest,
} from './shapes'
import { endpointHealth, WebhookEndpointHealth } from './endpoint-health'
import { expungeDelivery } from './expunge'
import { recoverEndpoint } from './recovery'
import { deliveryRelations } from './relations'
import { promoteSecret, rotateSecret } from './secret-rotation'
import { sendTest } from './test-message'

export const webhookRoutes = area('webhooks', 'Webhooks', [
  route({
    method: 'GET',
    path: '/v1/webhook-endpoints',
    guard: 'webhooks.read',
    operationId: 'listWebhookEndpoints',
    summary: 'List webhook endpoints',
    description: 'URLs that receive events of the workspace.',
    query: listQuery(endpointListing),
    answer: WebhookEndpointList,
    run: (ctx, { query }) => listEndpoints(ctx, query),
  }),
  route({
    method: 'POST',
    path: '/v1/webhook-endpoints',
    guard: 'webhooks.write',
    action: 'webhooks.endpoint.create',
    operationId: 'createWebhookEndpoint',
    summary: 'Create a webhook endpoint',
    description:
      'Makes a URL receive the kinds of event named. Choosing a kind needs read permission on its area. The answer is ' +
      'the only place where the signing secret is told. Messages are posted as {event, data}, signed in X-Service-Signature ' +
      'and, by Standard Webhooks, in webhook-signature; X-Service-Resource says `<type>/<id>` of what they are about.',
    body: WebhookEndpointInput,
    status: 201,
    answer: NewWebhookEndpoint,
    once: ['secret'],
    problems: ['plan_limit_reached'],
    run: (ctx, { body }) => createEndpoint(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/v1/webhook-endpoints/:id',
    guard: 'webhooks.read',
    operationId: 'getWebhookEndpoint',
    summary: 'Read a webhook endpoint',
    description: 'An endpoint, with a hint of its secret.',
    answer: WebhookEndpoint,
    run: (ctx, { params }) => getEndpoint(ctx, params.id!),
  }),
  route({
    method: 'PATCH',
    path: '/v1/webhook-endpoints/:id',
    guard: 'webhooks.write',
    action: 'webhooks.endpoint.update',
    operationId: 'updateWebhookEndpoint',
    summary: 'Edit a webhook endpoint',
    description:
      'Changes an endpoint (JSON merge patch, RFC 7396). With `active` false, what happens is held, and sent once it ' +
      'is true again. With `ordering` back at `none`, what waited for its turn is sent.',
    body: WebhookEndpointPatch,
    answer: WebhookEndpoint,
    problems: ['conflict'],
    run: (ctx, { params, body }) => updateEndpoint(ctx, params.id!, body),
  }),
  route({
    method: 'DELETE',
    path: '/v1/webhook-endpoints/:id',
    guard: 'webhooks.write',
    action: 'webhooks.endpoint.delete',
    operationId: 'deleteWebhookEndpoint',
    summary: 'Delete a webhook endpoint',
    description: 'What waits for it is cancelled; the log of its deliveries stays.',
    status: 204,
    run: (ctx, { params }) => deleteEndpoint(ctx, params.id!),
  }),
  route({
    method: 'GET',
    path: '/v1/webhook-endpoints/:id/health',
    guard: 'webhooks.read',
    operationId: 'getWebhookEndpointHealth',
    summary: 'See how a webhook endpoint does',
    description: 'Why nothing arrives, if nothing does: its breaker, its failures in a row, and how much waits for it.',
    answer: WebhookEndpointHealth,
    run: (ctx, { params }) => endpointHealth(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/webhook-endpoints/:id/enable',
    guard: 'webhooks.write',
    action: 'webhooks.endpoint.enable',
    operationId: 'enableWebhookEndpoint',
    summary: 'Enable a webhook endpoint again',
    description:
      'Takes an endpoint back into service that was disabled because its deliveries failed, and says what of what it missed is ' +
      'sent. One that is enabled already is sent what `replay` says, such as what an earlier `none` left held. One that was disabled because the plan allows fewer comes back by itself, and not by this call.',
    body: WebhookEndpointEnable,
    answer: WebhookEndpoint,
    problems: ['conflict', 'resource_locked', 'precondition_failed', 'plan_limit_reached', 'rate_limited'],
    run: (ctx, { params, body }) => enableEndpoint(ctx, params.id!, body),
  }),
  route({
    method: 'POST',
    path: '/v1/webhook-endpoints/:id/secret/rotate',
    guard: 'webhooks.write',
    action: 'webhooks.secret.rotate',
    operationId: 'rotateWebhookSecret',
    summary: 'Rotate the signing secret',
    description:
      'Gives the endpoint a new secret, told in this answer alone. While the two overlap, webhook-signature carries a signature ' +
      'of each, X-Service-Signature stays with the old secret and X-Service-Signature-Next is made with the new one, so a ' +
      'receiver that knows either verifies every message. At the end of the overlap the new secret takes over by itself.',
    body: WebhookSecretRotation,
    answer: NewWebhookEndpoint,
    once: ['secret'],
    problems: ['conflict', 'precondition_failed'],
    run: (ctx, { params, body }) => rotateSecret(ctx, params.id!, body),
  }),
  route({
    method: 'POST',
    path: '/v1/webhook-endpoints/:id/secret/promote',
    guard: 'webhooks.write',
    action: 'webhooks.secret.promote',
    operationId: 'promoteWebhookSecret',
    summary: 'End a rotation early',
    description: 'Drops the old secret now, before its overlap is over: the new one alone signs from here on.',
    answer: WebhookEndpoint,
    problems: ['conflict', 'precondition_failed'],
    run: (ctx, { params }) => promoteSecret(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/webhook-endpoints/:id/recover',
    guard: 'webhooks.write',
    action: 'webhooks.endpoint.recover',
    operationId: 'recoverWebhookEndpoint',
    summary: 'Send again what did not arrive',
    description:
      'Sends again what the endpoint did not take in a stretch of time: what was given up, held back or waits for a retry. The ' +
      'same ids and bytes under new signatures, oldest first, behind what is new and no faster than the endpoint’s limits. What ' +
      'had ended gets one try. The answer is an action, whose `result` counts `matched`, `queued` and `skipped`, those whose try ' +
      'began at that moment. Five a minute and endpoint, one at a time.',
    body: WebhookRecoveryInput,
    status: 202,
    addsTo: '/v1/actions',
    answer: Action,
    problems: ['conflict', 'resource_locked', 'rate_limited'],
    run: (ctx, { params, body }) => recoverEndpoint(ctx, params.id!, body),
  }),
  route({
    method: 'POST',
    path: '/v1/webhook-endpoints/:id/test',
    guard: 'webhooks.write',
    action: 'webhooks.endpoint.test',
    operationId: 'testWebhookEndpoint',
    summary: 'Send a test message',
    description:
      'Posts the example of a kind once and answers with what came of it. The message carries X-Service-Test: 1. ' +
      'One that is taken closes the endpoint’s breaker. Five a minute and endpoint.',
    body: WebhookTest,
    answer: WebhookDeliveryDetail,
    problems: ['rate_limited'],
    run: (ctx, { params, body }) => sendTest(ctx, params.id!, body.event),
  }),
  route({
    method: 'GET',
    path: '/v1/webhook-deliveries',
    guard: 'webhooks.read',
    operationId: 'listWebhookDeliveries',
    summary: 'List webhook deliveries',
    description: 'Every event on its way to an endpoint, newest first, test messages included.',
    query: listQuery(deliveryListing),
    answer: WebhookDeliveryList,
    expands: deliveryRelations,
    run: (ctx, { query }) => listDeliveries(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/v1/webhook-deliveries/:id',
    guard: 'webhooks.read',
    operationId: 'getWebhookDelivery',
    summary: 'Read a webhook delivery',
    description: 'A delivery with every try: what was sent, what came back, how long it took.',
    answer: WebhookDeliveryDetail,
    expands: deliveryRelations,
    narrowed: 'verb',
    run: (ctx, { params }) => getDelivery(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/webhook-deliveries/:id/resend',
    guard: 'webhooks.write',
    action: 'webhooks.delivery.resend',
    operationId: 'resendWebhookDelivery',
    summary: 'Send a delivery again',
    description:
      'Tries a delivery once more and now: the same id and bytes under a new signature, in place of the try that ' +
      'waits, and out of turn where the endpoint keeps the order. Five a minute and endpoint.',
    status: 202,
    answer: WebhookDelivery,
    narrowed: 'verb',
    problems: ['conflict', 'precondition_failed', 'rate_limited'],
    run: (ctx, { params }) => resendDelivery(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/webhook-deliveries/:id/expunge',
    guard: 'webhooks.write',
    action: 'webhooks.delivery.expunge',
    operationId: 'expungeWebhookDelivery',
    summary: 'Expunge a delivery',
    description:
      'Removes from the log of a delivery that has ended what its tries received, headers and bodies, and the body of a test ' +
      'message. Its tries and how they ended stay. The body of an event goes with the event.',
    answer: WebhookDelivery,
    narrowed: 'verb',
    problems: ['conflict', 'precondition_failed'],
    run: (ctx, { params }) => expungeDelivery(ctx, params.id!),
  }),
  route({
    method: 'GET',
    path: '/v1/event-kinds',
    guard: 'webhooks.read',
    operationId: 'listEventKinds',
    summary: 'List event kinds',
    description: 'The catalogue of what endpoints can choose, on one page: the public contract first, then the extensions.',
    answer: EventKindList,
    narrowed: 'open',
    run: async () => listEventKinds(),
  }),
  route({
    method: 'GET',
    path: '/v1/event-kinds/:kind',
    guard: 'webhooks.read',
    operationId: 'getEventKind',
    summary: 'Read an event kind',
    description: 'A kind with its JSON Schema and an example.',
    answer: EventKindEntry,
    narrowed: 'open',
    run: async (_ctx, { params }) => getEventKind(params.kind!),
  }),
  {
    path: '/v1/webhook-endpoints/bulk',
    operationId: 'bulkWebhookEndpoints',
    summary: 'Create, edit and delete webhook endpoints',
    description: 'Many endpoints at once. The answer is the only place where the signing secrets of new ones are told.',
    action: 'webhooks.endpoint.bulk',
    of: 'WebhookEndpoint',
    operations: { create: 'createWebhookEndpoint', update: 'updateWebhookEndpoint', delete: 'deleteWebhookEndpoint' },
  },
])
