import { and, eq, inArray, sql } from 'drizzle-orm'
import { storeReplacedSettings } from '../../../adapters/accounts/replaced-settings'
import { suspendedRetryMs } from '../../../access/suspension'
import { workspaces } from '../../../access/tables'
import { record } from '../../../core/change'
import type { RecordResult } from '../../../core/change-result'
import { forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { JobKind } from '../../../core/jobs/job'
import { sequentialLanes } from '../../../core/jobs/lanes'
import { channelKindOf } from '../channels'
import { inactiveReason } from './routing'
import { deliverJobFor, deliverKind, outcomeJobs, type NotificationOutcome } from './delivery-jobs'
import { channelAccounts } from '../channel-accounts'
import { disableChannel, failingNotices } from '../channel-health'
import { digest } from './digest'
import { nextAttemptAt, retryDelay } from './pacing'
import { heldUntil } from './quiet-hours'
import { sendToChannel, type SendResult } from './send'
import { notificationChannels, notifications, notificationThreads, type ChannelRow, type NotificationRow } from '../tables'
import { touchNotifications } from './touch-notifications'
import { cancelByIds, deliverJobsFor, recoveredUnsent, pendingOf } from './pending'

/**
 * Sends all due notifications of a channel as one message. Only one run per channel at a time, across all hubs. If a process dies between
 * sending and recording the result, the message is sent again: it may arrive twice, but is never lost.
 */
export const deliverJob: JobKind<{ channel_id: string }> = {
  kind: deliverKind,
  concurrency: 16,
  lanes: sequentialLanes,
  leaseMs: 3 * 60_000,
  retryAfter: attempts => Math.min(1_000 * 2 ** (attempts - 1), 300_000),
  async run(hub, job) {
    const [found] = await hub.read
      .select({ channel: notificationChannels, suspendedAt: workspaces.suspendedAt })
      .from(notificationChannels)
      .innerJoin(workspaces, eq(workspaces.id, notificationChannels.workspaceId))
      .where(eq(notificationChannels.id, job.payload.channel_id))
    if (!found || inactiveReason(found.channel) !== null) return undefined
    const { channel } = found
    const now = hub.clock.now()
    if (found.suspendedAt !== null)
      return async () => ({ result: undefined, jobs: [deliverJobFor(channel, now + suspendedRetryMs)] })
    const recovered = await recoveredUnsent(hub.read, channel.id)
    if (recovered.problems.length + recovered.recoveries.length > 0)
      return async tx => {
        await cancelByIds(tx, channel.id, recovered.problems, 'recovered', now)
        await cancelByIds(tx, channel.id, recovered.recoveries, 'problem_not_sent', now)
        return { result: undefined, jobs: await deliverJobsFor(tx, channel) }
      }
    const { sending, held, nextAt } = selectDue(channel, await pendingOf(hub.read, channel.id), now)
    if (sending.length === 0)
      return async tx => {
        await holdForQuietHours(tx, held, now)
        return { result: undefined, jobs: nextAt === null ? [] : [deliverJobFor(channel, nextAt)] }
      }
    await countAttempt(hub, sending)
    const sent = await sendToChannel(hub, channel, {
      id: sending[0]!.id,
      message: digest(
        sending.map(one => one.message),
        sending.every(one => one.status === 'held'),
        hub.baseUrl,
      ),
      count: sending.length,
      first: sending.length === 1 && (await isFirst(hub, sending[0]!)),
    })
    return async tx => {
      await holdForQuietHours(tx, held, now)
      const done = await recordResult(tx, hub, channel, sending, sent)
      const audits = await storeReplacedSettings(tx, hub, channelAccounts, channel, sent.replaced, deliverKind)
      return { ...done, audits: [...audits, ...(done.audits ?? [])] }
    }
  },
}

/** Selects what to send now and what quiet hours hold, or when to check again if nothing is due. */
function selectDue(channel: ChannelRow, pending: readonly NotificationRow[], now: number) {
  const held: { row: NotificationRow; until: number }[] = []
  const free: NotificationRow[] = []
  for (const row of pending) {
    const until = heldUntil(channel.quietHours, row.severity, now)
    if (until === null) free.push(row)
    else held.push({ row, until })
  }
  const paceMs = channelKindOf(channel.kind)?.paceMs ?? 1_000
  const at = nextAttemptAt({ ...channel, paceMs }, free, now)
  if (at !== null && at <= now) {
    // Retries are sent along with new messages, to keep the order within a thread.
    const due = free.filter(row => row.dueAt <= now)
    // After a digest was rejected, each of its messages is sent separately.
    const rejected = due.find(row => row.lastError?.code === 'rejected')
    return { sending: rejected ? [rejected] : channel.groupSeconds === 0 ? due.slice(0, 1) : due, held, nextAt: null }
  }
  const soonest = [at, ...held.map(one => one.until)].filter(one => one !== null)
  return { sending: [], held, nextAt: soonest.length === 0 ? null : Math.min(...soonest) }
}

/** Counts an attempt before it starts: if the process dies, the message may have been sent, so a recovery must be sent too. */
const countAttempt = (hub: Hub, rows: readonly NotificationRow[]): Promise<void> =>
  record(hub, async tx => {
    await tx
      .update(notifications)
      .set({ attemptCount: sql`${notifications.attemptCount} + 1` })
      .where(idsOf(rows))
    return { result: undefined }
  })

/** Marks notifications as held until quiet hours end. */
async function holdForQuietHours(tx: Tx, held: readonly { row: NotificationRow; until: number }[], now: number): Promise<void> {
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
      .where(and(eq(notifications.id, row.id), inArray(notifications.status, ['pending', 'held'])))
  }
}

/** Whether nothing of a thread was ever sent on its channel: mail clients drop messages with a known Message-ID. */
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

