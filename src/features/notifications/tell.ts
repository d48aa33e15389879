import { and, asc, eq, inArray, ne, sql } from 'drizzle-orm'
import { locking } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { newId } from '../../core/ids'
import type { JobDraft } from '../../core/jobs/queue'
import type { Severity } from '../../core/notices'
import { whyIdle, takes } from './chosen'
import type { Message } from './message'
import { dueAt, tryForMs } from './pace'
import { deliverJobsFor } from './waiting'
import { heldUntil } from './quiet-hours'
import { notificationChannels, notifications, notificationThreads, type ChannelRow, type NotificationRow } from './tables'
import { touchNotifications } from './touched'
import { beginThread, cancelOfThread, endThread, openThreads, reminderAfter } from './threads'

/** What is to be told. */
export interface Telling {
  workspaceId: string
  message: Message
  /** Channels that it is for; null for those that take everything. */
  channelIds: readonly string[] | null
}

/**
 * Tells people, as a step of the change that gives rise to it: writes one notification for each channel that takes the message. A
 * recovery goes to every channel that was told of its thread, whatever it takes otherwise, and ends the thread there. The same message
 * (kind, thread and time) told twice is one notification.
 * @returns the jobs that send, for the door
 */
export async function tell(tx: Tx, hub: Hub, { workspaceId, message, channelIds }: Telling): Promise<{ jobs: JobDraft[] }> {
  if (message.state === 'recovery') return await tellRecovery(tx, hub, workspaceId, message)
  const wanted = channelIds === null ? null : new Set(channelIds)
  const held = await channelsHeld(tx, workspaceId, wanted)
  // Where all channels that were named are gone, it goes to those that take everything: a deletion silences nothing.
  const areGone = wanted !== null && wanted.size > 0 && held.length === 0
  const named = areGone ? null : wanted
  const channels = areGone ? await channelsHeld(tx, workspaceId, null) : held
  const jobs: JobDraft[] = []
  for (const channel of channels) {
    if (!takes(channel, message, named)) continue
    const obstacle = whyIdle(channel)
    // What nobody asked to go there needs no line in the log of a channel that is switched off.
    if (obstacle !== null && named === null) continue
    const row = await write(tx, hub, channel, message, message.severity, { cancelled: obstacle })
    if (row === null || obstacle !== null) continue
    jobs.push(...(await deliverJobsFor(tx, channel)))
    if (message.state === 'problem') jobs.push(...(await beginThread(tx, hub, channel, row)))
  }
  return { jobs }
}

/** Tells every channel of a thread that it is over; quietly, in the log alone, where nothing of it went out. */
async function tellRecovery(tx: Tx, hub: Hub, workspaceId: string, message: Message): Promise<{ jobs: JobDraft[] }> {
  const threads = await openThreads(tx, workspaceId, message.thread)
  if (threads.length === 0) return { jobs: [] }
  const byId = new Map(threads.map(one => [one.channelId, one]))
  const jobs: JobDraft[] = []
  for (const channel of await channelsHeld(tx, workspaceId, new Set(byId.keys()))) {
    const thread = byId.get(channel.id)!
    await endThread(tx, hub, thread)
    const left = await cancelOfThread(tx, hub, thread, { held: true, reminders: true }, 'recovered')
    const untold = thread.sentCount === 0 && left === 0
    const cancelled = whyIdle(channel) ?? (untold ? 'problem_not_sent' : null)
    const row = await write(tx, hub, channel, message, thread.severity, { cancelled })
    if (row !== null && cancelled === null) jobs.push(...(await deliverJobsFor(tx, channel)))
  }
  return { jobs }
}

/**
 * Writes a notification of a channel that the caller holds; null when there is one of that message.
 * @param severity what quiet hours go by
 */
export async function write(
  tx: Tx,
  hub: Hub,
  channel: ChannelRow,
  message: Message,
  severity: Severity,
  { cancelled = null, reminder = false }: { cancelled?: string | null; reminder?: boolean } = {},
): Promise<NotificationRow | null> {
  const now = hub.clock.now()
  const quietUntil = heldUntil(channel.quietHours, severity, now)
  const due = quietUntil ?? dueAt(channel.groupSeconds, now)
  const [row] = await tx
    .insert(notifications)
    .values({
      id: newId('ntf'),
      workspaceId: channel.workspaceId,
      channelId: channel.id,
      kind: message.kind,
      state: message.state,
      severity,
      thread: message.thread,
      once: `${message.kind} ${message.occurredAt} ${message.thread}`,
      message: wellFormed(message),
      reminder,
      status: cancelled !== null ? 'cancelled' : quietUntil !== null ? 'held' : 'waiting',
      reason: cancelled ?? (quietUntil === null ? null : 'quiet_hours'),
      attemptCount: 0,
      dueAt: due,
      giveUpAt: due + tryForMs,
      finishedAt: cancelled === null ? null : now,
      createdAt: now,
      updatedAt: now,
    })
    .onConflictDoNothing()
    .returning()
  if (row) touchNotifications(tx, [row])
  return row ?? null
}

/** Channels of the workspace, held in one order until the transaction ends: their next tries are counted from what waits. */
async function channelsHeld(tx: Tx, workspaceId: string, ids: ReadonlySet<string> | null): Promise<ChannelRow[]> {
  if (ids?.size === 0) return []
  return await locking(
    tx
      .select()
      .from(notificationChannels)
      .where(
        and(
          eq(notificationChannels.workspaceId, workspaceId),
          ids === null ? eq(notificationChannels.forEverything, true) : inArray(notificationChannels.id, [...ids]),
        ),
      )
      .orderBy(asc(notificationChannels.id)),
  )
}

const longestTitle = 500
const longestText = 4_000
const mostFacts = 40

/** A message of bounded size, of text that every database takes: names in it are those that people gave, or other machines told. */
function wellFormed(message: Message): Message {
  const cut = (text: string, most: number) => text.replaceAll('\0', '').slice(0, most).toWellFormed()
  return {
    ...message,
    title: cut(message.title, longestTitle),
    text: cut(message.text, longestText),
    facts: message.facts.slice(0, mostFacts).map(([name, value]) => [cut(name, 100), cut(value, 1_000)] as const),
  }
}

/**
 * Stops the reminders of a thread on every channel: somebody took it on. What else is told of it goes on.
 * @param thread of a message
 */
export async function hushThread(tx: Tx, thread: string): Promise<void> {
  await tx
    .update(notificationThreads)
    .set({ state: 'hushed' })
    .where(and(eq(notificationThreads.thread, thread), ne(notificationThreads.state, 'ended')))
  await tx
    .update(notifications)
    .set({ status: 'cancelled', reason: 'acknowledged', finishedAt: sql`${notifications.updatedAt}` })
    .where(
      and(eq(notifications.thread, thread), eq(notifications.reminder, true), inArray(notifications.status, ['waiting', 'held'])),
    )
}

/**
 * Has the channels of a thread reminded again: who had taken it on does not see to it any more.
 * @returns the jobs of the next reminders, for the door
 */
export async function unhushThread(tx: Tx, hub: Hub, thread: string): Promise<{ jobs: JobDraft[] }> {
  const now = hub.clock.now()
  const open = await tx
    .update(notificationThreads)
    .set({ state: 'open', remindersSent: 0, updatedAt: now })
    .where(and(eq(notificationThreads.thread, thread), eq(notificationThreads.state, 'hushed')))
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
  return { jobs: channels.flatMap(channel => reminderAfter(channel, thread, now)) }
}
