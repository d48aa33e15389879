import { type Static, Type } from '@sinclair/typebox'
import { eventKinds } from '../../event-kinds'
import {
  resourceFields,
  editable,
  Expanded,
  Instant,
  ListOf,
  NullableInstant,
  Nullable,
  Shape,
  Words,
} from '../../../core/shapes'
import { Event, EventResource } from '../../events/shapes'
import { attemptTriggers, deliveryStates, recoverableStates } from './tables'
import { WebhookEndpoint } from '../endpoints/shapes'

const kinds = eventKinds.map(one => one.kind)

const exampleDelivery = {
  id: 'dlv_01jd8f3q7eeb9bv0w0r8c7hq2m',
  message_id: 'msg_01jd8f3q7eeb9bv0w0r8c7hq2m',
  event_id: 'evt_01jd8f3q7eeb9bv0w0r8c7hq2m',
  endpoint_id: 'whe_01jd8f3q7eeb9bv0w0r8c7hq2m',
  event: 'monitor.alert',
  test: false,
  resource: { type: 'heartbeat', id: 'hb_01jd8f3q7eeb9bv0w0r8c7hq2m' },
  sequence: 7,
  occurred_at: '2026-11-21T10:00:00.000Z',
  status: 'retrying',
  reason: 'http_503',
  attempt_count: 1,
  last_status_code: 503,
  last_error_class: 'http_status',
  next_attempt_at: '2026-11-21T10:00:05.412Z',
  finished_at: null,
  expunged_at: null,
  version: 1,
  created_at: '2026-11-21T10:00:00.020Z',
  updated_at: '2026-11-21T10:00:00.104Z',
}
const deliveryMembers = {
  id: Type.String({ description: 'ID of the delivery, sent as the X-Service-Delivery header.' }),
  message_id: Type.String({
    description: 'Message ID, sent as the webhook-id header. The same for all endpoints and attempts of an event.',
  }),
  event_id: Nullable(Type.String(), { description: 'ID of the event; null for a test message.' }),
  endpoint_id: Type.String({ description: 'ID of the endpoint. The endpoint may have been deleted since.' }),
  event: Type.String({ description: 'Event kind, such as `monitor.alert`.' }),
  test: Type.Boolean({ description: 'Whether the delivery is a test message.' }),
  resource: Nullable(Shape(resourceFields), {
    description: 'Resource that the event is about; null for a test message.',
  }),
  sequence: Nullable(Type.Integer(), {
    description: 'Sequence number of the event, counted per resource and event kind, without gaps; null for a test message.',
  }),
  occurred_at: Instant({ description: 'When the event occurred.' }),
  status: Words(deliveryStates, {
    description:
      '`pending`: waiting for the first attempt. `in_flight`: being sent. `retrying`: waiting for a retry. `held`: the ' +
      'endpoint is inactive (`active` is false) or `disabled`, it is ordered and an earlier delivery for the same resource is ' +
      'not finished, or the installation was restored from a backup. Final: `delivered`; `exhausted`: the last attempt failed; `canceled`: the endpoint was deleted; `expired`: held for longer than the delivery log is kept, or the event was deleted.',
  }),
  reason: Nullable(Type.String(), {
    description:
      'Reason for the status: `http_<status>` or the error class of the last attempt, `endpoint_inactive`, ' +
      '`endpoint_disabled`, `breaker_open` (sending is suspended because the endpoint keeps failing), `waiting_for_earlier`, ' +
      '`secret_unreadable`, `endpoint_deleted`, `event_expired`, `held_too_long`, or `restored` (not finished when the ' +
      'backup was made from which this installation was restored). Null if there is none.',
  }),
  attempt_count: Type.Integer({ description: 'Number of attempts so far.' }),
  last_status_code: Nullable(Type.Integer(), {
    description: 'HTTP status of the response to the last attempt; null if there was no response.',
  }),
  last_error_class: Nullable(Type.String(), {
    description: 'Error class of the last attempt; null if it succeeded or there was no attempt yet.',
  }),
  next_attempt_at: NullableInstant({ description: 'When the next attempt is due; null if none is scheduled.' }),
  finished_at: NullableInstant({ description: 'When the delivery reached a final status; null if it has not.' }),
  expunged_at: NullableInstant({
    description: 'When the responses were removed from the log; null if they were not.',
  }),
  ...editable,
  expanded: Expanded({ endpoint: WebhookEndpoint, event: Event, resource: EventResource }),
}
const milliseconds = Nullable(Type.Number(), {
  description: 'Duration in milliseconds; null if the phase was not reached or can’t be measured.',
})
const WebhookAttempt = Shape(
  {
    id: Type.String({ description: 'ID of the attempt.' }),
    number: Type.Integer({ minimum: 1, description: 'Number of the attempt, sent as the X-Service-Attempt header.' }),
    trigger: Words(attemptTriggers, {
      description:
        'What triggered the attempt. `auto`: the first attempt or a scheduled retry. `manual`: a resend. `recovery`: resending the ' +
        'undelivered messages of a period. `test`: a test message.',
    }),
    started_at: Instant({ description: 'When the attempt started.' }),
    duration_ms: Type.Integer({ description: 'Duration in milliseconds, from the DNS lookup to the last byte read.' }),
    status_code: Nullable(Type.Integer(), { description: 'HTTP status of the response; null if there was none.' }),
    error_class: Nullable(Type.String(), {
      description:
        'Why the attempt failed: `dns`, `blocked_address`, `connect`, `tls`, `timeout`, `http_status`, `too_large`, or ' +
        '`aborted`. Null if it succeeded.',
    }),
    error_message: Nullable(Type.String(), { description: 'Error message; null if the attempt succeeded.' }),
    request: Shape(
      {
        url: Type.String({ description: 'URL of the request.' }),
        headers: Type.Record(Type.String(), Type.String(), {
          description: 'Request headers, with signatures and the values of custom headers redacted.',
        }),
        body: Nullable(Type.String(), {
          description:
            'Request body; null if you don’t have read permission on the area of the event, the event was deleted, or the body was ' +
            'expunged.',
        }),
      },
      { description: 'The request that was sent.' },
    ),
    response: Nullable(
      Shape({
        headers: Type.Record(Type.String(), Type.String(), { description: 'Response headers.' }),
        body: Type.String({ description: 'The first 16 KiB of the response body, decoded as UTF-8.' }),
        body_truncated: Type.Boolean({ description: 'Whether the body was truncated.' }),
      }),
      { description: 'The response that was received; null if there was no complete response or it was expunged.' },
    ),
    timings: Shape(
      {
        dns_ms: milliseconds,
        connect_ms: milliseconds,
        tls_ms: milliseconds,
        first_byte_ms: milliseconds,
        total_ms: milliseconds,
      },
      { description: 'Duration of each phase in milliseconds.' },
    ),
  },
  {
    $id: 'WebhookAttempt',
    description: 'One attempt to send a delivery.',
    examples: [
      {
        id: 'att_01jd8f3q7eeb9bv0w0r8c7hq2m',
        number: 1,
        trigger: 'auto',
        started_at: '2026-11-21T10:00:00.050Z',
        duration_ms: 54,
        status_code: 503,
        error_class: 'http_status',
        error_message: 'The server responded with status 503.',
        request: {
          url: 'https://hooks.example.com/bailiwick',
          headers: { 'X-Service-Event': 'monitor.alert', 'X-Service-Attempt': '1', 'X-Service-Signature': 'sha256=[redacted]' },
          body: '{"event":"monitor.alert","data":{}}',
        },
        response: { headers: { 'retry-after': '5' }, body: 'busy', body_truncated: false },
        timings: { dns_ms: 1.2, connect_ms: 20.4, tls_ms: null, first_byte_ms: 52.1, total_ms: 54.3 },
      },
    ],
  },
)
export const WebhookDelivery = Shape(deliveryMembers, {
  $id: 'WebhookDelivery',
  description: 'The delivery of an event to one endpoint.',
  examples: [exampleDelivery],
})
export const WebhookDeliveryList = ListOf(WebhookDelivery)
export const WebhookDeliveryDetail = Shape(
  {
    ...deliveryMembers,
    attempts: Type.Array(WebhookAttempt, { description: 'All attempts, oldest first.' }),
  },
  {
    $id: 'WebhookDeliveryDetail',
    description: 'A delivery with its attempts.',
    examples: [{ ...exampleDelivery, attempts: WebhookAttempt.examples as unknown[] }],
  },
)
export const WebhookRecoveryInput = Shape(
  {
    since: Instant({ description: 'Resend only deliveries created at or after this time.' }),
    until: Type.Optional(Instant({ description: 'Resend only deliveries created before this time. Default: now.' })),
    status: Type.Optional(
      Type.Array(Words(recoverableStates), {
        minItems: 1,
        uniqueItems: true,
        description: 'Resend only deliveries with these statuses. Default: all three.',
      }),
    ),
    event: Type.Optional(
      Type.Array(Words(kinds), {
        minItems: 1,
        uniqueItems: true,
        description: 'Resend only deliveries of these event kinds. Default: all.',
      }),
    ),
  },
  {
    $id: 'WebhookRecoveryInput',
    description: 'Which deliveries to resend.',
    examples: [{ since: '2026-11-20T00:00:00Z', until: '2026-11-21T00:00:00Z', status: ['exhausted'], event: ['monitor.alert'] }],
  },
)
export type WebhookRecoveryInput = Static<typeof WebhookRecoveryInput>
export type WebhookAttemptView = Static<typeof WebhookAttempt>
export type WebhookDeliveryView = Static<typeof WebhookDelivery>
export type WebhookDeliveryDetail = Static<typeof WebhookDeliveryDetail>
