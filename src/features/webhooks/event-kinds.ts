import { Type } from '@sinclair/typebox'
import { Words, Shape } from '../../core/shapes'
import { extensionKind } from '../../core/event-kinds'
import { At, IdOf, MaybeAt, Text } from '../../core/event-fields'

export const webhookKinds = [
  extensionKind({
    kind: 'webhook.endpoint_disabled',
    area: 'webhooks',
    title: 'Webhook endpoint disabled',
    description: 'A webhook endpoint was disabled automatically. New deliveries are held until it is re-enabled.',
    data: Shape({
      endpoint: Shape(
        {
          id: IdOf('whe', 'ID of the endpoint.'),
          url: Text('URL of the endpoint.'),
          description: Type.String({ description: 'Description of the endpoint.' }),
        },
        { description: 'The endpoint that was disabled.' },
      ),
      reason: Words(['failing', 'gone', 'plan_limit'], {
        description:
          '`failing`: no delivery succeeded for 5 days. `gone`: it responded with 410 twice in a row. `plan_limit`: the plan allows ' +
          'fewer endpoints.',
      }),
      failed_attempts: Type.Integer({ minimum: 0, description: 'Failed attempts since the last success.' }),
      last_success_at: MaybeAt('When a delivery last succeeded; null if never.'),
      disabled_at: At('When the endpoint was disabled.'),
    }),
    example: {
      endpoint: { id: 'whe_01k3ze6h8j0k2m4n6p8q0r2s4t', url: 'https://hooks.example.com/bailiwick', description: 'Chat room' },
      reason: 'failing',
      failed_attempts: 41,
      last_success_at: '2027-01-26T09:20:11.000Z',
      disabled_at: '2027-01-31T09:26:53.589Z',
    },
  }),
] as const
