import { and, eq } from 'drizzle-orm'
import { instant } from '../../core/clock'
import { locking } from '../../core/db/dialect'
import type { JobKind } from '../../core/jobs/job'
import { duration } from '../../core/span'
import { whyIdle } from './chosen'
import { reminderJobFor, remindKind } from './delivery-jobs'
import type { Message } from './message'
import { notificationChannels, notifications, notificationThreads } from './tables'
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
      const next = reminderJobFor(channel.id, thread.thread, now + channel.remindEverySeconds * 1_000)
      // What has not been told needs no reminder yet.
      if (thread.sentCount === 0) return { result: undefined, jobs: [next] }
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

const reminderOf = (message: Message, number: number, now: number): Message => ({
  ...message,
  kind: `${message.kind.split('.')[0]}.reminder`,
  title: `Reminder: ${message.title}`,
  facts: [['Lasting', `${duration(now - message.occurredAt)}, since ${instant(message.occurredAt)}`], ...message.facts],
  tags: message.tags,
  occurredAt: now,
  text: number > 1 ? `${message.text} This is reminder ${number}.` : message.text,
})
