import { eventKinds } from '../core/events'
import type { JsonSchema, Schemas } from './openapi-schema'

interface Told {
  description: string
  example: string
  optional?: true
  schema?: JsonSchema
}

/** Headers of every message, in the order of interest. */
export const messageHeaders: Record<string, Told> = {
  'X-Service-Event': { description: 'The event kind, equal to `event` in the body.', example: 'domain.expiring' },
  'X-Service-Timestamp': {
    description: 'Time of this try: Unix seconds, decimal.',
    example: '1795255200',
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  'X-Service-Signature': {
    description: '`sha256=` and the hex HMAC-SHA256 of the body, keyed with the whole secret as text, `whsec_` included.',
    example: 'sha256=acd5f33008871edf8a25f91fd02941f1c9dad92e7f5e0ae0647063938856b599',
    schema: { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' },
  },
  'X-Service-Signature-Next': {
    description: 'X-Service-Signature made with the new secret; present while a rotation of the secret overlaps.',
    optional: true,
    example: 'sha256=acd5f33008871edf8a25f91fd02941f1c9dad92e7f5e0ae0647063938856b599',
    schema: { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' },
  },
  'webhook-id': {
    description: 'Id of the message, the same on every try: what to drop duplicates by.',
    example: 'msg_01k3z8q4g7e2wv5m9x0c6hbtfn',
  },
  'webhook-timestamp': {
    description: 'Equal to X-Service-Timestamp.',
    example: '1795255200',
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  'webhook-signature': {
    description:
      'Standard Webhooks: `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`, keyed with the decoded secret. A list, apart by spaces: one that fits is enough.',
    example: 'v1,6msiPWZhIPchG2oUoh1d9A7ipo/Ky7+pqhXOmwUxr98=',
  },
  'X-Service-Delivery': {
    description: 'Id of the delivery, as in `/v1/webhook-deliveries`.',
    example: 'dlv_01k3z8q4g7e2wv5m9x0c6hbtfn',
  },
  'X-Service-Attempt': { description: 'Number of this try, counted from 1.', example: '1' },
  'X-Service-Workspace': { description: 'The workspace.', example: 'ws_01k3z8q4g7e2wv5m9x0c6hbtfn' },
  'X-Service-Resource': {
    description: 'Type and id of what the event is about: `<type>/<id>`.',
    optional: true,
    example: 'heartbeat/hb_01k3zb2c4d6e8f0g2h4j6k8m0n',
  },
  'X-Service-Sequence': {
    description:
      'Number of the event among those of its resource and kind, without gaps: tells what came first, and what is missing.',
    optional: true,
    example: '7',
  },
  'X-Service-Occurred-At': { description: 'When it happened, RFC 3339.', example: '2026-11-21T10:00:00.000Z' },
  'X-Service-Test': { description: '`1` on a test message.', optional: true, example: '1' },
}

/** The `webhooks` section: one message an event kind, with the body that receivers get. */
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
        properties: { event: { type: 'string', const: entry.kind, description: 'The event kind.' }, data: entry.data },
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
              `To choose it for an endpoint, the permission \`${entry.area}.read\` is needed.`,
              entry.extension
                ? 'This kind is an extension beside the eight of the public interface. Like them it is sent only where it was chosen by name.'
                : '',
            ]
              .filter(Boolean)
              .join('\n\n'),
            'x-extension': entry.extension,
            'x-event-version': entry.version,
            security: [],
            parameters: Object.entries(messageHeaders).map(([header, told]) => ({
              name: header,
              in: 'header',
              required: !told.optional,
              description: told.description,
              schema: told.schema ?? { type: 'string' },
              example: header === 'X-Service-Event' ? entry.kind : told.example,
            })),
            requestBody: {
              required: true,
              content: { 'application/json': { schema: message, example: { event: entry.kind, data: entry.example } } },
            },
            responses: {
              200: { description: 'Taken. Any status from 200 to 299 counts, if it comes within the time limit.' },
              410: { description: 'The receiver is gone for good; twice in a row disables the endpoint.' },
              default: { description: 'Any other answer, or none in time, is a failure: the message is tried again.' },
            },
          },
        },
      ]
    }),
  )
}
