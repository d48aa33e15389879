import { type Static, Type } from '@sinclair/typebox'
import { eventKinds } from '../../event-kinds'
import { inputMembers, members, patchMembers, viewMembers } from '../../../core/members'
import { ownSecret, secretHints, secretRotation, shownSecret } from '../../../core/outgoing/secret-shapes'
import { editable, Instant, NullableInstant, ListOf, SinglePageOf, Nullable, Prose, Shape, Words } from '../../../core/shapes'
import { maxScheduleSeconds, maxRetries } from '../../../core/outgoing/retry-schedule'
import { areas } from '../../../core/permissions'

export const maxHeaders = 10
/** Maximum length of a value in characters. Long enough for a JWT. */
export const maxHeaderValueLength = 4_096

const kinds = eventKinds.map(one => one.kind)

export const endpointStates = ['enabled', 'disabled'] as const

/** The members that clients set. The columns and the fields of requests and responses are made from them. */
export const endpointMembers = members({
  url: {
    schema: Type.String({
      minLength: 1,
      maxLength: 2_048,
      description: 'URL to post messages to. Must use HTTPS, unless the network policy of the workspace allows HTTP.',
    }),
    required: true,
  },
  description: {
    schema: Type.String({ description: 'Description of the endpoint.' }),
    input: Prose({ maxLength: 500, description: 'Description of the endpoint.' }),
    default: '',
  },
  events: {
    schema: Type.Array(Words(kinds), { description: 'Event kinds that are sent to the endpoint.' }),
    input: Type.Array(Words(kinds), {
      minItems: 1,
      maxItems: kinds.length,
      uniqueItems: true,
      description: 'Event kinds to send to the endpoint, by exact name. See `GET /v1/event-kinds`.',
    }),
    required: true,
  },
  active: {
    schema: Type.Boolean({
      description:
        'Whether the endpoint is active. While it is false, deliveries are held. When you set it back to true, they are sent, except those that were held ' +
        'for longer than the `delivery_log_days` of the plan, which have expired.',
    }),
    default: true,
  },
  retry_schedule: {
    schema: Nullable(Type.Array(Type.Integer({ minimum: 1, maximum: maxScheduleSeconds }), { maxItems: maxRetries }), {
      description:
        `Seconds to wait before each retry, from the end of the previous attempt: at most ${maxRetries} retries and ` +
        `${maxScheduleSeconds.toLocaleString('en-US')} seconds in total. An empty list disables retries; null uses the standard schedule: 9 retries after 5 seconds, 5 and 30 minutes, and 2, 5, 10, 14, 20, and 24 hours. A longer ` +
        '`Retry-After` of the response is respected, up to 24 hours.',
    }),
  },
  timeout_seconds: {
    schema: Type.Integer({
      minimum: 1,
      maximum: 30,
      description: 'Timeout of an attempt in seconds, including connecting and reading the response.',
    }),
    default: 15,
  },
  max_per_second: {
    schema: Nullable(Type.Integer({ minimum: 1, maximum: 1_000 }), {
      description:
        'Maximum number of attempts per second, with bursts of up to one second’s worth. Waiting for the limit doesn’t count as an attempt. ' +
        'Null for no limit.',
    }),
  },
  ordering: {
    schema: Words(['none', 'per_resource'], {
      description:
        '`per_resource`: messages about the same resource are sent one at a time, in event order; each waits until the previous ' +
        'one was delivered or failed permanently. Different resources don’t block each other. `none`: messages don’t wait for ' +
        'each other.',
    }),
    default: 'none',
  },
})

