import { Type } from '@sinclair/typebox'
import { auditAction, requestChannels } from '../../core/audit-actions'

const targets = ['notification_channel']
const channelSecret = { secret: Type.String({ description: 'The secrets in the settings, as a keyed hash.' }) }
const created = { before: {}, after: { name: 'On-call phone', kind: 'ntfy', min_severity: 'info' } }

export const notificationActions = [
  auditAction({
    action: 'notification.channel.create',
    number: 'NC001',
    description: 'A notification channel was created.',
    targets,
    changes: { of: 'notification.channel.create', fields: channelSecret },
    example: created,
  }),
  auditAction({
    action: 'notification.channel.update',
    number: 'NC002',
    description:
      'A notification channel was updated, by a request or because its destination has a new address. For secrets, only whether they changed is logged.',
    channels: [...requestChannels, 'job'],
    targets,
    changes: { of: 'notification.channel.update', fields: channelSecret },
    example: { before: { min_severity: 'info' }, after: { min_severity: 'warning' } },
  }),
  auditAction({
    action: 'notification.channel.delete',
    number: 'NC003',
    description: 'A notification channel was deleted. Its log is kept.',
    targets,
    changes: { of: 'notification.channel.create' },
    example: { before: created.after, after: {} },
  }),
  auditAction({
    action: 'notification.channel.test',
    number: 'NC004',
    description: 'A test message was sent through a notification channel.',
    targets,
  }),
  auditAction({
    action: 'notification.channel.test_settings',
    number: 'NC007',
    description: 'A test message was sent with the settings of a channel that has not been created yet.',
    targets,
  }),
  auditAction({
    action: 'notification.channel.enable',
    number: 'NC005',
    description: 'A disabled notification channel was re-enabled.',
    targets,
    changes: 'response',
    example: { before: { status: 'disabled' }, after: { status: 'enabled' } },
  }),
  auditAction({
    action: 'notification.channel.disable',
    number: 'NC006',
    description: 'A notification channel was disabled because the service reported that it no longer exists.',
    channels: ['job'],
    targets,
    changes: { of: 'notification.channel.enable' },
    example: { before: { status: 'enabled' }, after: { status: 'disabled' } },
  }),
] as const
