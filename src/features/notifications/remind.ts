import { and, eq, inArray } from 'drizzle-orm'
import { instant } from '../../core/clock'
import { locking } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import type { JobKind } from '../../core/jobs/job'
import { duration } from '../../core/span'
import { whyIdle } from './chosen'
import { reminderJobFor, remindKind } from './delivery-jobs'
import type { Message } from './message'
import { heldUntil } from './quiet-hours'
import { notificationChannels, notifications, notificationThreads, type NotificationRow, type ThreadRow } from './tables'
import { write } from './tell'
import { deliverJobsFor } from './waiting'

/** Tells a channel once more of a problem that is neither over nor acknowledged, and asks for the next time. */
export const remindJob: JobKind<{ channel_id: string; thread: string }> = {
  kind: remindKind,
  concurrency: 4,
  leaseMs: 60_000,
  retryAfter: attempts => Math.min(attempts, 10) * 30_000,
  async run(hub, { payload }) {
    return async tx => {
      const [channel] = await locking(
        tx.select().from(notificationChannels).where(eq(notificationChannels.id, payload.channel_id)),
      )
      if (!channel || whyIdle(channel) !== null || channel.remindEverySeconds === null) return { result: undefined }
      const own = and(eq(notificationThreads.channelId, channel.id), eq(notificationThreads.thread, payload.thread))
      const [thread] = await locking(tx.select().from(notificationThreads).where(own))
      if (!thread || thread.state !== 'open' || thread.remindersSent >= channel.mostReminders) return { result: undefined }
      const [problem] = await tx.select().from(notifications).where(eq(notifications.id, thread.problemId))
      if (!problem) return { result: undefined }
      const now = hub.clock.now()
      // In quiet hours one that says how long it lasts by then is enough, at their end.
      const quietUntil = heldUntil(channel.quietHours, thread.severity, now)
      const next = reminderJobFor(channel.id, thread.thread, quietUntil ?? now + channel.remindEverySeconds * 1_000)
      // What has not been told needs no reminder yet, and one that is on its way no other.
      if (quietUntil !== null || isOnItsWay(problem) || (await isReminded(tx, thread))) return { result: undefined, jobs: [next] }
      await tx
        .update(notificationThreads)
        .set({ remindersSent: thread.remindersSent + 1, updatedAt: now })
        .where(own)
      const row = await write(tx, hub, channel, reminderOf(problem.message, thread.remindersSent + 1, now), thread.severity, {
        reminder: true,
      })
      const goesOn = thread.remindersSent + 1 < channel.mostReminders
      return { result: undefined, jobs: [...(goesOn ? [next] : []), ...(row ? await deliverJobsFor(tx, channel) : [])] }
    }
  },
}

const onTheirWay = ['waiting', 'held'] as const
const isOnItsWay = ({ status }: NotificationRow): boolean => onTheirWay.some(one => one === status)

async function isReminded(tx: Tx, { channelId, thread }: ThreadRow): Promise<boolean> {
  const [row] = await tx
    .select({ id: notifications.id })
    .from(notifications)
    .where(
      and(
        eq(notifications.channelId, channelId),
        eq(notifications.thread, thread),
        eq(notifications.reminder, true),
        inArray(notifications.status, [...onTheirWay]),
      ),
    )
    .limit(1)
  return row !== undefined
}

const reminderOf = (message: Message, number: number, now: number): Message => ({
  ...message,
  kind: `${message.kind.split('.')[0]}.reminder`,
  title: `Reminder: ${message.title}`,
  facts: [['Lasting', lasting(message, now)], ...message.facts],
  tags: message.tags,
  occurredAt: now,
  text: number > 1 ? `${asSentence(message.text)} This is reminder ${number}.` : message.text,
})

function lasting({ since, occurredAt }: Message, now: number): string {
  if (since !== undefined) return duration(now - since)
  return `${duration(now - occurredAt)}, since ${instant(occurredAt)}`
}

const asSentence = (text: string): string => (/[.!?…:]$/.test(text) ? text : `${text}.`)
