import { and, asc, eq, inArray, ne, sql, type SQL } from 'drizzle-orm'
import { forUpdate } from '../../../core/db/dialect'
import { forIds } from '../../../core/db/id-list'
import { insertRowsReturning, skipExisting } from '../../../core/db/insert-rows'
import { prepared } from '../../../core/db/prepared'
import { batched } from '../../../core/db/together'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { newId } from '../../../core/ids'
import type { JobDraft } from '../../../core/jobs/draft'
import type { Severity } from '../../../core/notices'
import { inactiveReason, accepts } from './routing'
import type { Message } from '../message'
import { dueAt, retryWindowMs } from './pacing'
import { deliverJobsFor } from './pending'
import { heldUntil } from './quiet-hours'
import { notificationChannels, notifications, notificationThreads, type ChannelRow, type NotificationRow } from '../tables'
import { touchNotifications } from './touch-notifications'
import { openThread, cancelThreadNotifications, endThread, openThreads, firstReminderJobs } from './threads'

/** A message to send, and to which channels. */
interface NotifyRequest {
  workspaceId: string
  message: Message
  /** Channels to notify; null for the default channels. */
  channelIds: readonly string[] | null
}

/**
 * Creates one notification for each channel that accepts the message, within the caller's transaction. A recovery goes to every channel
 * that was notified of its thread, regardless of filters, and closes the thread there. A message is identified by kind, thread and
 * time: a duplicate creates no second notification.
 * @returns the jobs that send the notifications
 */
export async function notify(
  tx: Tx,
  hub: Hub,
  { workspaceId, message, channelIds }: NotifyRequest,
): Promise<{ jobs: JobDraft[] }> {
  if (message.state === 'recovery') return await notifyRecovery(tx, hub, workspaceId, message)
  const selected = channelIds === null ? null : new Set(channelIds)
  const locked = await lockChannels(tx, workspaceId, selected)
  // If all selected channels were deleted, fall back to the default channels, so that deleting channels can't silence alerts.
  const allDeleted = selected !== null && selected.size > 0 && locked.length === 0
  const explicit = allDeleted ? null : selected
  const channels = allDeleted ? await lockChannels(tx, workspaceId, null) : locked
  const jobs: JobDraft[] = []
  for (const channel of channels) {
    if (!accepts(channel, message, explicit)) continue
    const inactive = inactiveReason(channel)
    // An inactive default channel gets no log entry.
    if (inactive !== null && explicit === null) continue
    const row = await createNotification(tx, hub, channel, message, message.severity, { canceled: inactive })
    if (row === null || inactive !== null) continue
    jobs.push(...(await deliverJobsFor(tx, channel)))
    if (message.state === 'problem') jobs.push(...(await openThread(tx, hub, channel, row)))
  }
  return { jobs }
}

/** Sends the recovery to every channel of a thread; only logs it where the problem was never sent. */
async function notifyRecovery(tx: Tx, hub: Hub, workspaceId: string, message: Message): Promise<{ jobs: JobDraft[] }> {
  const threads = await openThreads(tx, workspaceId, message.thread)
  if (threads.length === 0) return { jobs: [] }
  const byId = new Map(threads.map(one => [one.channelId, one]))
  const jobs: JobDraft[] = []
  for (const channel of await lockChannels(tx, workspaceId, new Set(byId.keys()))) {
    const thread = byId.get(channel.id)!
    await endThread(tx, hub, thread)
    const pending = await cancelThreadNotifications(tx, hub, thread, { held: true, reminders: true }, 'recovered')
    const isUnsent = thread.sentCount === 0 && pending === 0
    const canceled = inactiveReason(channel) ?? (isUnsent ? 'problem_not_sent' : null)
    const row = await createNotification(tx, hub, channel, message, thread.severity, { canceled })
    if (row !== null && canceled === null) jobs.push(...(await deliverJobsFor(tx, channel)))
  }
  return { jobs }
}

/**
 * Creates a notification on a channel locked by the caller; returns null if the message already exists.
 * @param severity severity for quiet hours
 */
export async function createNotification(
  tx: Tx,
  hub: Hub,
  channel: ChannelRow,
  message: Message,
  severity: Severity,
  { canceled = null, reminder = false }: { canceled?: string | null; reminder?: boolean } = {},
): Promise<NotificationRow | null> {
  const now = hub.clock.now()
  const quietUntil = heldUntil(channel.quietHours, severity, now)
  const due = quietUntil ?? dueAt(channel.groupSeconds, now)
  const row = await insertNotification(tx, {
    id: newId('ntf'),
    workspaceId: channel.workspaceId,
    channelId: channel.id,
    kind: message.kind,
    state: message.state,
    severity,
    thread: message.thread,
    dedupKey: `${message.kind} ${message.occurredAt} ${message.thread}`,
    message: sanitize(message),
    reminder,
    status: canceled !== null ? 'canceled' : quietUntil !== null ? 'held' : 'pending',
    reason: canceled ?? (quietUntil === null ? null : 'quiet_hours'),
    attemptCount: 0,
    dueAt: due,
    giveUpAt: due + retryWindowMs,
    finishedAt: canceled === null ? null : now,
    createdAt: now,
    updatedAt: now,
  })
  if (row) touchNotifications(tx, [row])
  return row
}

