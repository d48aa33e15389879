import { accountView, type Accounts } from '../../adapters/accounts/accounts'
import { target } from '../../core/audit'
import { instant } from '../../core/clock'
import { editableView, memberView } from '../../core/members'
import { rowsOf } from '../../registry'
import { channelKindOf } from './channels'
import type { ChannelKind } from './channels/channel'
import { channelMembers, type NotificationChannelView } from './shapes'
import { notificationChannels, type ChannelRow } from './tables'

/** API representation of a channel. Secrets are only listed by name. */
export const channelView = (row: ChannelRow): NotificationChannelView => ({
  ...accountView(row),
  ...memberView(channelMembers, row),
  status: row.status,
  disabled_reason: row.disabledReason,
  failing: row.consecutiveFailures > 0,
  failing_since_at: instant(row.failingSince),
  last_error: row.lastError,
  last_sent_at: instant(row.lastSentAt),
  ...editableView(row),
})

export const channelAccounts: Accounts<ChannelRow, NotificationChannelView, ChannelKind> = {
  rows: rowsOf('notification_channel', notificationChannels),
  actions: {
    create: 'notification.channel.create',
    update: 'notification.channel.update',
    delete: 'notification.channel.delete',
  },
  kindOf: channelKindOf,
  reset: before => ({
    status: before?.status === 'disabled' ? 'disabled' : 'unverified',
    consecutiveFailures: 0,
    consecutiveGone: 0,
    retryAt: null,
    notBefore: null,
  }),
  view: channelView,
}

/** The audit log target of a channel. */
export const channelTarget = (row: Pick<ChannelRow, 'id' | 'name'>) => target(channelAccounts.rows.type, row)
