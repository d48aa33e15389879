import { and, eq, inArray } from 'drizzle-orm'
import { formatUtcSecond } from '../../../core/clock'
import { forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import type { JobKind } from '../../../core/jobs/job'
import { formatDuration } from '../../../core/duration'
import { inactiveReason } from './routing'
import { reminderJobFor, remindKind } from './delivery-jobs'
import type { Message } from '../message'
import { heldUntil } from './quiet-hours'
import { notificationChannels, notifications, notificationThreads, type NotificationRow, type ThreadRow } from '../tables'
import { createNotification } from './notify'
import { deliverJobsFor } from './pending'

/** Sends a reminder of a problem that is neither resolved nor acknowledged, and schedules the next one. */
export const remindJob: JobKind<{ channel_id: string; thread: string }> = {
  kind: remindKind,
  concurrency: 4,
  leaseMs: 60_000,
  retryAfter: attempts => Math.min(attempts, 10) * 30_000,
  async run(hub, { payload }) {
    return async tx => {
      const [channel] = await forUpdate(
        tx.select().from(notificationChannels).where(eq(notificationChannels.id, payload.channel_id)),
      )
      if (!channel || inactiveReason(channel) !== null || channel.remindEverySeconds === null) return { result: undefined }
      const own = and(eq(notificationThreads.channelId, channel.id), eq(notificationThreads.thread, payload.thread))
      const [thread] = await forUpdate(tx.select().from(notificationThreads).where(own))
      if (!thread || thread.state !== 'open' || thread.remindersSent >= channel.maxReminders) return { result: undefined }
      const [problem] = await tx.select().from(notifications).where(eq(notifications.id, thread.problemId))
      if (!problem) return { result: undefined }
      const now = hub.clock.now()
      // During quiet hours, send a single reminder at their end.
      const quietUntil = heldUntil(channel.quietHours, thread.severity, now)
      const next = reminderJobFor(channel.id, thread.thread, quietUntil ?? now + channel.remindEverySeconds * 1_000)
      // Skip while the problem itself or an earlier reminder is still pending.
      if (quietUntil !== null || isPending(problem) || (await hasPendingReminder(tx, thread)))
        return { result: undefined, jobs: [next] }
      await tx
        .update(notificationThreads)
        .set({ remindersSent: thread.remindersSent + 1, updatedAt: now })
        .where(own)
      const row = await createNotification(
        tx,
        hub,
        channel,
        reminderOf(problem.message, thread.remindersSent + 1, now),
        thread.severity,
        {
          reminder: true,
        },
      )
      const hasNext = thread.remindersSent + 1 < channel.maxReminders
      return { result: undefined, jobs: [...(hasNext ? [next] : []), ...(row ? await deliverJobsFor(tx, channel) : [])] }
    }
  },
}

const pendingStatuses = ['pending', 'held'] as const
const isPending = ({ status }: NotificationRow): boolean => pendingStatuses.some(one => one === status)

async function hasPendingReminder(tx: Tx, { channelId, thread }: ThreadRow): Promise<boolean> {
  const [row] = await tx
    .select({ id: notifications.id })
    .from(notifications)
    .where(
      and(
        eq(notifications.channelId, channelId),
        eq(notifications.thread, thread),
        eq(notifications.reminder, true),
        inArray(notifications.status, [...pendingStatuses]),
      ),
    )
    .limit(1)
  return row !== undefined
}

const reminderOf = (message: Message, number: number, now: number): Message => ({
  ...message,
  kind: `${message.kind.split('.')[0]}.reminder`,
  title: `Reminder: ${message.title}`,
  facts: [['Duration', durationText(message, now)], ...message.facts],
  tags: message.tags,
  occurredAt: now,
  text: number > 1 ? `${withFullStop(message.text)} This is reminder ${number}.` : message.text,
})

function durationText({ since, occurredAt }: Message, now: number): string {
  if (since !== undefined) return formatDuration(now - since)
  return `${formatDuration(now - occurredAt)}, since ${formatUtcSecond(occurredAt)}`
}

const withFullStop = (text: string): string => (/[.!?…:]$/.test(text) ? text : `${text}.`)
