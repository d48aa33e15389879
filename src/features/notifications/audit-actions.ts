import { Type } from '@sinclair/typebox'
import { requestChannels, type AuditActionDrafts } from '../../core/audit-actions'

const withSecret = {
  of: 'notification.channel.update',
  fields: { secret: Type.String({ description: 'The secrets in the settings, as a keyed hash.' }) },
}
const created = { before: {}, after: { name: 'On-call phone', kind: 'ntfy', min_severity: 'info' } }

export const notificationActions = {
  'notification.channel.create': { changes: withSecret, example: created },
  'notification.channel.update': {
    description:
      'A notification channel was updated, by a request or because its destination has a new address. For secrets, only whether they changed is logged.',
    channels: [...requestChannels, 'job'],
    changes: withSecret,
    example: { before: { min_severity: 'info' }, after: { min_severity: 'warning' } },
  },
  'notification.channel.delete': { description: 'A notification channel was deleted. Its log is kept.' },
  'notification.channel.test': {
    phrase: 'send a test message through {notification_channel}',
    number: 'NC004',
    description: 'A test message was sent through a notification channel.',
  },
  'notification.channel.test_settings': {
    phrase: 'send a test message with the settings of a new notification channel',
    number: 'NC007',
    description: 'A test message was sent with the settings of a channel that has not been created yet.',
  },
  'notification.channel.enable': {
    number: 'NC005',
    description: 'A disabled notification channel was re-enabled.',
    changes: 'response',
    example: { before: { status: 'disabled' }, after: { status: 'enabled' } },
  },
  'notification.channel.disable': {
    number: 'NC006',
    description: 'A notification channel was disabled because its destination no longer exists or rejected the credentials.',
    channels: ['job'],
    changes: { of: 'notification.channel.enable' },
    example: { before: { status: 'enabled' }, after: { status: 'disabled' } },
  },
} satisfies AuditActionDrafts
