import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { eventKinds } from '../../core/events'
import { areas } from '../../core/permissions'
import { editable, Expanded, Instant, ListOf, MaybeInstant, Nullable, Prose, Shape, Words } from '../../core/shapes'
import { Event } from '../events/shapes'
import { longestHeaderValue, mostHeaders } from './custom-headers'
import { longestSchedule, mostRetries } from './retry-schedule'
import { attemptTriggers, deliveryStates, endpointStates, orderings, recoverableStates } from './tables'

const kinds = eventKinds.map(one => one.kind)

const url = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: 'Where messages are posted. https, unless the operator allows more.',
})
const description = Prose({ maxLength: 500, description: 'What it is for.' })
const events = Type.Array(Words(kinds), {
  minItems: 1,
  maxItems: kinds.length,
  uniqueItems: true,
  description: 'Kinds of event it receives, each by its name; see /v1/event-kinds.',
})
const active = Type.Boolean({ description: 'False pauses it: what happens meanwhile is held, and sent when it is true again.' })

const filters = Shape(
  {
    resource_ids: Nullable(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 100, uniqueItems: true }),
      {
        description: 'Only events about these resources, by `resource.id`; null for those about any.',
      },
    ),
  },
  { description: 'Which events of the kinds it chose it receives.' },
)
const retrySchedule = Nullable(Type.Array(Type.Integer({ minimum: 1, maximum: longestSchedule }), { maxItems: mostRetries }), {
  description:
    `Seconds before each retry, counted from the end of the try before: at most ${mostRetries}, ${longestSchedule} seconds in all. ` +
    'An empty list never retries; null is the standard schedule of ten tries.',
})
const timeoutSeconds = Type.Integer({
  minimum: 1,
  maximum: 30,
  description: 'How long a try may take, with the connection and all of the answer that is read.',
})
const maxPerSecond = Nullable(Type.Integer({ minimum: 1, maximum: 1_000 }), {
  description:
    'Most tries a second, with bursts of one second’s worth; what waits for its turn uses up no try. Null is no limit.',
})
const ordering = Words(orderings, {
  description:
    '`per_resource`: messages about one resource go out one after the other, in the order of the events; the next only when ' +
    'the one before was delivered or given up, and a resource that fails holds up no other. `none`: none waits for another.',
})
const exampleEndpoint = {
  id: 'whe_01jd8f3q7eeb9bv0w0r8c7hq2m',
  url: 'https://hooks.example.com/bailiwick',
  description: 'Chat room',
  events: ['monitor.alert'],
  filters: { resource_ids: null },
  active: true,
  status: 'enabled',
  disabled_reason: null,
  secret_hint: 'whsec_…n2o=',
  next_secret_hint: null,
  overlap_ends_at: null,
  retry_schedule: null,
  timeout_seconds: 15,
  max_per_second: null,
  ordering: 'none',
  header_names: ['Authorization'],
  version: 1,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
}
const endpointMembers = {
  id: Type.String({ description: 'Identifier.' }),
  url,
  description: Type.String({ description: 'What it is for.' }),
  events: Type.Array(Words(kinds), { description: 'Kinds of event it receives.' }),
  filters,
  active,
  status: Words(endpointStates, {
    description: '`disabled`: the service stopped sending because deliveries failed or the plan allows fewer endpoints.',
  }),
  disabled_reason: Nullable(Type.String(), {
    description:
      'Why it was disabled; `gone`: it answered 410 twice in a row; `failing`: no success for 5 days; `plan_limit`: the plan allows fewer.',
  }),
  secret_hint: Type.String({ description: 'The signing secret in masked form; during a rotation the old one.' }),
  next_secret_hint: Nullable(Type.String(), {
    description: 'While a rotation overlaps, the new secret in masked form; else null.',
  }),
  overlap_ends_at: MaybeInstant({
    description: 'When the old secret ends and the new one takes its place; null when there is one secret only.',
  }),
  retry_schedule: retrySchedule,
  timeout_seconds: timeoutSeconds,
  max_per_second: maxPerSecond,
  ordering,
  header_names: Type.Array(Type.String(), { description: 'Names of the headers of your own; their values are never shown.' }),
  ...editable,
}
export const WebhookEndpoint = Shape(endpointMembers, {
  $id: 'WebhookEndpoint',
  description: 'A URL that receives events.',
  examples: [exampleEndpoint],
})
export const WebhookEndpointList = ListOf(WebhookEndpoint)
export const NewWebhookEndpoint = Shape(
  {
    ...endpointMembers,
    secret: Type.Optional(Type.String({ description: 'The signing secret. Told once; keep it safe.' })),
    secret_shown_before: Type.Optional(Type.Boolean({ description: 'True in a replay, which does not tell the secret again.' })),
  },
  {
    $id: 'NewWebhookEndpoint',
    description: 'An endpoint with the secret that was just made for it.',
    examples: [{ ...exampleEndpoint, secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazcuYmxpn2o=' }],
  },
)
const headersNote =
  `At most ${mostHeaders} headers to send with each message, such as Authorization. Values are kept sealed and never shown again. ` +
  'Refused are those the service sets itself: Host, User-Agent, Content-*, X-Service-*, webhook-*, and those of the connection.'
const headerValue = Type.String({ minLength: 1, maxLength: longestHeaderValue })
const ownSecret = Type.String({
  maxLength: 200,
  description: 'A signing secret of your own: whsec_ and the padded base64 of 24 to 64 random bytes. Made for you when absent.',
})
export const WebhookEndpointInput = Shape(
  {
    url,
    description: Type.Optional(description),
    events,
    filters: Type.Optional(filters),
    active: Type.Optional(active),
    retry_schedule: Type.Optional(retrySchedule),
    timeout_seconds: Type.Optional(Type.Integer({ ...timeoutSeconds, default: 15 })),
    max_per_second: Type.Optional(maxPerSecond),
    ordering: Type.Optional(Words(orderings, { description: ordering.description, default: 'none' })),
    secret: Type.Optional(ownSecret),
    headers: Type.Optional(Type.Record(Type.String(), headerValue, { description: headersNote })),
  },
  {
    $id: 'WebhookEndpointInput',
    description: 'An endpoint to make.',
    examples: [{ url: 'https://hooks.example.com/bailiwick', description: 'Chat room', events: ['monitor.alert'] }],
  },
)
export const WebhookEndpointPatch = Shape(
  {
    url: Type.Optional(url),
    description: Type.Optional(description),
    events: Type.Optional(events),
    filters: Type.Optional(filters),
    active: Type.Optional(active),
    retry_schedule: Type.Optional(retrySchedule),
    timeout_seconds: Type.Optional(timeoutSeconds),
    max_per_second: Type.Optional(maxPerSecond),
    ordering: Type.Optional(ordering),
    headers: Type.Optional(
      Nullable(Type.Record(Type.String(), Nullable(headerValue)), {
        description:
          `${headersNote} Those not named stay, null drops one, and null for \`headers\` drops all. With a URL of another ` +
          'server every value has to be given again.',
      }),
    ),
  },
  { $id: 'WebhookEndpointPatch', description: 'What of an endpoint can be changed.', examples: [{ active: false }] },
)
export const WebhookEndpointEnable = Shape(
  {
    replay: Type.Optional(
      Words(['held', 'none', 'since'], {
        description:
          '`held`, the default: what was held while it was disabled is sent now. `none`: it stays held. `since`: what did not ' +
          'arrive since that time is sent again, what was given up before included.',
        default: 'held',
      }),
    ),
    since: Type.Optional(Instant({ description: 'Goes with the replay `since`: only deliveries made at or after this time.' })),
  },
  { $id: 'WebhookEndpointEnable', description: 'How to enable an endpoint again.', examples: [{ replay: 'none' }] },
)
export type WebhookEndpointEnable = Static<typeof WebhookEndpointEnable>
export const WebhookSecretRotation = Shape(
  {
    secret: Type.Optional(ownSecret),
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 604_800,
        default: 86_400,
        description: 'How long the old secret goes on signing beside the new one; 0 ends it at once.',
      }),
    ),
  },
  { $id: 'WebhookSecretRotation', description: 'How to change the signing secret.', examples: [{ overlap_seconds: 86_400 }] },
)
export type WebhookSecretRotation = Static<typeof WebhookSecretRotation>
export const WebhookTest = Shape(
  {
    event: Type.Optional(
      Words(kinds, {
        description: 'Kind whose example is sent; the first one the endpoint chose when absent.',
      }),
    ),
  },
  { $id: 'WebhookTest', description: 'A test message to send.', examples: [{ event: 'monitor.alert' }] },
)
export type WebhookEndpointView = Static<typeof WebhookEndpoint>
export type WebhookEndpointInput = Static<typeof WebhookEndpointInput>
export type WebhookEndpointPatch = Static<typeof WebhookEndpointPatch>

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

export const EventKindEntry = Shape(
  {
    kind: Words(kinds, { description: 'Its name: `event` in the message and X-Service-Event.' }),
    title: Type.String({ description: 'A few words.' }),
    description: Type.String({ description: 'When it happens.' }),
    area: Words(areas, { description: 'Choosing it, and reading its events, needs read permission on this area.' }),
    extension: Type.Boolean({ description: 'False for the kinds of the public contract.' }),
    version: Type.Integer({ description: 'Grows when `data` changes in a way a receiver could notice.' }),
    schema: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema 2020-12 of the message’s `data`.' }),
    example: Type.Record(Type.String(), Type.Unknown(), { description: 'A `data` of this kind; what a test message carries.' }),
  },
  {
    $id: 'EventKind',
    description: 'A kind of event that endpoints can choose.',
    examples: [
      {
        kind: 'domain.expiring',
        title: 'Domain expiring',
        description: 'A domain is about to expire.',
        area: 'domains',
        extension: false,
        version: 1,
        schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' },
        example: { domain: 'example.com', expires_at: '2027-01-31' },
      },
    ],
  },
)
export const EventKindList = ListOf(EventKindEntry)
export type EventKindView = Static<typeof EventKindEntry>
