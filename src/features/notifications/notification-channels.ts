import { isDeepStrictEqual } from 'node:util'
import { Type } from '@sinclair/typebox'
import { and, eq, sql } from 'drizzle-orm'
import { refuseOneTooMany } from '../../access/fixed-limits'
import { change, isAlready } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { locking } from '../../core/db/dialect'
import { violation } from '../../core/db/errors'
import type { Reader, Tx } from '../../core/db/transaction'
import { newId } from '../../core/ids'
import { requireMatch } from '../../core/if-match'
import { listPage, searchFilter, timeFilters, wordsFilter, type Listing } from '../../core/list'
import { reaches } from '../../core/narrowing'
import { conflict, notFound, Problem } from '../../core/problem'
import {
  checkedSettings,
  editedSettings,
  isElsewhere,
  secretsOf,
  settingsColumns,
  type Settings,
} from '../../core/sealed-settings'
import type { Page } from '../../core/shapes'
import { channelTarget } from './channel-health'
import { refuseBadChoices, refuseOwnAddress, refuseStrangers, refuseUnreadable } from './channel-rules'
import { channelView } from './channel-view'
import { channelKindOf, channelKinds } from './channels'
import { whyIdle } from './chosen'
import { topicNames } from './message-kinds'
import { openChannelSettings, sealedIn } from './send'
import type { NotificationChannelInput, NotificationChannelPatch, NotificationChannelView } from './shapes'
import { channelStates, notificationChannels, type ChannelRow } from './tables'
import { remindersOn } from './threads'
import { cancelWaiting, deliverJobsFor, releaseHeld } from './waiting'

/** Channels that a workspace may have. */
const mostChannels = 50

export const channelListing: Listing<ChannelRow> = {
  name: 'notification-channels',
  table: notificationChannels as never,
  id: notificationChannels.id,
  idOf: row => row.id,
  owner: notificationChannels.workspaceId,
  defaultSort: '-id',
  filters: {
    kind: wordsFilter(
      notificationChannels.kind,
      channelKinds.map(one => one.kind),
      'Only those of these kinds.',
    ),
    status: wordsFilter(notificationChannels.status, channelStates, 'Only those of these states.'),
    active: {
      schema: Type.Boolean({ description: 'Only those that are switched on, or off.' }),
      where: (value, place) => sql`${notificationChannels.active} = ${place(value)}`,
    },
    q: searchFilter([notificationChannels.name], 'Only those whose name holds this text.'),
    ...timeFilters('created_at', notificationChannels.createdAt),
  },
  sorts: {
    name: { column: notificationChannels.name, read: row => row.name },
    created_at: { column: notificationChannels.createdAt, read: row => row.createdAt },
  },
}

export const listChannels = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<NotificationChannelView>> =>
  listPage(ctx, channelListing, query, channelView)

/** @throws Problem 404 */
export const getChannel = async (ctx: Ctx, id: string): Promise<NotificationChannelView> =>
  channelView(await channelOf(ctx.hub.read, ctx, id))

/**
 * Makes a channel. Nothing is sent.
 * @throws Problem 422, 403 `insufficient_permission`, 409 when the name is taken or there are as many as there may be
 */
export async function createChannel(ctx: Ctx, input: NotificationChannelInput): Promise<NotificationChannelView> {
  const kind = channelKindOf(input.kind)!
  const choices = { ...standard, ...columnsOf(input) }
  refuseBadChoices(choices)
  const settings = checkedSettings(kind, input.settings)
  refuseUnreadable(ctx, null, choices)
  await refuseStrangers(ctx, input.kind, settings)
  await refuseOwnAddress(ctx, settings)
  return await unlessTaken(input.name, () =>
    change(ctx, 'notification.channel.create', async tx => {
      await refuseOneTooMany(tx, ctx.workspaceId, {
        table: notificationChannels,
        most: mostChannels,
        things: 'notification channels',
      })
      const own = { id: newId('chan'), workspaceId: ctx.workspaceId }
      const now = ctx.hub.clock.now()
      const [row] = await tx
        .insert(notificationChannels)
        .values({
          ...own,
          ...choices,
          kind: kind.kind,
          name: input.name,
          ...(await settingsColumns(tx, ctx.hub, sealedIn(own), kind, settings)),
          ...fresh,
          version: 1,
          createdAt: now,
          updatedAt: now,
        })
        .returning()
      const view = channelView(row!)
      return { result: view, target: channelTarget(row!), after: { ...view, secret: secretsOf(kind, settings) } }
    }),
  )
}

/**
 * Edits a channel. What waits goes by what is set now; with other settings it is tried afresh.
 * @throws Problem 404, 409 when the name is taken, 412, 422, 403 `insufficient_permission`
 */
