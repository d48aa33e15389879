import type { NoticeKindEntry } from '../../core/notices'

export const notificationNotices = {
  'notification_channel.failing': { title: 'Notification channel is failing', severity: 'warning' },
  'notification_channel.disabled': { title: 'Notification channel disabled', severity: 'critical' },
} as const satisfies Record<string, NoticeKindEntry>