const filters = Shape(
  {
    resource_ids: Nullable(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 100, uniqueItems: true }),
      { description: 'IDs of the resources whose events are sent; null for all resources.' },
    ),
  },
  { description: 'Which events of the subscribed kinds are sent.' },
)
const exampleEndpoint = {
  id: 'whe_01jd8f3q7eeb9bv0w0r8c7hq2m',
  url: 'https://hooks.example.com/bailiwick',
  description: 'Chat room',
  events: ['monitor.alert'],
  filters: { resource_ids: null },
  active: true,
  status: 'enabled',
  disabled_reason: null,
  failing: false,
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
const endpointFields = {
  id: Type.String({ description: 'ID of the endpoint.' }),
  ...viewMembers(endpointMembers),
  filters,
  status: Words(endpointStates, {
    description:
      '`disabled`: Bailiwick stopped sending because deliveries kept failing or the plan allows fewer endpoints. To stop sending ' +
      'yourself, set `active` to false.',
  }),
  disabled_reason: Nullable(Type.String(), {
    description:
      'Why the endpoint was disabled. `gone`: it responded with 410 twice in a row. `failing`: no delivery succeeded for 5 ' +
      'days, and at least 10 attempts failed over at least a day. `plan_limit`: the plan allows fewer endpoints. Null if it is enabled.',
  }),
  failing: Type.Boolean({
    description: 'Whether the endpoint is active and all attempts since its last successful delivery failed.',
  }),
  ...secretHints,
  header_names: Type.Array(Type.String(), { description: 'Names of the custom headers. Their values are never returned.' }),
  ...editable,
}
export const WebhookEndpoint = Shape(endpointFields, {
  $id: 'WebhookEndpoint',
  description: 'A URL that receives events.',
  examples: [exampleEndpoint],
})
export const WebhookEndpointList = ListOf(WebhookEndpoint)
export const WebhookEndpointWithSecret = Shape(
  {
    ...endpointFields,
    ...shownSecret,
  },
  {
    $id: 'WebhookEndpointWithSecret',
    description: 'An endpoint with its new signing secret.',
    examples: [{ ...exampleEndpoint, secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazcuYmxpn2o=' }],
  },
)
const headersNote =
  `Custom headers to send with each message, such as Authorization: at most ${maxHeaders}. Values are stored encrypted and ` +
  'never returned. Headers that Bailiwick sets itself are not allowed: Host, User-Agent, Content-*, X-Service-*, webhook-*, ' +
  'and connection headers.'
const headerValue = Type.String({ minLength: 1, maxLength: maxHeaderValueLength })
export const WebhookEndpointInput = Shape(
  {
    ...inputMembers(endpointMembers),
    filters: Type.Optional(filters),
    secret: Type.Optional(ownSecret),
    headers: Type.Optional(Type.Record(Type.String(), headerValue, { description: headersNote })),
  },
  {
    $id: 'WebhookEndpointInput',
    description: 'The endpoint to create.',
    examples: [{ url: 'https://hooks.example.com/bailiwick', description: 'Chat room', events: ['monitor.alert'] }],
  },
)
export const WebhookEndpointPatch = Shape(
  {
    ...patchMembers(endpointMembers),
    filters: Type.Optional(filters),
    headers: Type.Optional(
      Nullable(Type.Record(Type.String(), Nullable(headerValue)), {
        description:
          `${headersNote} Headers you don’t name are kept, null removes a header, and null for \`headers\` removes all. ` +
          'If you change the URL to another server, you must provide every value again.',
      }),
    ),
  },
  { $id: 'WebhookEndpointPatch', description: 'Fields of the endpoint to update.', examples: [{ active: false }] },
)
export const WebhookEndpointEnable = Shape(
  {
    replay: Type.Optional(
      Words(['held', 'none', 'since'], {
        description:
          '`held` (default): send the deliveries that were held while the endpoint was disabled. `none`: keep them held. ' +
          '`since`: resend everything that was not delivered since a given time, including deliveries that failed permanently.',
        default: 'held',
      }),
    ),
    since: Type.Optional(
      Instant({ description: 'Required with `replay` set to `since`: resend only deliveries created at or after this time.' }),
    ),
  },
  { $id: 'WebhookEndpointEnable', description: 'Options for re-enabling an endpoint.', examples: [{ replay: 'none' }] },
)
export type WebhookEndpointEnable = Static<typeof WebhookEndpointEnable>
export const WebhookSecretRotation = Shape(secretRotation, {
  $id: 'WebhookSecretRotation',
  description: 'Options for the rotation.',
  examples: [{ overlap_seconds: 86_400 }],
})
export type WebhookSecretRotation = Static<typeof WebhookSecretRotation>
export const WebhookTestInput = Shape(
  {
    event: Type.Optional(
      Words(kinds, {
        description: 'Event kind whose example is sent. Default: the first kind the endpoint is subscribed to.',
      }),
    ),
  },
  { $id: 'WebhookTestInput', description: 'The test message to send.', examples: [{ event: 'monitor.alert' }] },
)
export type WebhookTestInput = Static<typeof WebhookTestInput>
export type WebhookEndpointView = Static<typeof WebhookEndpoint>
export type WebhookEndpointInput = Static<typeof WebhookEndpointInput>
export type WebhookEndpointPatch = Static<typeof WebhookEndpointPatch>

export const EventKindEntry = Shape(
  {
    kind: Words(kinds, {
      description: 'Name of the event kind. Sent as `event` in the message and in the X-Service-Event header.',
    }),
    title: Type.String({ description: 'Display name of the event kind.' }),
    description: Type.String({ description: 'When the event occurs.' }),
    area: Words(areas, {
      description: 'Area of the event kind. Subscribing to the kind and reading its events require read permission on this area.',
    }),
    available: Type.Boolean({
      description:
        'Whether events of this kind can occur in this version. You can already subscribe to kinds that later versions will send.',
    }),
    extension: Type.Boolean({
      description:
        'False for the eight core kinds, whose name and existing fields of `data` never change within `/v1`. True for all other kinds, whose `version` increases when `data` changes. You subscribe to both in the same way.',
    }),
    version: Type.Integer({ description: 'Version of `data`. Incremented when it changes in a way that may affect receivers.' }),
    schema: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema 2020-12 of the message’s `data`.' }),
    example: Type.Record(Type.String(), Type.Unknown(), { description: 'Example `data`; also sent in test messages.' }),
  },
  {
    $id: 'EventKind',
    description: 'An event kind that webhook endpoints can subscribe to.',
    examples: [
      {
        kind: 'domain.expiring',
        title: 'Domain expiring',
        description: 'A domain is about to expire.',
        area: 'domains',
        available: false,
        extension: false,
        version: 1,
        schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' },
        example: { domain: 'example.com', expires_at: '2027-01-31' },
      },
    ],
  },
)
export const EventKindList = SinglePageOf(EventKindEntry)
export type EventKindView = Static<typeof EventKindEntry>

const number = (description: string) => Type.Integer({ minimum: 0, description })

export const WebhookEndpointHealth = Shape(
  {
    breaker: Shape(
      {
        state: Words(['closed', 'open', 'half_open'], {
          description:
            '`closed`: sending normally. `open`: sending is suspended until `half_open_at`. `half_open`: one delivery is sent to ' +
            'test the endpoint.',
        }),
        half_open_at: NullableInstant({ description: 'When an open breaker becomes half open; null otherwise.' }),
      },
      {
        description:
          'Circuit breaker of the endpoint. It opens after five `consecutive_failures`, or if half of the last 20 attempts failed: sending is suspended for 30 seconds, and twice as long after each further failure, up to 15 minutes.',
      },
    ),
    consecutive_failures: number(
      'Consecutive attempts that got no response, 429, or a 5xx status. Five in a row open the breaker. Attempts to an address that the network policy does not allow don’t count.',
    ),
    failed_attempts: number('Failed attempts since the last success, not counting manual resends and recoveries.'),
    last_success_at: NullableInstant({
      description: 'When a delivery last succeeded, within the retention of the delivery log; null if none did.',
    }),
    deliveries: Shape(
      {
        pending: number('Deliveries waiting for the first attempt.'),
        in_flight: number('Deliveries being sent.'),
        retrying: number('Deliveries waiting for a retry.'),
        held: number('Deliveries held until the endpoint can receive them.'),
      },
      { description: 'Number of unfinished deliveries by status.' },
    ),
  },
  {
    $id: 'WebhookEndpointHealth',
    description: 'Health of an endpoint and the number of waiting deliveries.',
    examples: [
      {
        breaker: { state: 'open', half_open_at: '2026-11-21T10:00:30.000Z' },
        consecutive_failures: 5,
        failed_attempts: 5,
        last_success_at: '2026-11-21T09:41:12.000Z',
        deliveries: { pending: 120, in_flight: 0, retrying: 5, held: 0 },
      },
    ],
  },
)

export type WebhookEndpointHealthView = Static<typeof WebhookEndpointHealth>
