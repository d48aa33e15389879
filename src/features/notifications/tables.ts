import { workspaces } from '../../access/tables'
import { flag, int, json, text, time } from '../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../core/db/dialect'
import { severities } from '../../core/notices'
import type { ChannelFailure } from './channels/channel'
import type { Message } from './message'
import type { QuietHours } from './quiet-hours'

export const channelStates = ['enabled', 'disabled'] as const

/** What went wrong when a channel was last tried: in one word, and for people. */
export interface ChannelTrouble {
  failure: ChannelFailure
  detail: string
}

/** Where people are told: a mailbox, a chat, a phone. */
export const notificationChannels = table(
  'notification_channels',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    kind: text('kind').notNull(),
    name: text('name').notNull(),
    settings: json<Record<string, unknown>>('settings').notNull(),
    // JSON of path and value, sealed as one; null when there are none.
    secretsSealed: text('secrets_sealed'),
    secretNames: json<string[]>('secret_names').notNull(),
    // Takes what names no channels of its own.
    forEverything: flag('for_everything').notNull(),
    topics: json<string[]>('topics').notNull(),
    minSeverity: text('min_severity', { enum: [...severities] }).notNull(),
    // Takes only what has one of them; all when empty.
    tags: json<string[]>('tags').notNull(),
    // Null does not remind.
    remindEverySeconds: int('remind_every_seconds'),
    mostReminders: int('most_reminders').notNull(),
    quietHours: json<QuietHours | null>('quiet_hours'),
    groupSeconds: int('group_seconds').notNull(),
    active: flag('active').notNull(),
    status: text('status', { enum: [...channelStates] }).notNull(),
    disabledReason: text('disabled_reason'),
    // Tries in a row that failed, and those of them that said the channel is gone.
    failuresInARow: int('failures_in_a_row').notNull(),
    goneInARow: int('gone_in_a_row').notNull(),
    failingSince: time('failing_since'),
    lastError: json<ChannelTrouble | null>('last_error'),
    lastTriedAt: time('last_tried_at'),
    lastSentAt: time('last_sent_at'),
    // When what was tried in vain is tried again; and before when nothing at all is sent, since the other side asked for it.
    retryAt: time('retry_at'),
    notBefore: time('not_before'),
    version: int('version').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [
    uniqueIndex('notification_channels_name').on(t.workspaceId, t.name),
    index('notification_channels_workspace').on(t.workspaceId, t.id),
  ],
)

export const notificationStates = ['waiting', 'held', 'sent', 'failed', 'cancelled'] as const

/** The log: one row a message and channel. */
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
    // What quiet hours go by: of a recovery that of the problem it ends.
    severity: text('severity', { enum: [...severities] }).notNull(),
    thread: text('thread').notNull(),
    // Names the message within its channel: told twice, it is sent once.
    once: text('once').notNull(),
    message: json<Message>('message').notNull(),
    reminder: flag('reminder').notNull(),
    status: text('status', { enum: [...notificationStates] }).notNull(),
    reason: text('reason'),
    attemptCount: int('attempt_count').notNull(),
    // When it may be sent at the earliest; a failed try after `giveUpAt` is the last.
    dueAt: time('due_at').notNull(),
    giveUpAt: time('give_up_at').notNull(),
    lastError: json<ChannelTrouble | null>('last_error'),
    // What the other side answered, in one line.
    said: text('said'),
    // The first of those that went out as one message with it; its own id when it went alone.
    sentIn: text('sent_in'),
    sentAt: time('sent_at'),
    finishedAt: time('finished_at'),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [
    uniqueIndex('notifications_once').on(t.channelId, t.once),
    index('notifications_workspace').on(t.workspaceId, t.id),
    index('notifications_channel').on(t.channelId, t.id),
    index('notifications_due').on(t.channelId, t.status, t.dueAt),
    index('notifications_thread').on(t.channelId, t.thread, t.id),
    index('notifications_finished').on(t.finishedAt),
  ],
)

/** What a channel was told of one matter that goes on, such as an incident. */
export const notificationThreads = table(
  'notification_threads',
  {
    channelId: text('channel_id')
      .notNull()
      .references(() => notificationChannels.id, { onDelete: 'cascade' }),
    thread: text('thread').notNull(),
    workspaceId: text('workspace_id').notNull(),
    state: text('state', { enum: ['open', 'hushed', 'ended'] }).notNull(),
    // The highest of its problems.
    severity: text('severity', { enum: [...severities] }).notNull(),
    // The problem that reminders repeat.
    problemId: text('problem_id').notNull(),
    remindersSent: int('reminders_sent').notNull(),
    // Messages that went out since it began: the first is what others refer to.
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
