import { and, eq, inArray, ne, or, sql } from 'drizzle-orm'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { JobDraft } from '../../core/jobs/queue'
import { reminderJobFor } from './delivery-jobs'
import { isAtLeast } from './quiet-hours'
import { notifications, notificationThreads, type ChannelRow, type NotificationRow, type ThreadRow } from './tables'

// What more problems than these are open is told by the list of incidents.
const mostReminded = 500

/** What channels were told of a thread that is not over, acknowledged or not. */
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
 * Begins a thread with a problem, begins it anew where it had ended, or goes on with it. The caller holds the channel.
 * @returns the job of the first reminder, where the channel wants them
 */
export async function beginThread(tx: Tx, hub: Hub, channel: ChannelRow, problem: NotificationRow): Promise<JobDraft[]> {
  const now = hub.clock.now()
  const own = and(eq(notificationThreads.channelId, channel.id), eq(notificationThreads.thread, problem.thread))
  const [before] = await tx.select().from(notificationThreads).where(own)
  const goesOn = before !== undefined && before.state !== 'ended'
  // Where its end is not told yet, the other side still has the problem from before: it must hear of the next end.
  const isStillTold = goesOn || (before !== undefined && (await endWaits(tx, before)))
  const severity = goesOn && isAtLeast(before.severity, problem.severity) ? before.severity : problem.severity
  const begun = {
    state: goesOn ? before.state : ('open' as const),
    severity,
    problemId: problem.id,
    remindersSent: goesOn ? before.remindersSent : 0,
    sentCount: isStillTold ? before!.sentCount : 0,
    updatedAt: now,
  }
  await tx
    .insert(notificationThreads)
    .values({ channelId: channel.id, thread: problem.thread, workspaceId: channel.workspaceId, createdAt: now, ...begun })
    .onConflictDoUpdate({ target: [notificationThreads.channelId, notificationThreads.thread], set: begun })
  return goesOn ? [] : reminderAfter(channel, problem.thread, now)
}

/** Whether a recovery of a thread is still to be sent on its channel. */
async function endWaits(tx: Tx, { channelId, thread }: ThreadRow): Promise<boolean> {
  const [row] = await tx
    .select({ id: notifications.id })
    .from(notifications)
    .where(
      and(
        eq(notifications.channelId, channelId),
        eq(notifications.thread, thread),
        eq(notifications.state, 'recovery'),
        inArray(notifications.status, ['waiting', 'held']),
      ),
    )
    .limit(1)
  return row !== undefined
}

/** Reminders of what is still open on a channel, for one that is in service again or reminds otherwise than before. */
export async function remindersOn(tx: Tx, channel: ChannelRow, now: number): Promise<JobDraft[]> {
  const open = await tx
    .select({ thread: notificationThreads.thread })
    .from(notificationThreads)
    .where(and(eq(notificationThreads.channelId, channel.id), eq(notificationThreads.state, 'open')))
    .limit(mostReminded)
  return open.flatMap(({ thread }) => reminderAfter(channel, thread, now))
}

/** The job of the first reminder, where the channel wants them. @param now ms UTC */
export const reminderAfter = (channel: ChannelRow, thread: string, now: number): JobDraft[] =>
  channel.remindEverySeconds === null || channel.mostReminders === 0
    ? []
    : [reminderJobFor(channel.id, thread, now + channel.remindEverySeconds * 1_000)]

export async function endThread(tx: Tx, hub: Hub, { channelId, thread }: ThreadRow): Promise<void> {
  await tx
    .update(notificationThreads)
    .set({ state: 'ended', updatedAt: hub.clock.now() })
    .where(and(eq(notificationThreads.channelId, channelId), eq(notificationThreads.thread, thread)))
}

/**
 * Cancels what need not be told any more of a thread on a channel.
 * @param which what quiet hours hold, reminders that were not sent yet
 * @returns how many problems of it still wait to be sent
 */
export async function cancelOfThread(
  tx: Tx,
  hub: Hub,
  { channelId, thread }: Pick<ThreadRow, 'channelId' | 'thread'>,
  which: { held: boolean; reminders: boolean },
  reason: string,
): Promise<number> {
  const own = and(
    eq(notifications.channelId, channelId),
    eq(notifications.thread, thread),
    inArray(notifications.status, ['waiting', 'held']),
  )
  const now = hub.clock.now()
  await tx
    .update(notifications)
    .set({ status: 'cancelled', reason, finishedAt: now, updatedAt: now })
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
