import { and, eq, inArray, sql } from 'drizzle-orm'
import { suspendedPauseMs } from '../../access/suspension'
import { workspaces } from '../../access/tables'
import type { Recorded } from '../../core/change'
import { locking } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { JobKind } from '../../core/jobs/job'
import { inTurns } from '../../core/jobs/lanes'
import { channelKindOf } from './channels'
import { whyIdle } from './chosen'
import { deliverJobFor, deliverKind, toldJobs, type Told } from './delivery-jobs'
import { disableChannel, failingNotices } from './channel-health'
import { gather } from './gather'
import { nextTryAt, retryPause } from './pace'
import { heldUntil } from './quiet-hours'
import { sendOn, type Sent } from './send'
import { notificationChannels, notifications, notificationThreads, type ChannelRow, type NotificationRow } from './tables'
import { touchNotifications } from './touched'
import { cancelSome, deliverJobsFor, overUnsent, waitingOf } from './waiting'

/**
 * Sends what waits on one channel, all that is due in one message. One run at a time a channel, over all hubs. A process that dies
 * between sending and recording has it sent once more: a message may come twice, and is never lost.
 */
export const deliverJob: JobKind<{ channel_id: string }> = {
  kind: deliverKind,
  concurrency: 16,
  lanes: inTurns,
  leaseMs: 3 * 60_000,
  retryAfter: attempts => Math.min(1_000 * 2 ** (attempts - 1), 300_000),
  async run(hub, job) {
    const [found] = await hub.read
      .select({ channel: notificationChannels, suspendedAt: workspaces.suspendedAt })
      .from(notificationChannels)
      .innerJoin(workspaces, eq(workspaces.id, notificationChannels.workspaceId))
      .where(eq(notificationChannels.id, job.payload.channel_id))
    if (!found || whyIdle(found.channel) !== null) return undefined
    const { channel } = found
    const now = hub.clock.now()
    if (found.suspendedAt !== null)
      return async () => ({ result: undefined, jobs: [deliverJobFor(channel, now + suspendedPauseMs)] })
    // A run that died may have sent what is not written down as sent: then the end of it is told as well.
    const isFirstRun = job.attempts === 1
    const over = isFirstRun ? await overUnsent(hub.read, channel.id) : { problems: [], recoveries: [] }
    if (over.problems.length + over.recoveries.length > 0)
      return async tx => {
        await cancelSome(tx, channel.id, over.problems, 'recovered', now)
        await cancelSome(tx, channel.id, over.recoveries, 'problem_not_sent', now)
        return { result: undefined, jobs: await deliverJobsFor(tx, channel) }
      }
    const { going, held, nextAt } = chosen(channel, await waitingOf(hub.read, channel.id), now)
    if (going.length === 0)
      return async tx => {
        await hold(tx, held, now)
        return { result: undefined, jobs: nextAt === null ? [] : [deliverJobFor(channel, nextAt)] }
      }
    const sent = await sendOn(hub, channel, {
      id: going[0]!.id,
      message: gather(
        going.map(one => one.message),
        going.every(one => one.status === 'held'),
      ),
      count: going.length,
      first: going.length === 1 && (await isFirst(hub, going[0]!)),
    })
    return async tx => {
      await hold(tx, held, now)
      return await settle(tx, hub, channel.id, going, sent)
    }
  },
}

/** What goes out now, what quiet hours hold, and when to look again if nothing goes. */
function chosen(channel: ChannelRow, waiting: readonly NotificationRow[], now: number) {
  const held: { row: NotificationRow; until: number }[] = []
  const free: NotificationRow[] = []
  for (const row of waiting) {
    const until = heldUntil(channel.quietHours, row.severity, now)
    if (until === null) free.push(row)
    else held.push({ row, until })
  }
  const paceMs = channelKindOf(channel.kind)?.paceMs ?? 1_000
  const at = nextTryAt({ ...channel, paceMs }, free, now)
  if (at !== null && at <= now) {
    // Those that failed before go along with what is new: the order of a thread is kept, and all of it is told.
    const due = free.filter(row => row.dueAt <= now)
    // Of several that were refused as one message, each has its own chance.
    const apart = due.find(row => row.lastError?.failure === 'refused')
    return { going: apart ? [apart] : channel.groupSeconds === 0 ? due.slice(0, 1) : due, held, nextAt: null }
  }
  const soonest = [at, ...held.map(one => one.until)].filter(one => one !== null)
  return { going: [], held, nextAt: soonest.length === 0 ? null : Math.min(...soonest) }
}

