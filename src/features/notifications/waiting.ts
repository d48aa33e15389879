import { and, asc, eq, inArray, min } from 'drizzle-orm'
import type { Reader, Tx } from '../../core/db/transaction'
import type { JobDraft } from '../../core/jobs/queue'
import { deliverJobFor } from './delivery-jobs'
import { notifications, type ChannelRow, type NotificationRow } from './tables'

/** Notifications that one message carries at most. */
export const mostTogether = 100

/** What a channel has to send yet, the oldest first, as far as one message carries and some more. */
export const waitingOf = (read: Reader, channelId: string): Promise<NotificationRow[]> =>
  read
    .select()
    .from(notifications)
    .where(isWaiting(channelId))
    .orderBy(asc(notifications.dueAt), asc(notifications.id))
    .limit(500)

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

/** Has looked at anew what quiet hours hold: they may be others now. */
export async function releaseHeld(tx: Tx, channelId: string, now: number): Promise<void> {
  await tx
    .update(notifications)
    .set({ dueAt: now })
    .where(and(eq(notifications.channelId, channelId), eq(notifications.status, 'held')))
}

const isWaiting = (channelId: string) =>
  and(eq(notifications.channelId, channelId), inArray(notifications.status, ['waiting', 'held']))