/** Records the result of an attempt and schedules the next one. @param used the channel as it was for the attempt */
async function recordResult(
  tx: Tx,
  hub: Hub,
  used: ChannelRow,
  sending: readonly NotificationRow[],
  sent: SendResult,
): Promise<RecordResult<undefined>> {
  const channelId = used.id
  const [channel] = await forUpdate(tx.select().from(notificationChannels).where(eq(notificationChannels.id, channelId)))
  const now = hub.clock.now()
  if (sent.error === null) {
    await markSent(tx, sending, sent.response, now)
    if (!channel) return { result: undefined }
    const outcomes = outcomeJobs(sending.map(row => outcomeOf(channel, row, now, null)))
    await tx.update(notificationChannels).set(healthyColumns(used, now)).where(eq(notificationChannels.id, channelId))
    return { result: undefined, jobs: [...outcomes, ...(await deliverJobsFor(tx, channel))] }
  }
  if (!channel) return { result: undefined }
  const { error, retryAfterMs } = sent
  if (error.code === 'rejected') {
    // A rejected digest is retried one message at a time. A single rejected message says little about the channel; several in a row do.
    const isFinal = sending.length === 1
    await (isFinal ? markFailed : markRetrying)(tx, sending, error, now)
    const [rejecting] = await tx
      .update(notificationChannels)
      .set({
        lastTriedAt: now,
        lastError: error,
        consecutiveGone: 0,
        ...(isFinal && { consecutiveFailures: channel.consecutiveFailures + 1, failingSince: channel.failingSince ?? now }),
      })
      .where(eq(notificationChannels.id, channelId))
      .returning()
    return {
      result: undefined,
      notices: isFinal ? failingNotices(rejecting!) : [],
      jobs: [...(isFinal ? failedJobs(channel, sending, error, now) : []), ...(await deliverJobsFor(tx, channel))],
    }
  }
  const consecutiveGone = error.code === 'gone' ? channel.consecutiveGone + 1 : 0
  const failures = channel.consecutiveFailures + 1
  const [failing] = await tx
    .update(notificationChannels)
    .set({
      consecutiveFailures: failures,
      consecutiveGone,
      failingSince: channel.failingSince ?? now,
      lastError: error,
      lastTriedAt: now,
      retryAt: now + retryDelay(failures, Math.random()),
      notBefore: retryAfterMs === null ? null : now + retryAfterMs,
    })
    .where(eq(notificationChannels.id, channelId))
    .returning()
  const exhausted = sending.filter(row => row.giveUpAt <= now)
  await markFailed(tx, exhausted, error, now)
  await markRetrying(
    tx,
    sending.filter(row => row.giveUpAt > now),
    error,
    now,
  )
  if (consecutiveGone >= (channelKindOf(channel.kind)?.goneBeforeDisable ?? 1))
    return { ...(await disableChannel(tx, hub, failing!, deliverKind)), jobs: failedJobs(channel, sending, error, now) }
  return {
    result: undefined,
    notices: failingNotices(failing!),
    jobs: [...failedJobs(channel, exhausted, error, now), ...(await deliverJobsFor(tx, channel))],
  }
}

const failedJobs = (
  channel: ChannelRow,
  rows: readonly NotificationRow[],
  { detail }: NonNullable<SendResult['error']>,
  now: number,
) => outcomeJobs(rows.map(row => outcomeOf(channel, row, now, detail)))

const outcomeOf = (
  { id, name, kind }: ChannelRow,
  row: NotificationRow,
  at: number,
  error: string | null,
): NotificationOutcome => ({
  thread: row.thread,
  channel: { id, name, kind },
  kind: row.kind,
  reminder: row.reminder,
  at,
  error,
})

/** Columns of a channel that delivered a message. @param used the channel as it was when it did; an edit since then is not verified */
export const healthyColumns = (used: ChannelRow, now: number) => ({
  status: sql`case when ${isUnverified(used)} then 'enabled' else ${notificationChannels.status} end`,
  consecutiveFailures: 0,
  consecutiveGone: 0,
  failingSince: null,
  lastError: null,
  lastTriedAt: now,
  lastSentAt: now,
  retryAt: null,
  notBefore: null,
})

const isUnverified = ({ version }: ChannelRow) =>
  and(eq(notificationChannels.status, 'unverified'), eq(notificationChannels.version, version))

const idsOf = (rows: readonly NotificationRow[]) =>
  inArray(
    notifications.id,
    rows.map(row => row.id),
  )

async function markSent(tx: Tx, rows: readonly NotificationRow[], response: string, now: number): Promise<void> {
  touchNotifications(tx, rows)
  await tx
    .update(notifications)
    .set({
      status: 'sent',
      reason: null,
      lastError: null,
      response,
      sentWithId: rows[0]!.id,
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
  { code, detail }: NonNullable<SendResult['error']>,
  now: number,
) {
  if (rows.length === 0) return
  touchNotifications(tx, rows)
  await tx
    .update(notifications)
    .set({
      status: 'failed',
      reason: code === 'rejected' ? 'rejected' : 'retries_exhausted',
      lastError: { code, detail },
      finishedAt: now,
      updatedAt: now,
    })
    .where(idsOf(rows))
}

async function markRetrying(tx: Tx, rows: readonly NotificationRow[], error: NonNullable<SendResult['error']>, now: number) {
  if (rows.length === 0) return
  touchNotifications(tx, rows)
  await tx
    .update(notifications)
    // No longer held: quiet hours are over.
    .set({
      status: 'pending',
      reason: 'retrying',
      lastError: error,
      updatedAt: now,
    })
    .where(and(idsOf(rows), inArray(notifications.status, ['pending', 'held'])))
}
