import { and, asc, eq, inArray, ne, sql } from 'drizzle-orm'
import { forIds } from '../../../core/db/id-list'
import { prepared } from '../../../core/db/prepared'
import { batched } from '../../../core/db/together'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { JobDraft } from '../../../core/jobs/draft'
import { deliverJobFor } from './delivery-jobs'
import { notifications, notificationThreads, type ChannelRow, type NotificationRow } from '../tables'

// All pending notifications are sent as one message, up to this many.
const maxPerMessage = 2_000

/** The pending notifications of a channel, oldest first, up to the limit of one message. */
export const pendingOf = (read: Reader, channelId: string): Promise<NotificationRow[]> =>
  read
    .select()
    .from(notifications)
    .where(isPending(channelId))
    .orderBy(asc(notifications.dueAt), asc(notifications.id))
    .limit(maxPerMessage)

/**
 * Ids of notifications of a channel that need not be sent: problems without an attempt that have recovered, and their recoveries. A
 * problem with an attempt may have arrived, so its recovery must be sent.
 */
export async function recoveredUnsent(read: Reader, channelId: string): Promise<{ problems: string[]; recoveries: string[] }> {
  const none = { problems: [], recoveries: [] }
  const [ended] = await read
    .select({ id: notifications.id })
    .from(notifications)
    .where(and(isPending(channelId), eq(notifications.state, 'recovery')))
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
    .where(and(isPending(channelId), ne(notifications.state, 'information')))
    .orderBy(asc(notifications.createdAt), asc(notifications.id))
    .limit(maxScanned)
  const unsent = [...Map.groupBy(rows, row => row.thread).values()].filter(
    thread => thread[0]!.sentCount === 0 && thread.every(row => row.attemptCount === 0),
  )
  const recovered = unsent.flatMap(thread => thread.slice(0, thread.findLastIndex(row => row.state === 'recovery') + 1))
  const idsOf = (state: NotificationRow['state']) => recovered.filter(row => row.state === state).map(row => row.id)
  return { problems: idsOf('problem'), recoveries: idsOf('recovery') }
}

const maxScanned = 10_000

/** The job that sends the pending notifications of a channel locked by the caller, if there are any. */
export async function deliverJobsFor(tx: Tx, channel: Pick<ChannelRow, 'id' | 'workspaceId'>): Promise<JobDraft[]> {
  const at = await firstDue(tx, channel.id)
  return at === null ? [] : [deliverJobFor(channel, at)]
}

const firstDue = batched('notification-due', async (tx, channelIds: readonly string[]) => {
  const found = await forIds([...new Set(channelIds)], (size, list, values) =>
    prepared<{ id: string; at: number }[], Tx>(
      tx,
      `notification-due|${size}`,
      handle =>
        handle
          .select({ id: notifications.channelId, at: sql<number>`min(${notifications.dueAt})`.mapWith(Number) })
          .from(notifications)
          .where(and(sql`${notifications.channelId} in ${list}`, inArray(notifications.status, ['pending', 'held'])))
          .groupBy(notifications.channelId) as never,
    ).execute(values),
  )
  const dueAt = new Map(found.map(row => [row.id, row.at]))
  return channelIds.map(id => dueAt.get(id) ?? null)
})

/** Cancels all pending notifications of a channel. @returns how many */
export async function cancelPending(tx: Tx, channelId: string, reason: string, now: number): Promise<number> {
  const rows = await tx
    .update(notifications)
    .set({ status: 'canceled', reason, finishedAt: now, updatedAt: now })
    .where(isPending(channelId))
    .returning({ id: notifications.id })
  return rows.length
}

/** Cancels the given notifications of a channel if they are pending. */
export async function cancelByIds(tx: Tx, channelId: string, ids: readonly string[], reason: string, now: number): Promise<void> {
  if (ids.length === 0) return
  await tx
    .update(notifications)
    .set({ status: 'canceled', reason, finishedAt: now, updatedAt: now })
    .where(and(isPending(channelId), inArray(notifications.id, ids)))
}

/** Makes held notifications due, so that they are checked against changed quiet hours. */
export async function rescheduleHeld(tx: Tx, channelId: string, now: number): Promise<void> {
  await tx
    .update(notifications)
    .set({ dueAt: now })
    .where(and(eq(notifications.channelId, channelId), eq(notifications.status, 'held')))
}

const isPending = (channelId: string) =>
  and(eq(notifications.channelId, channelId), inArray(notifications.status, ['pending', 'held']))
