import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { eventKinds } from '../../core/events'
import { editable, Expanded, Instant, ListOf, MaybeInstant, Nullable, Shape, Words } from '../../core/shapes'
import { Event } from '../events/shapes'
import { attemptTriggers, deliveryStates, recoverableStates } from './tables'
import { WebhookEndpoint } from './shapes'

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
  id: Type.String({ description: 'Identifier; the header X-Service-Delivery.' }),
  message_id: Type.String({ description: 'The header webhook-id: one an event, equal for all endpoints and all tries.' }),
  event_id: Nullable(Type.String(), { description: 'The event it tells; null for a test message.' }),
  endpoint_id: Type.String({ description: 'The endpoint it goes to. The endpoint may have been deleted since.' }),
  event: Type.String({ description: 'Kind of the event.' }),
  test: Type.Boolean({ description: 'Whether it is a test message.' }),
  resource: Nullable(Shape({ type: Type.String(), id: Type.String() }), {
    description: 'What the event is about; null for a test message.',
  }),
  sequence: Nullable(Type.Integer(), {
    description: 'Place among the events of this kind and resource, without gaps; null for a test message.',
  }),
  occurred_at: Instant({ description: 'When the event happened.' }),
  status: Words(deliveryStates, {
    description:
      '`pending` before the first try, `in_flight` during one, `retrying` between two, `held` while the endpoint is ' +
      'paused or disabled, or while an earlier one about the same resource has not ended and the endpoint keeps the order; ' +
      '`delivered`, `exhausted` after the last try failed, `cancelled`, `expired` are final.',
  }),
  reason: Nullable(Type.String(), {
    description:
      'Why it is so: `http_<status>`, the error class of the last try, `endpoint_inactive`, `endpoint_disabled`, ' +
      '`breaker_open` while the endpoint refuses and is left alone, `behind_earlier`, `endpoint_deleted`, `event_expired` or `held_too_long`.',
  }),
  attempt_count: Type.Integer({ description: 'Tries made.' }),
  last_status_code: Nullable(Type.Integer(), { description: 'HTTP status that answered the last try; null when none did.' }),
  last_error_class: Nullable(Type.String(), {
    description: 'What the last try failed by; null when it succeeded or there was none.',
  }),
  next_attempt_at: MaybeInstant({ description: 'When it is tried next; null when no try is due.' }),
  finished_at: MaybeInstant({ description: 'When it came to its final state.' }),
  expunged_at: MaybeInstant({
    description: 'When what was received for it was removed from the log; null when it never was.',
  }),
  ...editable,
  expanded: Expanded({ endpoint: WebhookEndpoint, event: Event }),
}
const milliseconds = Nullable(Type.Number(), { description: 'Milliseconds; null when not reached or not observable.' })
export const WebhookAttempt = Shape(
  {
    id: Type.String({ description: 'Identifier.' }),
    number: Type.Integer({ minimum: 1, description: 'Counts the tries of the delivery; the header X-Service-Attempt.' }),
    trigger: Words(attemptTriggers, {
      description: 'What caused it: the schedule, somebody’s resend, a recovery of the endpoint, or a test.',
    }),
    started_at: Instant({ description: 'When it began.' }),
    duration_ms: Type.Integer({ description: 'How long it took, from the DNS question to the last byte that was read.' }),
    status_code: Nullable(Type.Integer(), { description: 'HTTP status of the answer; null when none came.' }),
    error_class: Nullable(Type.String(), {
      description:
        'Null on success, else `dns`, `blocked_address`, `connect`, `tls`, `timeout`, `http_status`, `too_large` or ' +
        '`aborted`.',
    }),
    error_message: Nullable(Type.String(), { description: 'The error in a sentence.' }),
    request: Shape(
      {
        url: Type.String({ description: 'Where it was posted.' }),
        headers: Type.Record(Type.String(), Type.String(), {
          description: 'Headers sent; signatures and the values of your own are left out.',
        }),
        body: Nullable(Type.String(), {
          description:
            'Body sent; null when the caller may not read the area of the event, the event has expired, or it was expunged.',
        }),
      },
      { description: 'What was sent.' },
    ),
    response: Nullable(
      Shape({
        headers: Type.Record(Type.String(), Type.String(), { description: 'Headers received.' }),
        body: Type.String({ description: 'The first 16 KiB received, read as UTF-8.' }),
        body_truncated: Type.Boolean({ description: 'Whether there was more.' }),
      }),
      { description: 'What came back; null when nothing complete did, and when it was expunged.' },
    ),
    timings: Shape(
      {
        dns_ms: milliseconds,
        connect_ms: milliseconds,
        tls_ms: milliseconds,
        first_byte_ms: milliseconds,
        total_ms: milliseconds,
      },
      { description: 'How long each phase took.' },
    ),
  },
  {
    $id: 'WebhookAttempt',
    description: 'One try of a delivery.',
    examples: [
      {
        id: 'att_01jd8f3q7eeb9bv0w0r8c7hq2m',
        number: 1,
        trigger: 'auto',
        started_at: '2026-11-21T10:00:00.050Z',
        duration_ms: 54,
        status_code: 503,
        error_class: 'http_status',
        error_message: 'The server answered with status 503.',
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
  description: 'An event on its way to one endpoint.',
  examples: [exampleDelivery],
})
export const WebhookDeliveryList = ListOf(WebhookDelivery)
export const WebhookDeliveryDetail = Shape(
  {
    ...deliveryMembers,
    attempts: Type.Array(WebhookAttempt, { description: 'Every try, in order.' }),
  },
  {
    $id: 'WebhookDeliveryDetail',
    description: 'A delivery with its tries.',
    examples: [{ ...exampleDelivery, attempts: WebhookAttempt.examples as unknown[] }],
  },
)
export const WebhookRecoveryInput = Shape(
  {
    since: Instant({ description: 'Only deliveries made at or after this time.' }),
    until: Type.Optional(Instant({ description: 'Only deliveries made before this time; until now when absent.' })),
    status: Type.Optional(
      Type.Array(Words(recoverableStates), {
        minItems: 1,
        uniqueItems: true,
        description: 'Only those of these states; all three when absent.',
      }),
    ),
    event: Type.Optional(
      Type.Array(Words(kinds), { minItems: 1, uniqueItems: true, description: 'Only those of these kinds; all when absent.' }),
    ),
  },
  {
    $id: 'WebhookRecoveryInput',
    description: 'Which deliveries to send again.',
    examples: [{ since: '2026-11-20T00:00:00Z', until: '2026-11-21T00:00:00Z', status: ['exhausted'], event: ['monitor.alert'] }],
  },
)
export type WebhookRecoveryInput = Static<typeof WebhookRecoveryInput>
export type WebhookAttemptView = Static<typeof WebhookAttempt>
export type WebhookDeliveryView = Static<typeof WebhookDelivery>
export type WebhookDeliveryDetail = Static<typeof WebhookDeliveryDetail>