/** Keeps what the quiet hours hold until they end. */
async function hold(tx: Tx, held: readonly { row: NotificationRow; until: number }[], now: number): Promise<void> {
  for (const { row, until } of held) {
    if (row.status === 'held' && row.dueAt === until) continue
    touchNotifications(tx, [row])
    await tx
      .update(notifications)
      .set({
        status: 'held',
        reason: 'quiet_hours',
        dueAt: until,
        giveUpAt: sql`${notifications.giveUpAt} + ${until - row.dueAt}`,
        updatedAt: now,
      })
      .where(and(eq(notifications.id, row.id), inArray(notifications.status, ['waiting', 'held'])))
  }
}

/** Whether nothing of a thread was sent on its channel, also before it began anew: mail by the same name is taken for the same mail. */
async function isFirst(hub: Hub, { channelId, thread }: NotificationRow): Promise<boolean> {
  const [row] = await hub.read
    .select({ sentCount: notificationThreads.sentCount })
    .from(notificationThreads)
    .where(and(eq(notificationThreads.channelId, channelId), eq(notificationThreads.thread, thread)))
  if (row?.sentCount !== 0) return false
  const [sent] = await hub.read
    .select({ id: notifications.id })
    .from(notifications)
    .where(and(eq(notifications.channelId, channelId), eq(notifications.thread, thread), eq(notifications.status, 'sent')))
    .limit(1)
  return sent === undefined
}

/** Writes down what came of a try, and asks for the next. */
async function settle(
  tx: Tx,
  hub: Hub,
  channelId: string,
  going: readonly NotificationRow[],
  sent: Sent,
): Promise<Recorded<undefined>> {
  const [channel] = await locking(tx.select().from(notificationChannels).where(eq(notificationChannels.id, channelId)))
  const now = hub.clock.now()
  if (sent.trouble === null) {
    await markSent(tx, going, sent.said, now)
    if (!channel) return { result: undefined }
    const heard = toldJobs(going.map(row => outcomeOf(channel, row, now, null)))
    await tx.update(notificationChannels).set(well(now)).where(eq(notificationChannels.id, channelId))
    return { result: undefined, jobs: [...heard, ...(await deliverJobsFor(tx, channel))] }
  }
  if (!channel) return { result: undefined }
  const { trouble, retryAfterMs } = sent
  if (trouble.failure === 'refused') {
    // Several as one are tried each alone. One that is not taken says nothing of the next; but many in a row do.
    const isLost = going.length === 1
    await (isLost ? markFailed : markTried)(tx, going, trouble, now)
    const [refusing] = await tx
      .update(notificationChannels)
      .set({
        lastTriedAt: now,
        lastError: trouble,
        goneInARow: 0,
        ...(isLost && { failuresInARow: channel.failuresInARow + 1, failingSince: channel.failingSince ?? now }),
      })
      .where(eq(notificationChannels.id, channelId))
      .returning()
    return {
      result: undefined,
      notices: isLost ? failingNotices(refusing!) : [],
      jobs: [...(isLost ? failedJobs(channel, going, trouble, now) : []), ...(await deliverJobsFor(tx, channel))],
    }
  }
  const goneInARow = trouble.failure === 'gone' ? channel.goneInARow + 1 : 0
  const failures = channel.failuresInARow + 1
  const [failing] = await tx
    .update(notificationChannels)
    .set({
      failuresInARow: failures,
      goneInARow,
      failingSince: channel.failingSince ?? now,
      lastError: trouble,
      lastTriedAt: now,
      retryAt: now + retryPause(failures, Math.random()),
      notBefore: retryAfterMs === null ? null : now + retryAfterMs,
    })
    .where(eq(notificationChannels.id, channelId))
    .returning()
  const givenUp = going.filter(row => row.giveUpAt <= now)
  await markFailed(tx, givenUp, trouble, now)
  await markTried(
    tx,
    going.filter(row => row.giveUpAt > now),
    trouble,
    now,
  )
  if (goneInARow >= (channelKindOf(channel.kind)?.goneToDisable ?? 1))
    return { ...(await disableChannel(tx, hub, failing!, deliverKind)), jobs: failedJobs(channel, going, trouble, now) }
  return {
    result: undefined,
    notices: failingNotices(failing!),
    jobs: [...failedJobs(channel, givenUp, trouble, now), ...(await deliverJobsFor(tx, channel))],
  }
}

