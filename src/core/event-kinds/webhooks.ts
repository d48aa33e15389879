import { Type } from '@sinclair/typebox'
import { Words, Shape } from '../shapes'
import { extensionKind } from './entry'
import { At, IdOf, MaybeAt, Text } from './members'

export const webhookKinds = [
  extensionKind({
    kind: 'webhook.endpoint_disabled',
    area: 'webhooks',
    title: 'Webhook endpoint disabled',
    description: 'An endpoint was disabled because its deliveries fail. What happens from now on is held for it.',
    data: Shape({
      endpoint: Shape(
        {
          id: IdOf('whe', 'Its id.'),
          url: Text('Its URL.'),
          description: Type.String({ description: 'Its description.' }),
        },
        { description: 'The endpoint that was disabled.' },
      ),
      reason: Words(['failing', 'gone', 'plan_limit'], {
        description: '`failing`: no success for days; `gone`: it answered 410 twice; `plan_limit`: the plan allows fewer.',
      }),
      failed_attempts: Type.Integer({ minimum: 0, description: 'Failed tries since the last success.' }),
      last_success_at: MaybeAt('When a delivery last succeeded; null if never.'),
      disabled_at: At('When it was disabled.'),
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
