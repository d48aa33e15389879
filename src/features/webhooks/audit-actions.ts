import { Type } from '@sinclair/typebox'
import { requestChannels, type AuditActionDrafts } from '../../core/audit-actions'

const targets = ['webhook_endpoint']
const withHeaders = {
  of: 'webhooks.endpoint.update',
  fields: { headers: Type.String({ description: 'Custom headers, as a keyed hash.' }) },
}
const created = { url: 'https://hooks.example.com/bailiwick', events: ['monitor.alert'], active: true, status: 'enabled' }

export const webhookActions = {
  'webhooks.endpoint.create': { changes: withHeaders, example: { before: {}, after: created } },
  'webhooks.endpoint.update': { changes: withHeaders, example: { before: { active: true }, after: { active: false } } },
  'webhooks.endpoint.delete': { description: 'A webhook endpoint was deleted and its unfinished deliveries were canceled.' },
  'webhooks.endpoint.enable': {
    number: 'WH004',
    description: 'A disabled webhook endpoint was re-enabled.',
    changes: 'response',
    example: { before: { status: 'disabled', disabled_reason: 'gone' }, after: { status: 'enabled', disabled_reason: null } },
  },
  'webhooks.endpoint.disable': {
    number: 'WH005',
    description:
      'A webhook endpoint was disabled automatically because its deliveries failed or the plan allows fewer endpoints.',
    channels: ['job'],
    changes: { of: 'webhooks.endpoint.update' },
    example: { before: { status: 'enabled', disabled_reason: null }, after: { status: 'disabled', disabled_reason: 'gone' } },
  },
  'webhooks.endpoint.recover': {
    phrase: 'start a recovery of failed deliveries for {webhook_endpoint}',
    number: 'WH006',
    description: 'A recovery of failed deliveries was started for a webhook endpoint.',
  },
  'webhooks.endpoint.test': {
    phrase: 'send a test message to {webhook_endpoint}',
    number: 'WH007',
    description: 'A test message was sent to a webhook endpoint.',
  },
  'webhooks.secret.rotate': {
    phrase: 'rotate the signing secret of {webhook_endpoint}',
    number: 'WH008',
    description: 'The signing secret of a webhook endpoint was rotated.',
    targets,
    changes: { of: 'webhooks.endpoint.update' },
    example: {
      before: { next_secret_hint: null, overlap_ends_at: null },
      after: { next_secret_hint: 'whsec_…n2o=', overlap_ends_at: '2026-11-22T10:00:00.000Z' },
    },
  },
  'webhooks.secret.promote': {
    phrase: 'end the secret rotation of {webhook_endpoint}',
    number: 'WH009',
    description: 'The old signing secret of a webhook endpoint was dropped, manually or when the overlap ended.',
    channels: [...requestChannels, 'job'],
    targets,
    changes: 'response',
  },
  'webhooks.delivery.resend': { number: 'WH010', description: 'A webhook delivery was resent.', changes: 'response' },
  'webhooks.delivery.expunge': {
    phrase: 'remove the responses of {webhook_delivery}',
    number: 'WH012',
    description: 'The responses of a webhook delivery were removed from the log.',
    changes: 'response',
  },
} satisfies AuditActionDrafts