const failedJobs = (
  channel: ChannelRow,
  rows: readonly NotificationRow[],
  { detail }: NonNullable<Sent['trouble']>,
  now: number,
) => toldJobs(rows.map(row => outcomeOf(channel, row, now, detail)))

const outcomeOf = ({ id, name, kind }: ChannelRow, row: NotificationRow, at: number, trouble: string | null): Told => ({
  thread: row.thread,
  channel: { id, name, kind },
  kind: row.kind,
  reminder: row.reminder,
  at,
  trouble,
})

/** The members of a channel that took a message. */
export const well = (now: number) => ({
  failuresInARow: 0,
  goneInARow: 0,
  failingSince: null,
  lastError: null,
  lastTriedAt: now,
  lastSentAt: now,
  retryAt: null,
  notBefore: null,
})

const idsOf = (rows: readonly NotificationRow[]) =>
  inArray(
    notifications.id,
    rows.map(row => row.id),
  )

async function markSent(tx: Tx, rows: readonly NotificationRow[], said: string, now: number): Promise<void> {
  touchNotifications(tx, rows)
  await tx
    .update(notifications)
    .set({
      status: 'sent',
      reason: null,
      attemptCount: sql`${notifications.attemptCount} + 1`,
      lastError: null,
      said,
      sentIn: rows[0]!.id,
      sentAt: now,
      finishedAt: now,
      updatedAt: now,
    })
    .where(idsOf(rows))
  const threads = [...new Set(rows.map(row => row.thread))]
  await tx
    .update(notificationThreads)
    .set({ sentCount: sql`${notificationThreads.sentCount} + 1` })
    .where(and(eq(notificationThreads.channelId, rows[0]!.channelId), inArray(notificationThreads.thread, threads)))
}

async function markFailed(
  tx: Tx,
  rows: readonly NotificationRow[],
  { failure, detail }: NonNullable<Sent['trouble']>,
  now: number,
) {
  if (rows.length === 0) return
  touchNotifications(tx, rows)
  await tx
    .update(notifications)
    .set({
      status: 'failed',
      reason: failure === 'refused' ? 'refused' : 'given_up',
      attemptCount: sql`${notifications.attemptCount} + 1`,
      lastError: { failure, detail },
      finishedAt: now,
      updatedAt: now,
    })
    .where(idsOf(rows))
}

async function markTried(tx: Tx, rows: readonly NotificationRow[], trouble: NonNullable<Sent['trouble']>, now: number) {
  if (rows.length === 0) return
  touchNotifications(tx, rows)
  await tx
    .update(notifications)
    // What was held is no longer: its hours are over.
    .set({
      status: 'waiting',
      reason: 'retrying',
      attemptCount: sql`${notifications.attemptCount} + 1`,
      lastError: trouble,
      updatedAt: now,
    })
    .where(and(idsOf(rows), inArray(notifications.status, ['waiting', 'held'])))
}
