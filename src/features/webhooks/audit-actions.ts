import { Type } from '@sinclair/typebox'
import { requestChannels, auditAction } from '../../core/audit-actions'

const targets = ['webhook_endpoint']
const headers = { headers: Type.String({ description: 'Custom headers, as a keyed hash.' }) }
const created = { url: 'https://hooks.example.com/bailiwick', events: ['monitor.alert'], active: true, status: 'enabled' }

export const webhookActions = [
  auditAction({
    action: 'webhooks.endpoint.create',
    number: 'WH001',
    description: 'A webhook endpoint was created.',
    targets,
    changes: { of: 'webhooks.endpoint.update', fields: headers },
    example: { before: {}, after: created },
  }),
  auditAction({
    action: 'webhooks.endpoint.update',
    number: 'WH002',
    description: 'A webhook endpoint was updated.',
    targets,
    changes: { of: 'webhooks.endpoint.update', fields: headers },
    example: { before: { active: true }, after: { active: false } },
  }),
  auditAction({
    action: 'webhooks.endpoint.delete',
    number: 'WH003',
    description: 'A webhook endpoint was deleted and its unfinished deliveries were canceled.',
    targets,
    changes: { of: 'webhooks.endpoint.update' },
    example: { before: created, after: {} },
  }),
  auditAction({
    action: 'webhooks.endpoint.enable',
    number: 'WH004',
    description: 'A disabled webhook endpoint was re-enabled.',
    targets,
    changes: 'response',
    example: { before: { status: 'disabled', disabled_reason: 'gone' }, after: { status: 'enabled', disabled_reason: null } },
  }),
  auditAction({
    action: 'webhooks.endpoint.disable',
    number: 'WH005',
    description:
      'A webhook endpoint was disabled automatically because its deliveries failed or the plan allows fewer endpoints.',
    channels: ['job'],
    targets,
    changes: { of: 'webhooks.endpoint.update' },
    example: { before: { status: 'enabled', disabled_reason: null }, after: { status: 'disabled', disabled_reason: 'gone' } },
  }),
  auditAction({
    action: 'webhooks.endpoint.recover',
    number: 'WH006',
    description: 'A recovery of failed deliveries was started for a webhook endpoint.',
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
    description: 'The signing secret of a webhook endpoint was rotated.',
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
    description: 'The old signing secret of a webhook endpoint was dropped, manually or when the overlap ended.',
    channels: [...requestChannels, 'job'],
    targets,
    changes: 'response',
  }),
  auditAction({
    action: 'webhooks.delivery.resend',
    number: 'WH010',
    description: 'A webhook delivery was resent.',
    targets: ['webhook_delivery'],
    changes: 'response',
  }),
  auditAction({
    action: 'webhooks.endpoint.bulk',
    number: 'WH011',
    description: 'A bulk change of webhook endpoints was denied. Successful changes have their own events.',
    targets: [],
  }),
  auditAction({
    action: 'webhooks.delivery.expunge',
    number: 'WH012',
    description: 'The responses of a webhook delivery were removed from the log.',
    targets: ['webhook_delivery'],
    changes: 'response',
  }),
] as const
