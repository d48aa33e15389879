import { and, asc, eq, inArray, min, ne } from 'drizzle-orm'
import type { Reader, Tx } from '../../core/db/transaction'
import type { JobDraft } from '../../core/jobs/queue'
import { deliverJobFor } from './delivery-jobs'
import { notifications, notificationThreads, type ChannelRow, type NotificationRow } from './tables'

// All that waits goes as one message, which names the first; so many are read and written in one go.
const mostTogether = 2_000

/** What a channel has to send yet, the oldest first, as far as one message carries. */
export const waitingOf = (read: Reader, channelId: string): Promise<NotificationRow[]> =>
  read
    .select()
    .from(notifications)
    .where(isWaiting(channelId))
    .orderBy(asc(notifications.dueAt), asc(notifications.id))
    .limit(mostTogether)

/**
 * What of a channel need not be sent any more, by id: problems of which nothing was tried yet and that are over by now, and the
 * recoveries that end them. What was tried may have arrived, and its end is told.
 */
export async function overUnsent(read: Reader, channelId: string): Promise<{ problems: string[]; recoveries: string[] }> {
  const none = { problems: [], recoveries: [] }
  const [ended] = await read
    .select({ id: notifications.id })
    .from(notifications)
    .where(and(isWaiting(channelId), eq(notifications.state, 'recovery')))
    .limit(1)
  if (!ended) return none
  const rows = await read
    .select({
      id: notifications.id,
      thread: notifications.thread,
      state: notifications.state,
      attemptCount: notifications.attemptCount,
      sentCount: notificationThreads.sentCount,
    })
    .from(notifications)
    .innerJoin(
      notificationThreads,
      and(eq(notificationThreads.channelId, notifications.channelId), eq(notificationThreads.thread, notifications.thread)),
    )
    .where(and(isWaiting(channelId), ne(notifications.state, 'information')))
    .orderBy(asc(notifications.createdAt), asc(notifications.id))
    .limit(mostLookedAt)
  const told = [...Map.groupBy(rows, row => row.thread).values()].filter(
    thread => thread[0]!.sentCount === 0 && thread.every(row => row.attemptCount === 0),
  )
  const over = told.flatMap(thread => thread.slice(0, thread.findLastIndex(row => row.state === 'recovery') + 1))
  const idsOf = (state: NotificationRow['state']) => over.filter(row => row.state === state).map(row => row.id)
  return { problems: idsOf('problem'), recoveries: idsOf('recovery') }
}

const mostLookedAt = 10_000

/** The job that sends what waits on a channel that the caller holds; none where nothing does. */
export async function deliverJobsFor(tx: Tx, channel: Pick<ChannelRow, 'id' | 'workspaceId'>): Promise<JobDraft[]> {
  const [row] = await tx
    .select({ at: min(notifications.dueAt) })
    .from(notifications)
    .where(isWaiting(channel.id))
  return row?.at === null || row?.at === undefined ? [] : [deliverJobFor(channel, Number(row.at))]
}

/** Cancels all that waits on a channel. @returns how many */
export async function cancelWaiting(tx: Tx, channelId: string, reason: string, now: number): Promise<number> {
  const rows = await tx
    .update(notifications)
    .set({ status: 'cancelled', reason, finishedAt: now, updatedAt: now })
    .where(isWaiting(channelId))
    .returning({ id: notifications.id })
  return rows.length
}

/** Cancels those of some notifications of a channel that wait. */
export async function cancelSome(tx: Tx, channelId: string, ids: readonly string[], reason: string, now: number): Promise<void> {
  if (ids.length === 0) return
  await tx
    .update(notifications)
    .set({ status: 'cancelled', reason, finishedAt: now, updatedAt: now })
    .where(and(isWaiting(channelId), inArray(notifications.id, ids)))
}

/** Has looked at anew what quiet hours hold: they may be others now. */
export async function releaseHeld(tx: Tx, channelId: string, now: number): Promise<void> {
  await tx
    .update(notifications)
    .set({ dueAt: now })
    .where(and(eq(notifications.channelId, channelId), eq(notifications.status, 'held')))
}

const isWaiting = (channelId: string) =>
  and(eq(notifications.channelId, channelId), inArray(notifications.status, ['waiting', 'held']))
