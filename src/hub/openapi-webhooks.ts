import { eventKinds } from '../features/event-kinds'
import { isSent } from '../registry'
import type { JsonSchema, Schemas } from './openapi-schema'

interface MessageHeader {
  description: string
  example: string
  optional?: true
  schema?: JsonSchema
}

/** Headers of every message, the most important first. */
export const messageHeaders: Record<string, MessageHeader> = {
  'X-Service-Event': { description: 'The event kind, equal to `event` in the body.', example: 'domain.expiring' },
  'X-Service-Timestamp': {
    description: 'Time of this attempt, in Unix seconds.',
    example: '1795255200',
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  'X-Service-Signature': {
    description:
      '`sha256=` and the hex HMAC-SHA256 of the raw body. The key is the whole secret as text, including `whsec_`. Does not cover the timestamp; webhook-signature does.',
    example: 'sha256=acd5f33008871edf8a25f91fd02941f1c9dad92e7f5e0ae0647063938856b599',
    schema: { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' },
  },
  'X-Service-Signature-Next': {
    description: 'Like X-Service-Signature, but with the new secret. Sent while a secret rotation is in progress.',
    optional: true,
    example: 'sha256=acd5f33008871edf8a25f91fd02941f1c9dad92e7f5e0ae0647063938856b599',
    schema: { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' },
  },
  'webhook-id': {
    description: 'ID of the message, the same on every attempt. Use it to detect duplicates.',
    example: 'msg_01k3z8q4g7e2wv5m9x0c6hbtfn',
  },
  'webhook-timestamp': {
    description: 'Time of this attempt, in Unix seconds; the same as X-Service-Timestamp.',
    example: '1795255200',
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  'webhook-signature': {
    description:
      'Standard Webhooks: `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`, keyed with the part of the secret after `whsec_`, decoded from base64. Can contain multiple signatures, separated by spaces; one match is enough.',
    example: 'v1,riHJuxy/fT5jbtL1WA/vSORrSh5X+jvJN9euFVOn6xw=',
  },
  'X-Service-Delivery': {
    description: 'ID of the delivery, as in `/v1/webhook-deliveries`.',
    example: 'dlv_01k3z8q4g7e2wv5m9x0c6hbtfn',
  },
  'X-Service-Attempt': { description: 'Number of this attempt, starting at 1.', example: '1' },
  'X-Service-Workspace': { description: 'ID of the workspace.', example: 'ws_01k3z8q4g7e2wv5m9x0c6hbtfn' },
  'X-Service-Resource': {
    description: 'The resource the event is about, as `<type>/<id>`.',
    optional: true,
    example: 'heartbeat/hb_01k3zb2c4d6e8f0g2h4j6k8m0n',
  },
  'X-Service-Sequence': {
    description:
      'Sequence number of the event, counted per resource and event kind, without gaps. Use it to order events and detect missing ones.',
    optional: true,
    example: '7',
  },
  'X-Service-Occurred-At': { description: 'When the event occurred (RFC 3339).', example: '2026-11-21T10:00:00.000Z' },
  'X-Service-Test': { description: '`1` on test messages.', optional: true, example: '1' },
}

/** The `webhooks` section: the message of each event kind, as receivers get it. */
export function webhookSection(schemas: Schemas): Record<string, JsonSchema> {
  return Object.fromEntries(
    eventKinds.map(entry => {
      const name = entry.kind
        .split(/[._]/)
        .map(word => word[0]!.toUpperCase() + word.slice(1))
        .join('')
      const message = schemas.of({
        $id: `${name}Message`,
        type: 'object',
        description: entry.description,
        required: ['event', 'data'],
        additionalProperties: false,
        properties: {
          event: { type: 'string', const: entry.kind, description: 'The event kind.' },
          data: { description: 'Data of the event.', ...entry.data },
        },
        examples: [{ event: entry.kind, data: entry.example }],
      })
      return [
        entry.kind,
        {
          post: {
            operationId: `receive${name}`,
            tags: ['Messages'],
            summary: entry.title,
            description: [
              entry.description,
              ...(isSent(entry) ? [] : ['This version does not send this event yet. You can already subscribe to it.']),
              `Sent only to endpoints that subscribe to this event. Subscribing requires the \`${entry.area}.read\` permission.`,
            ].join('\n\n'),
            'x-extension': entry.extension,
            'x-event-version': entry.version,
            security: [],
            parameters: Object.entries(messageHeaders).map(([header, { description, example, optional, schema }]) => ({
              name: header,
              in: 'header',
              required: !optional,
              description,
              schema: schema ?? { type: 'string' },
              example: header === 'X-Service-Event' ? entry.kind : example,
            })),
            requestBody: {
              required: true,
              content: { 'application/json': { schema: message, example: { event: entry.kind, data: entry.example } } },
            },
            responses: {
              200: {
                description:
                  'Delivered. Any status from 200 to 299 counts as success if it arrives within the `timeout_seconds` of the endpoint.',
              },
              410: { description: 'The receiver no longer exists. Two 410 responses in a row disable the endpoint.' },
              default: {
                description:
                  'Any other response, or none within the `timeout_seconds` of the endpoint, is a failure, including a redirect. The message is retried as set in the `retry_schedule` of the endpoint.',
              },
            },
          },
        },
      ]
    }),
  )
}
