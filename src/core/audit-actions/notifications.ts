import { Type } from '@sinclair/typebox'
import { auditAction } from './entry'

const targets = ['notification_channel']
const channelSecret = { secret: Type.String({ description: 'The secrets among its settings, as a keyed tag.' }) }
const beginning = { before: {}, after: { name: 'Phone of the one on duty', kind: 'ntfy', min_severity: 'info' } }

export const notificationActions = [
  auditAction({
    action: 'notification.channel.create',
    number: 'NC001',
    description: 'A notification channel was made.',
    targets,
    changes: { of: 'notification.channel.create', members: channelSecret },
    example: beginning,
  }),
  auditAction({
    action: 'notification.channel.update',
    number: 'NC002',
    description: 'A notification channel was edited. Of its secrets the log shows whether they changed, and no more.',
    targets,
    changes: { of: 'notification.channel.update', members: channelSecret },
    example: { before: { min_severity: 'info' }, after: { min_severity: 'warning' } },
  }),
  auditAction({
    action: 'notification.channel.delete',
    number: 'NC003',
    description: 'A notification channel was deleted; its log stays.',
    targets,
    changes: { of: 'notification.channel.create' },
    example: { before: beginning.after, after: {} },
  }),
  auditAction({
    action: 'notification.channel.test',
    number: 'NC004',
    description: 'A test was sent on a notification channel.',
    targets,
  }),
  auditAction({
    action: 'notification.channel.try',
    number: 'NC007',
    description: 'A test was sent by settings that no notification channel has so far.',
    targets,
  }),
  auditAction({
    action: 'notification.channel.enable',
    number: 'NC005',
    description: 'A notification channel that was disabled was taken back into service.',
    targets,
    changes: 'answer',
    example: { before: { status: 'disabled' }, after: { status: 'enabled' } },
  }),
  auditAction({
    action: 'notification.channel.disable',
    number: 'NC006',
    description: 'A notification channel was disabled, since the other side said that it is gone.',
    channels: ['job'],
    targets,
    changes: { of: 'notification.channel.enable' },
    example: { before: { status: 'enabled' }, after: { status: 'disabled' } },
  }),
] as const
