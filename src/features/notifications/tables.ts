import { accountColumns } from '../../adapters/accounts/columns'
import { workspaces } from '../../access/tables'
import { flag, int, json, text, time } from '../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../core/db/dialect'
import { memberColumns } from '../../core/members'
import { severities } from '../../core/notices'
import type { ChannelFailure } from './channels/channel'
import type { Message } from './message'
import { notificationStatuses } from './log/shapes'
import { channelMembers, channelStatuses } from './shapes'

/** The error of the last attempt on a channel. */
export interface LastError {
  code: ChannelFailure
  detail: string
}

/** Destinations for notifications: a mailbox, a chat, a phone. */
export const notificationChannels = table(
  'notification_channels',
  {
    ...accountColumns(),
    ...memberColumns(channelMembers),
    status: text('status', { enum: [...channelStatuses] }).notNull(),
    disabledReason: text('disabled_reason'),
    // Consecutive failed attempts, and those that failed with `gone`.
    consecutiveFailures: int('consecutive_failures').notNull(),
    consecutiveGone: int('consecutive_gone').notNull(),
    failingSince: time('failing_since'),
    lastError: json<LastError | null>('last_error'),
    lastTriedAt: time('last_tried_at'),
    lastSentAt: time('last_sent_at'),
    // When failed notifications are retried; nothing is sent before `notBefore`, requested by the destination (Retry-After).
    retryAt: time('retry_at'),
    notBefore: time('not_before'),
  },
  t => [
    uniqueIndex('notification_channels_name').on(t.workspaceId, t.name),
    index('notification_channels_workspace').on(t.workspaceId, t.id),
  ],
)

/** The notification log: one row per message and channel. */
export const notifications = table(
  'notifications',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    // No reference: the log outlives the channel.
    channelId: text('channel_id').notNull(),
    kind: text('kind').notNull(),
    state: text('state', { enum: ['problem', 'recovery', 'information'] }).notNull(),
    // Severity for quiet hours; a recovery has the severity of its problem.
    severity: text('severity', { enum: [...severities] }).notNull(),
    thread: text('thread').notNull(),
    // Identifies the message within its channel, so that it is sent only once.
    dedupKey: text('dedup_key').notNull(),
    message: json<Message>('message').notNull(),
    reminder: flag('reminder').notNull(),
    status: text('status', { enum: [...notificationStatuses] }).notNull(),
    reason: text('reason'),
    attemptCount: int('attempt_count').notNull(),
    // Earliest time to send. A failed attempt after `giveUpAt` is final.
    dueAt: time('due_at').notNull(),
    giveUpAt: time('give_up_at').notNull(),
    lastError: json<LastError | null>('last_error'),
    // Response of the destination, one line.
    response: text('response'),
    // First notification sent in the same message; its own id if sent alone.
    sentWithId: text('sent_with_id'),
    sentAt: time('sent_at'),
    finishedAt: time('finished_at'),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [
    uniqueIndex('notifications_dedup_key').on(t.channelId, t.dedupKey),
    index('notifications_workspace').on(t.workspaceId, t.id),
    index('notifications_created').on(t.workspaceId, t.createdAt, t.id),
    index('notifications_channel').on(t.channelId, t.id),
    index('notifications_due').on(t.channelId, t.status, t.dueAt),
    index('notifications_thread').on(t.channelId, t.thread, t.id),
    index('notifications_finished').on(t.finishedAt),
  ],
)

/** The state of a thread, such as an incident, on a channel. */
export const notificationThreads = table(
  'notification_threads',
  {
    channelId: text('channel_id')
      .notNull()
      .references(() => notificationChannels.id, { onDelete: 'cascade' }),
    thread: text('thread').notNull(),
    workspaceId: text('workspace_id').notNull(),
    state: text('state', { enum: ['open', 'muted', 'ended'] }).notNull(),
    // Highest severity of its problems.
    severity: text('severity', { enum: [...severities] }).notNull(),
    // The notification that reminders repeat.
    problemId: text('problem_id').notNull(),
    remindersSent: int('reminders_sent').notNull(),
    // Messages sent since it was opened; mails refer to the first one.
    sentCount: int('sent_count').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [
    primaryKey({ columns: [t.channelId, t.thread] }),
    index('notification_threads_thread').on(t.thread),
    index('notification_threads_updated').on(t.updatedAt),
  ],
)

export type ChannelRow = typeof notificationChannels.$inferSelect
export type NotificationRow = typeof notifications.$inferSelect
export type ThreadRow = typeof notificationThreads.$inferSelect
