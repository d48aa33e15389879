import { crud } from '../../../api/crud'
import { area, route } from '../../../api/route'
import { Action } from '../../actions/shapes'
import { getEventKind, listEventKinds } from './event-kinds'
import { createEndpoint, deleteEndpoint, endpointListing, getEndpoint, listEndpoints, updateEndpoint } from './endpoints'
import { enableEndpoint } from './enable'
import { WebhookDeliveryDetail, WebhookRecoveryInput } from '../deliveries/shapes'
import {
  EventKindEntry,
  EventKindList,
  WebhookEndpointWithSecret,
  WebhookEndpoint,
  WebhookEndpointEnable,
  WebhookEndpointInput,
  WebhookEndpointList,
  WebhookEndpointPatch,
  WebhookSecretRotation,
  WebhookTestInput,
  WebhookEndpointHealth,
} from './shapes'
import { endpointHealth } from './health'
import { recoverEndpoint } from '../deliveries/recovery'
import { promoteSecret, rotateSecret } from './secret-rotation'
import { sendTest } from '../sending/test-message'

export const webhookEndpointRoutes = area('webhook-endpoints', 'Webhooks', [
  ...crud({
    type: 'webhook_endpoint',
    response: WebhookEndpoint,
    list: {
      listing: endpointListing,
      description: 'Lists the webhook endpoints of the workspace.',
      response: WebhookEndpointList,
      run: listEndpoints,
    },
    create: {
      description:
        'Subscribes a URL to the given event kinds. Subscribing to a kind requires read permission on its area. The signing ' +
        'secret is shown only once, in this response. Messages are posted as `{event, data}` and signed in the ' +
        'X-Service-Signature header and, following Standard Webhooks, in webhook-signature. The webhooks in this document describe the ' +
        'headers and the body of each message.',
      body: WebhookEndpointInput,
      response: WebhookEndpointWithSecret,
      secretFields: ['secret'],
      problems: ['plan_limit_reached'],
      run: createEndpoint,
    },
    get: {
      description: 'Returns an endpoint. Its signing secret is masked.',
      run: getEndpoint,
    },
    update: {
      description:
        'Updates an endpoint (JSON merge patch, RFC 7396). Receiving more event kinds or resources requires read permission on their areas. While `active` is false, deliveries are held. When you set ' +
        'it back to true, they are sent, except those that have expired. If you set `ordering` back to `none`, deliveries waiting for an earlier one are sent.',
      body: WebhookEndpointPatch,
      problems: ['conflict', 'restricted_token'],
      run: updateEndpoint,
    },
    delete: {
      description: 'Deletes an endpoint and cancels its unfinished deliveries. The delivery log is kept.',
      run: deleteEndpoint,
    },
    bulk:
      'Creates, updates, and deletes many endpoints in one request. Signing secrets of new endpoints are shown only once, ' +
      'in this response.',
    verbs: {
      enable: {
        description:
          'Re-enables an endpoint that was disabled because its deliveries failed. `replay` selects which missed deliveries are ' +
          'sent. ' +
          'If the endpoint is already enabled, only the replay runs, for example to send deliveries that an earlier request with `none` left on hold. ' +
          'An endpoint that was disabled because of a plan limit is re-enabled automatically as soon as the plan allows it; until then, this call returns 403 `plan_limit_reached`. ' +
          '`since` requires an active endpoint (409), and is limited to 5 requests a minute per endpoint.',
        body: WebhookEndpointEnable,
        problems: ['conflict', 'resource_locked', 'precondition_failed', 'plan_limit_reached', 'rate_limited'],
        run: enableEndpoint,
      },
      recover: {
        description:
          'Resends deliveries of a time range that failed permanently, are held, or are waiting for a retry. They are sent ' +
          'oldest first, with the same ID and body and a new signature, after new deliveries and within the rate limits of the ' +
          'endpoint. A delivery that had failed permanently gets one attempt. Returns an action whose `result` counts ' +
          '`matched`, `queued`, and `skipped` deliveries (skipped: an attempt was already in progress). Limited to 5 ' +
          'requests a minute per endpoint. While another recovery of the endpoint is running, or if the endpoint is inactive or disabled, the response is 409.',
        summary: 'Recover failed deliveries of a webhook endpoint',
        body: WebhookRecoveryInput,
        status: 202,
        collection: '/v1/actions',
        response: Action,
        problems: ['conflict', 'resource_locked', 'rate_limited'],
        run: recoverEndpoint,
      },
      test: {
        description:
          'Sends the example of an event kind once, with current dates, and returns the result. The message has the `X-Service-Test: 1` header. ' +
          'The request waits for the result, up to the `timeout_seconds` of the endpoint. If the message is delivered and sending was suspended because the endpoint kept failing (see its health), ' +
          'sending resumes. Limited to 5 requests a minute per endpoint.',
        summary: 'Send a test message to a webhook endpoint',
        body: WebhookTestInput,
        response: WebhookDeliveryDetail,
        problems: ['rate_limited'],
        run: sendTest,
      },
    },
  }),
  route({
    method: 'GET',
    path: '/v1/webhook-endpoints/:id/health',
    guard: 'webhooks.read',
    operationId: 'getWebhookEndpointHealth',
    summary: 'Get the health of a webhook endpoint',
    description:
      'Returns the number of consecutive failures and of waiting deliveries, and whether sending is suspended because the endpoint keeps failing: that is the ' +
      'state of its circuit breaker.',
    response: WebhookEndpointHealth,
    run: (ctx, { params }) => endpointHealth(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/webhook-endpoints/:id/secret/rotate',
    guard: 'webhooks.write',
    action: 'webhooks.secret.rotate',
    operationId: 'rotateWebhookSecret',
    summary: 'Rotate the signing secret of a webhook endpoint',
    description:
      'Replaces the signing secret with the one you send, or with a generated one. It is shown only once, in this response. During the overlap, webhook-signature contains a ' +
      'signature for each secret, X-Service-Signature uses the old secret, and X-Service-Signature-Next the new one, so a ' +
      'receiver can verify every message with either secret. When the overlap ends, the new secret replaces the old one ' +
      'automatically. While a rotation is in progress, another one returns 409.',
    body: WebhookSecretRotation,
    response: WebhookEndpointWithSecret,
    secretFields: ['secret'],
    problems: ['conflict', 'precondition_failed'],
    run: (ctx, { params, body }) => rotateSecret(ctx, params.id!, body),
  }),
  route({
    method: 'POST',
    path: '/v1/webhook-endpoints/:id/secret/promote',
    guard: 'webhooks.write',
    action: 'webhooks.secret.promote',
    operationId: 'promoteWebhookSecret',
    summary: 'Promote the new signing secret of a webhook endpoint',
    description:
      'Ends a rotation early: drops the old secret, so that messages are signed only with the new one. Returns 409 if no rotation is in progress.',
    response: WebhookEndpoint,
    problems: ['conflict', 'precondition_failed'],
    run: (ctx, { params }) => promoteSecret(ctx, params.id!),
  }),
  route({
    method: 'GET',
    path: '/v1/event-kinds',
    guard: 'webhooks.read',
    operationId: 'listEventKinds',
    summary: 'List event kinds',
    description:
      'Lists all event kinds on one page: the eight core kinds (`extension` is false) first, then the others. `available` shows which kinds this version sends. An endpoint receives only the kinds it subscribes to.',
    response: EventKindList,
    restrictedTokens: 'all',
    run: async () => listEventKinds(),
  }),
  route({
    method: 'GET',
    path: '/v1/event-kinds/:kind',
    guard: 'webhooks.read',
    operationId: 'getEventKind',
    summary: 'Get an event kind',
    description: 'Returns an event kind with its JSON Schema and an example.',
    response: EventKindEntry,
    restrictedTokens: 'all',
    run: async (_ctx, { params }) => getEventKind(params.kind!),
  }),
])