export async function updateChannel(ctx: Ctx, id: string, patch: NotificationChannelPatch): Promise<NotificationChannelView> {
  return await unlessTaken(patch.name ?? '', () =>
    change(ctx, 'notification.channel.update', async tx => {
      const row = await channelHeld(tx, ctx, id)
      requireMatch(ctx, row)
      const kind = channelKindOf(row.kind)
      if (!kind) throw conflict(`This version knows no channels of the kind ${row.kind}.`)
      const columns = columnsOf(patch)
      refuseBadChoices(columns)
      const kept = await openChannelSettings(ctx.hub, row, tx)
      const settings = patch.settings ? editedSettings(kind, kept, patch.settings) : kept
      const sameSettings = isDeepStrictEqual(settings, kept)
      if (sameSettings && isAlready(row, columns))
        return { result: channelView(row), target: channelTarget(row), unchanged: true }
      refuseUnreadable(ctx, isElsewhere(kind, kept, settings) || !sameSettings ? null : row, { ...row, ...columns })
      if (!sameSettings) {
        await refuseStrangers(ctx, row.kind, settings, tx)
        await refuseOwnAddress(ctx, settings, tx)
      }
      const now = ctx.hub.clock.now()
      const [changed] = await tx
        .update(notificationChannels)
        .set({
          ...columns,
          ...(!sameSettings && {
            ...(await settingsColumns(tx, ctx.hub, sealedIn(row), kind, settings)),
            failuresInARow: 0,
            goneInARow: 0,
            retryAt: null,
            notBefore: null,
          }),
          version: row.version + 1,
          updatedAt: now,
        })
        .where(eq(notificationChannels.id, id))
        .returning()
      await releaseHeld(tx, id, now)
      if (!changed!.active && row.active) await cancelWaiting(tx, id, 'channel_inactive', now)
      return {
        result: channelView(changed!),
        target: channelTarget(row),
        before: { ...channelView(row), secret: secretsOf(kind, kept) },
        after: { ...channelView(changed!), secret: secretsOf(kind, settings) },
        jobs:
          whyIdle(changed!) === null
            ? [
                ...(await deliverJobsFor(tx, changed!)),
                ...(remindsAnew(row, changed!) ? await remindersOn(tx, changed!, now) : []),
              ]
            : [],
      }
    }),
  )
}

/** Takes a channel back into service that was disabled. @throws Problem 404, 412 */
export async function enableChannel(ctx: Ctx, id: string): Promise<NotificationChannelView> {
  return await change(ctx, 'notification.channel.enable', async tx => {
    const row = await channelHeld(tx, ctx, id)
    requireMatch(ctx, row)
    if (row.status === 'enabled') return { result: channelView(row), target: channelTarget(row), unchanged: true }
    const now = ctx.hub.clock.now()
    const [changed] = await tx
      .update(notificationChannels)
      .set({ ...fresh, version: row.version + 1, updatedAt: now })
      .where(eq(notificationChannels.id, id))
      .returning()
    const view = channelView(changed!)
    const jobs = changed!.active ? await remindersOn(tx, changed!, now) : []
    return { result: view, target: channelTarget(row), before: channelView(row), after: view, jobs }
  })
}

/** Whether the reminders of a channel that is in service now are to be asked for anew: it was not, or reminded otherwise. */
const remindsAnew = (before: ChannelRow, after: ChannelRow): boolean =>
  whyIdle(before) !== null ||
  before.remindEverySeconds !== after.remindEverySeconds ||
  before.mostReminders !== after.mostReminders

/** Deletes a channel, its secrets and what waits on it; its log stays. @throws Problem 404, 412 */
export async function deleteChannel(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, 'notification.channel.delete', async tx => {
    const row = await channelHeld(tx, ctx, id)
    requireMatch(ctx, row)
    await cancelWaiting(tx, id, 'channel_deleted', ctx.hub.clock.now())
    await tx.delete(notificationChannels).where(eq(notificationChannels.id, id))
    return { result: undefined, target: channelTarget(row), before: channelView(row) }
  })
}

/** @throws Problem 404 */
export async function channelOf(read: Reader, ctx: Ctx, id: string): Promise<ChannelRow> {
  const [row] = await read
    .select()
    .from(notificationChannels)
    .where(and(eq(notificationChannels.id, id), eq(notificationChannels.workspaceId, ctx.workspaceId)))
  if (!row || !reaches(ctx, row.id)) throw notFound('notification channel')
  return row
}

/** The channel, held until the transaction ends. @throws Problem 404 */
export async function channelHeld(tx: Tx, ctx: Ctx, id: string): Promise<ChannelRow> {
  const [row] = await locking(
    tx
      .select()
      .from(notificationChannels)
      .where(and(eq(notificationChannels.id, id), eq(notificationChannels.workspaceId, ctx.workspaceId))),
  )
  if (!row) throw notFound('notification channel')
  return row
}

/** What a channel takes where nothing else is said. */
const standard = {
  forEverything: true,
  topics: [...topicNames] as string[],
  minSeverity: 'info',
  tags: [] as string[],
  remindEverySeconds: null as number | null,
  mostReminders: 10,
  quietHours: null as ChannelRow['quietHours'],
  groupSeconds: 10,
  active: true,
} as const

/** A channel of which nothing is known yet. */
const fresh = {
  status: 'enabled',
  disabledReason: null,
  failuresInARow: 0,
  goneInARow: 0,
  failingSince: null,
  lastError: null,
  retryAt: null,
  notBefore: null,
} as const

/** The columns that an input or a patch names. */
function columnsOf(input: NotificationChannelPatch & { settings?: Settings }): Partial<ChannelRow> {
  const named = {
    name: input.name,
    forEverything: input.for_everything,
    topics: input.topics as string[] | undefined,
    minSeverity: input.min_severity,
    tags: input.tags,
    remindEverySeconds: input.remind_every_seconds,
    mostReminders: input.most_reminders,
    quietHours: input.quiet_hours,
    groupSeconds: input.group_seconds,
    active: input.active,
  }
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined))
}

async function unlessTaken<T>(name: string, fn: () => Promise<T>): Promise<T> {
  try {
    return await fn()
  } catch (error) {
    if (violation(error) !== 'unique') throw error
    throw new Problem(
      'already_exists',
      `A notification channel of this workspace has the name ${JSON.stringify(name)} already.`,
      {
        errors: [{ pointer: '#/name', code: 'already_exists', detail: 'must be the only one of its kind in the workspace.' }],
      },
    )
  }
}
