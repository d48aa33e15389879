import { Type } from '@sinclair/typebox'
import { asked, auditAction } from './entry'

const targets = ['webhook_endpoint']
const headers = { headers: Type.String({ description: 'Headers of your own, as a keyed tag.' }) }
const made = { url: 'https://hooks.example.com/bailiwick', events: ['monitor.alert'], active: true, status: 'enabled' }

export const webhookActions = [
  auditAction({
    action: 'webhooks.endpoint.create',
    number: 'WH001',
    description: 'A webhook endpoint was made.',
    targets,
    changes: { of: 'webhooks.endpoint.update', members: headers },
    example: { before: {}, after: made },
  }),
  auditAction({
    action: 'webhooks.endpoint.update',
    number: 'WH002',
    description: 'A webhook endpoint was edited.',
    targets,
    changes: { of: 'webhooks.endpoint.update', members: headers },
    example: { before: { active: true }, after: { active: false } },
  }),
  auditAction({
    action: 'webhooks.endpoint.delete',
    number: 'WH003',
    description: 'A webhook endpoint was deleted, and what waited for it cancelled.',
    targets,
    changes: { of: 'webhooks.endpoint.update' },
    example: { before: made, after: {} },
  }),
  auditAction({
    action: 'webhooks.endpoint.enable',
    number: 'WH004',
    description: 'A webhook endpoint that the service had disabled was enabled again.',
    targets,
    changes: 'answer',
    example: { before: { status: 'disabled', disabled_reason: 'gone' }, after: { status: 'enabled', disabled_reason: null } },
  }),
  auditAction({
    action: 'webhooks.endpoint.disable',
    number: 'WH005',
    description: 'The service disabled a webhook endpoint because its deliveries failed.',
    channels: ['job'],
    targets,
    changes: { of: 'webhooks.endpoint.update' },
    example: { before: { status: 'enabled', disabled_reason: null }, after: { status: 'disabled', disabled_reason: 'gone' } },
  }),
  auditAction({
    action: 'webhooks.endpoint.recover',
    number: 'WH006',
    description: 'What a webhook endpoint had not taken was asked to be sent again.',
    targets,
  }),
  auditAction({
    action: 'webhooks.endpoint.test',
    number: 'WH007',
    description: 'A test message was sent to a webhook endpoint.',
    targets,
  }),
  auditAction({
    action: 'webhooks.secret.rotate',
    number: 'WH008',
    description: 'A webhook endpoint got a new signing secret.',
    targets,
    changes: { of: 'webhooks.endpoint.update' },
    example: {
      before: { next_secret_hint: null, overlap_ends_at: null },
      after: { next_secret_hint: 'whsec_…n2o=', overlap_ends_at: '2026-11-22T10:00:00.000Z' },
    },
  }),
  auditAction({
    action: 'webhooks.secret.promote',
    number: 'WH009',
    description: 'The old signing secret of a webhook endpoint was dropped, by hand or at the end of the overlap.',
    channels: [...asked, 'job'],
    targets,
    changes: 'answer',
  }),
  auditAction({
    action: 'webhooks.delivery.resend',
    number: 'WH010',
    description: 'A delivery was asked to be sent again.',
    targets: ['webhook_delivery'],
    changes: 'answer',
  }),
  auditAction({
    action: 'webhooks.endpoint.bulk',
    number: 'WH011',
    description: 'Many changes of webhook endpoints at once were refused; those that are made have entries of their own.',
    targets: [],
  }),
  auditAction({
    action: 'webhooks.delivery.expunge',
    number: 'WH012',
    description: 'What was received for a delivery was removed from the log.',
    targets: ['webhook_delivery'],
    changes: 'answer',
  }),
] as const