const insertNotification = batched('notification', async (tx, rows: readonly (typeof notifications.$inferInsert)[]) => {
  const stored = await insertRowsReturning(tx, notifications, rows, skipExisting)
  const byId = new Map(stored.map(row => [row.id, row]))
  return rows.map(row => byId.get(row.id) ?? null)
})

/** Locks channels of the workspace, in id order to avoid deadlocks: the next attempt is computed from their pending notifications. */
const lockChannels = (tx: Tx, workspaceId: string, ids: ReadonlySet<string> | null): Promise<ChannelRow[]> =>
  ids?.size === 0 ? Promise.resolve([]) : lockSelected(tx, { workspaceId, ids: ids && [...ids].sort() })

interface Selection {
  workspaceId: string
  /** Null for the default channels. */
  ids: readonly string[] | null
}

const lockSelected = batched('notification-channels', async (tx, selections: readonly Selection[]) => {
  const found = new Map<string, ChannelRow[]>()
  const workspaceIds = [...new Set(selections.map(one => one.workspaceId))].sort()
  for (const id of workspaceIds)
    found.set(
      id,
      await lockSome(
        tx,
        id,
        selections.filter(one => one.workspaceId === id),
      ),
    )
  return selections.map(({ workspaceId, ids }) => {
    const selected = ids && new Set(ids)
    return found.get(workspaceId)!.filter(row => (selected ? selected.has(row.id) : row.isDefault))
  })
})

/** Locks all channels that any of the selections of a workspace contains, in one order. */
async function lockSome(tx: Tx, workspaceId: string, selections: readonly Selection[]): Promise<ChannelRow[]> {
  const own = eq(notificationChannels.workspaceId, sql.placeholder('workspaceId'))
  const lock = (name: string, which: SQL, values: Record<string, unknown>) =>
    prepared<ChannelRow[], Tx>(tx, name, handle =>
      forUpdate(handle.select().from(notificationChannels).where(and(own, which)).orderBy(asc(notificationChannels.id))),
    ).execute({ ...values, workspaceId })
  const isDefault = eq(notificationChannels.isDefault, true)
  const ids = [...new Set(selections.flatMap(one => one.ids ?? []))].sort()
  if (ids.length === 0) return await lock('channels-default', isDefault, {})
  const withDefault = selections.some(one => one.ids === null)
  const rows = await forIds(ids, (size, list, values) => {
    const isListed = sql`${notificationChannels.id} in ${list}`
    return withDefault
      ? lock(`channels-default-or-by-id|${size}`, sql`(${isDefault} or ${isListed})`, values)
      : lock(`channels-by-id|${size}`, isListed, values)
  })
  // Each batch of ids returns the default channels again.
  return [...new Map(rows.map(row => [row.id, row])).values()]
}

const maxTitleLength = 500
const maxTextLength = 4_000
const maxFacts = 40

/** Limits the size of a message and removes characters that databases reject: its text may come from users or remote servers. */
function sanitize(message: Message): Message {
  const truncate = (text: string, maxLength: number) => text.replaceAll('\0', '').slice(0, maxLength).toWellFormed()
  return {
    ...message,
    title: truncate(message.title, maxTitleLength),
    text: truncate(message.text, maxTextLength),
    facts: message.facts.slice(0, maxFacts).map(([name, value]) => [truncate(name, 100), truncate(value, 1_000)] as const),
  }
}

/** Stops the reminders of a thread on every channel, after it was acknowledged. Other notifications of the thread are still sent. */
export async function muteThread(tx: Tx, thread: string): Promise<void> {
  await tx
    .update(notificationThreads)
    .set({ state: 'muted' })
    .where(and(eq(notificationThreads.thread, thread), ne(notificationThreads.state, 'ended')))
  await tx
    .update(notifications)
    .set({ status: 'canceled', reason: 'acknowledged', finishedAt: sql`${notifications.updatedAt}` })
    .where(
      and(eq(notifications.thread, thread), eq(notifications.reminder, true), inArray(notifications.status, ['pending', 'held'])),
    )
}

/**
 * Resumes the reminders of a thread, after its acknowledgement ended.
 * @returns the jobs of the next reminders
 */
export async function unmuteThread(tx: Tx, hub: Hub, thread: string): Promise<{ jobs: JobDraft[] }> {
  const now = hub.clock.now()
  const open = await tx
    .update(notificationThreads)
    .set({ state: 'open', remindersSent: 0, updatedAt: now })
    .where(and(eq(notificationThreads.thread, thread), eq(notificationThreads.state, 'muted')))
    .returning({ channelId: notificationThreads.channelId })
  if (open.length === 0) return { jobs: [] }
  const channels = await tx
    .select()
    .from(notificationChannels)
    .where(
      inArray(
        notificationChannels.id,
        open.map(one => one.channelId),
      ),
    )
  return { jobs: channels.flatMap(channel => firstReminderJobs(channel, thread, now)) }
}
