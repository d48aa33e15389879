import { and, eq, inArray, ne, or, sql } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { JobDraft } from '../../../core/jobs/draft'
import { reminderJobFor } from './delivery-jobs'
import { isAtLeast } from './quiet-hours'
import { notifications, notificationThreads, type ChannelRow, type NotificationRow, type ThreadRow } from '../tables'

// Limits the reminders that a re-enabled channel sends.
const maxThreads = 500

/** The state of an unresolved thread on all its channels, acknowledged or not. */
export const openThreads = (tx: Tx, workspaceId: string, thread: string): Promise<ThreadRow[]> =>
  tx
    .select()
    .from(notificationThreads)
    .where(
      and(
        eq(notificationThreads.thread, thread),
        eq(notificationThreads.workspaceId, workspaceId),
        ne(notificationThreads.state, 'ended'),
      ),
    )

/**
 * Opens a thread for a problem, reopens an ended one, or continues an open one. The caller holds a lock on the channel.
 * @returns the job of the first reminder, if the channel has reminders
 */
export async function openThread(tx: Tx, hub: Hub, channel: ChannelRow, problem: NotificationRow): Promise<JobDraft[]> {
  const now = hub.clock.now()
  const own = and(eq(notificationThreads.channelId, channel.id), eq(notificationThreads.thread, problem.thread))
  const [before] = await tx.select().from(notificationThreads).where(own)
  const isOpen = before !== undefined && before.state !== 'ended'
  // If the previous recovery is still pending, the destination still shows the earlier problem, so the next recovery must be sent.
  const recoveryUnsent = isOpen || (before !== undefined && (await hasPendingRecovery(tx, before)))
  const severity = isOpen && isAtLeast(before.severity, problem.severity) ? before.severity : problem.severity
  const columns = {
    state: isOpen ? before.state : ('open' as const),
    severity,
    problemId: problem.id,
    remindersSent: isOpen ? before.remindersSent : 0,
    sentCount: recoveryUnsent ? before!.sentCount : 0,
    updatedAt: now,
  }
  await tx
    .insert(notificationThreads)
    .values({ channelId: channel.id, thread: problem.thread, workspaceId: channel.workspaceId, createdAt: now, ...columns })
    .onConflictDoUpdate({ target: [notificationThreads.channelId, notificationThreads.thread], set: columns })
  return isOpen ? [] : firstReminderJobs(channel, problem.thread, now)
}

/** Whether a recovery of the thread is still pending on the channel. */
async function hasPendingRecovery(tx: Tx, { channelId, thread }: ThreadRow): Promise<boolean> {
  const [row] = await tx
    .select({ id: notifications.id })
    .from(notifications)
    .where(
      and(
        eq(notifications.channelId, channelId),
        eq(notifications.thread, thread),
        eq(notifications.state, 'recovery'),
        inArray(notifications.status, ['pending', 'held']),
      ),
    )
    .limit(1)
  return row !== undefined
}

/** Schedules reminders of open threads on a channel that was enabled again or whose reminder settings changed. */
export async function restartReminders(tx: Tx, channel: ChannelRow, now: number): Promise<JobDraft[]> {
  const open = await tx
    .select({ thread: notificationThreads.thread })
    .from(notificationThreads)
    .where(and(eq(notificationThreads.channelId, channel.id), eq(notificationThreads.state, 'open')))
    .limit(maxThreads)
  return open.flatMap(({ thread }) => firstReminderJobs(channel, thread, now))
}

/** The job of the first reminder, if the channel has reminders. @param now ms UTC */
export const firstReminderJobs = (channel: ChannelRow, thread: string, now: number): JobDraft[] =>
  channel.remindEverySeconds === null || channel.maxReminders === 0
    ? []
    : [reminderJobFor(channel.id, thread, now + channel.remindEverySeconds * 1_000)]

export async function endThread(tx: Tx, hub: Hub, { channelId, thread }: ThreadRow): Promise<void> {
  await tx
    .update(notificationThreads)
    .set({ state: 'ended', updatedAt: hub.clock.now() })
    .where(and(eq(notificationThreads.channelId, channelId), eq(notificationThreads.thread, thread)))
}

/**
 * Cancels notifications of a thread on a channel that are no longer needed.
 * @param which notifications held by quiet hours, unsent reminders
 * @returns how many notifications of the thread are still pending
 */
export async function cancelThreadNotifications(
  tx: Tx,
  hub: Hub,
  { channelId, thread }: Pick<ThreadRow, 'channelId' | 'thread'>,
  which: { held: boolean; reminders: boolean },
  reason: string,
): Promise<number> {
  const own = and(
    eq(notifications.channelId, channelId),
    eq(notifications.thread, thread),
    inArray(notifications.status, ['pending', 'held']),
  )
  const now = hub.clock.now()
  await tx
    .update(notifications)
    .set({ status: 'canceled', reason, finishedAt: now, updatedAt: now })
    .where(
      and(
        own,
        or(
          which.held ? and(eq(notifications.status, 'held'), eq(notifications.attemptCount, 0)) : undefined,
          which.reminders ? eq(notifications.reminder, true) : undefined,
        ),
      ),
    )
  const [row] = await tx
    .select({ n: sql<number>`count(*)`.mapWith(Number) })
    .from(notifications)
    .where(own)
  return row!.n
}
