import { and, eq, inArray, sql, type SQL } from 'drizzle-orm'
import { forIds } from '../../../core/db/id-list'
import { insertRows, type OnConflict } from '../../../core/db/insert-rows'
import { prepared } from '../../../core/db/prepared'
import { batched } from '../../../core/db/together'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { JobDraft } from '../../../core/jobs/draft'
import { reminderJobFor } from './delivery-jobs'
import { isAtLeast } from './quiet-hours'
import { notifications, notificationThreads, type ChannelRow, type NotificationRow, type ThreadRow } from '../tables'

// Limits the reminders that a re-enabled channel sends.
const maxThreads = 500

/** The state of an unresolved thread on all its channels, acknowledged or not. */
export const openThreads = async (tx: Tx, workspaceId: string, thread: string): Promise<ThreadRow[]> =>
  (await threadRowsOf(tx, thread)).filter(row => row.workspaceId === workspaceId && row.state !== 'ended')

const threadRowsOf = batched('notification-thread-rows', async (tx, threads: readonly string[]) => {
  const byThread = Map.groupBy(await threadRows(tx, threads), row => row.thread)
  return threads.map(thread => byThread.get(thread) ?? [])
})

/**
 * Opens a thread for a problem, reopens an ended one, or continues an open one. The caller holds a lock on the channel.
 * @returns the job of the first reminder, if the channel has reminders
 */
export async function openThread(tx: Tx, hub: Hub, channel: ChannelRow, problem: NotificationRow): Promise<JobDraft[]> {
  const now = hub.clock.now()
  const before = await threadOf(tx, problem)
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
  await saveThread(tx, {
    channelId: channel.id,
    thread: problem.thread,
    workspaceId: channel.workspaceId,
    createdAt: now,
    ...columns,
  })
  return isOpen ? [] : firstReminderJobs(channel, problem.thread, now)
}

type ThreadKey = Pick<ThreadRow, 'channelId' | 'thread'>
const keyOf = ({ channelId, thread }: ThreadKey): string => `${channelId} ${thread}`

const threadOf = batched('notification-thread', async (tx, keys: readonly ThreadKey[]) => {
  const rows = await threadRows(
    tx,
    keys.map(one => one.thread),
  )
  const byKey = new Map(rows.map(row => [keyOf(row), row]))
  return keys.map(key => byKey.get(keyOf(key)))
})

/** The state of threads on all their channels. */
const threadRows = (tx: Tx, threads: readonly string[]): Promise<ThreadRow[]> =>
  forIds([...new Set(threads)], (size, list, values) =>
    prepared<ThreadRow[], Tx>(tx, `notification-threads|${size}`, handle =>
      handle
        .select()
        .from(notificationThreads)
        .where(sql`${notificationThreads.thread} in ${list}`),
    ).execute(values),
  )

const saveThread = batched('notification-thread-save', async (tx, rows: readonly ThreadRow[]) => {
  await insertRows(tx, notificationThreads, rows, replaceExisting)
  return rows
})

const target = [notificationThreads.channelId, notificationThreads.thread]

const endExisting: OnConflict = {
  name: 'end',
  apply: insert =>
    insert.onConflictDoUpdate({ target, set: { state: sql`excluded.state`, updatedAt: sql`excluded.updated_at` } }),
}

const replaceExisting: OnConflict = {
  name: 'replace',
  apply: insert =>
    insert.onConflictDoUpdate({
      target,
      set: {
        state: sql`excluded.state`,
        severity: sql`excluded.severity`,
        problemId: sql`excluded.problem_id`,
        remindersSent: sql`excluded.reminders_sent`,
        sentCount: sql`excluded.sent_count`,
        updatedAt: sql`excluded.updated_at`,
      },
    }),
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

export async function endThread(tx: Tx, hub: Hub, thread: ThreadRow): Promise<void> {
  await saveEnded(tx, { ...thread, state: 'ended', updatedAt: hub.clock.now() })
}

const saveEnded = batched('notification-thread-end', async (tx, rows: readonly ThreadRow[]) => {
  await insertRows(tx, notificationThreads, rows, endExisting)
  return rows
})

/**
 * Cancels notifications of a thread on a channel that are no longer needed.
 * @param which notifications held by quiet hours, unsent reminders
 * @returns how many notifications of the thread are still pending
 */
export async function cancelThreadNotifications(
  tx: Tx,
  hub: Hub,
  { channelId, thread }: ThreadKey,
  which: { held: boolean; reminders: boolean },
  reason: string,
): Promise<number> {
  const waiting = await waitingOf(tx, { channelId, thread })
  const canceled = waiting.filter(
    row => (which.held && row.status === 'held' && row.attemptCount === 0) || (which.reminders && row.reminder),
  )
  const now = hub.clock.now()
  if (canceled.length > 0)
    await tx
      .update(notifications)
      .set({ status: 'canceled', reason, finishedAt: now, updatedAt: now })
      .where(
        inArray(
          notifications.id,
          canceled.map(row => row.id),
        ),
      )
  return waiting.length - canceled.length
}

type Waiting = Pick<NotificationRow, 'id' | 'thread' | 'status' | 'attemptCount' | 'reminder'>

/** The pending notifications of a thread on a channel locked by the caller. */
const waitingOf = batched('notifications-waiting', async (tx, keys: readonly ThreadKey[]) => {
  const found = new Map<string, Waiting[]>()
  for (const [channelId, own] of Map.groupBy(keys, key => key.channelId)) {
    const threads = own.map(key => key.thread)
    const rows = await forIds(threads, (size, list, values) => waitingOn(tx, size, list).execute({ ...values, channelId }))
    for (const [thread, some] of Map.groupBy(rows, row => row.thread)) found.set(keyOf({ channelId, thread }), some)
  }
  return keys.map(key => found.get(keyOf(key)) ?? [])
})

const waitingOn = (tx: Tx, size: number, threads: SQL) =>
  prepared<Waiting[], Tx>(tx, `notifications-waiting|${size}`, handle =>
    handle
      .select({
        id: notifications.id,
        thread: notifications.thread,
        status: notifications.status,
        attemptCount: notifications.attemptCount,
        reminder: notifications.reminder,
      })
      .from(notifications)
      .where(
        and(
          eq(notifications.channelId, sql.placeholder('channelId')),
          sql`${notifications.thread} in ${threads}`,
          inArray(notifications.status, ['pending', 'held']),
        ),
      ),
  )
