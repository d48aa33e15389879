import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { eventKinds } from '../../core/events'
import { editable, Instant, ListOf, MaybeInstant, Nullable, Prose, Shape, Words } from '../../core/shapes'
import { longestHeaderValue, mostHeaders } from './custom-headers'
import { longestSchedule, mostRetries } from './retry-schedule'
import { endpointStates, orderings } from './tables'

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
