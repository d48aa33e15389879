import { createAccount, deleteAccount, updateAccount } from '../../adapters/accounts/accounts'
import { refuseOwnAddress } from '../../adapters/accounts/destinations'
import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { listingOf, listPage } from '../../core/list'
import { flagFilter, searchFilter, timeFilters, wordsFilter } from '../../core/list-filters'
import { inputColumns, patchColumns } from '../../core/members'
import { changedRow, findRow, lockRow, saveRow } from '../../core/rows'
import type { Page } from '../../core/shapes'
import { channelAccounts, channelTarget, channelView } from './channel-accounts'
import { refuseInvalidQuietHours, refuseNonMembers, refuseUnreadableTopics } from './channel-rules'
import { channelKinds } from './channels'
import { inactiveReason } from './delivery/routing'
import {
  channelMembers,
  channelStatuses,
  type NotificationChannelInput,
  type NotificationChannelPatch,
  type NotificationChannelView,
} from './shapes'
import { notificationChannels, type ChannelRow } from './tables'
import { restartReminders } from './delivery/threads'
import { cancelPending, deliverJobsFor, rescheduleHeld } from './delivery/pending'

export const channelListing = listingOf('notification-channels', notificationChannels, {
  isSmall: true,
  filters: {
    kind: wordsFilter(
      notificationChannels.kind,
      channelKinds.map(one => one.kind),
      'Only channels of these kinds.',
    ),
    status: wordsFilter(notificationChannels.status, channelStatuses, 'Only channels with these statuses.'),
    active: flagFilter(notificationChannels.active, 'True for active channels, false for inactive ones.'),
    q: searchFilter([notificationChannels.name], 'Only channels whose name contains all words of this text.'),
    ...timeFilters('created_at', notificationChannels.createdAt),
  },
  sorts: ['name', 'created_at'],
})

export const listChannels = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<NotificationChannelView>> =>
  listPage(ctx, channelListing, query, channelView)

/** @throws Problem 404 */
export const getChannel = async (ctx: Ctx, id: string): Promise<NotificationChannelView> => channelView(await channelOf(ctx, id))

/**
 * Creates a channel. Sends nothing.
 * @throws Problem 422, 403 `insufficient_permission`, 409 if the name is taken or the limit is reached
 */
export async function createChannel(ctx: Ctx, input: NotificationChannelInput): Promise<NotificationChannelView> {
  const choices = inputColumns(channelMembers, input)
  refuseInvalidQuietHours(choices)
  return await createAccount(
    ctx,
    channelAccounts,
    input,
    { ...choices, ...healthy },
    {
      async vet(settings) {
        refuseUnreadableTopics(ctx, null, choices)
        await refuseNonMembers(ctx, input.kind, settings)
        await refuseOwnAddress(ctx, settings)
      },
    },
  )
}

/**
 * Updates a channel. Pending notifications follow the new configuration; changing the settings also clears its failures, and requires
 * verifying it again.
 * @throws Problem 404, 409 if the name is taken, 412, 422, 403 `insufficient_permission`
 */
export const updateChannel = (ctx: Ctx, id: string, patch: NotificationChannelPatch): Promise<NotificationChannelView> =>
  updateAccount(ctx, channelAccounts, id, patch, () => validColumns(patch), {
    async vet(tx, { before, settings, settingsChanged }) {
      refuseUnreadableTopics(ctx, settingsChanged ? null : before, { ...before, ...patchColumns(channelMembers, patch) })
      if (!settingsChanged) return
      await refuseNonMembers(ctx, before.kind, settings, tx)
      await refuseOwnAddress(ctx, settings, tx)
    },
    async done(tx, { before }, after) {
      const now = after.updatedAt
      await rescheduleHeld(tx, id, now)
      if (!after.active && before.active) await cancelPending(tx, id, 'channel_inactive', now)
      if (inactiveReason(after) !== null) return []
      return [
        ...(await deliverJobsFor(tx, after)),
        ...(remindersChanged(before, after) ? await restartReminders(tx, after, now) : []),
      ]
    },
  })

/** Enables a disabled channel. @throws Problem 404, 412 */
export async function enableChannel(ctx: Ctx, id: string): Promise<NotificationChannelView> {
  return await change(ctx, 'notification.channel.enable', async tx => {
    const row: ChannelRow = await lockRow(tx, ctx, channelAccounts.rows, id)
    if (row.status !== 'disabled') return { result: channelView(row), target: channelTarget(row), unchanged: true }
    // A test message that was sent since then has cleared the error.
    const status = row.lastError === null ? 'enabled' : 'unverified'
    const changed: ChannelRow = await saveRow(tx, ctx, channelAccounts.rows, row, { ...healthy, status })
    const jobs = changed.active ? await restartReminders(tx, changed, changed.updatedAt) : []
    return { ...(await changedRow(channelAccounts.rows, row, changed, channelView)), jobs }
  })
}

/** Whether the reminders of an active channel must be rescheduled: it was inactive before, or its reminder settings changed. */
const remindersChanged = (before: ChannelRow, after: ChannelRow): boolean =>
  inactiveReason(before) !== null ||
  before.remindEverySeconds !== after.remindEverySeconds ||
  before.maxReminders !== after.maxReminders

/** Deletes a channel and its secrets, and cancels its pending notifications. Its log is kept. @throws Problem 404, 412 */
export const deleteChannel = (ctx: Ctx, id: string): Promise<void> =>
  deleteAccount(ctx, channelAccounts, id, async tx => {
    await cancelPending(tx, id, 'channel_deleted', ctx.hub.clock.now())
  })

/** @throws Problem 404 */
export const channelOf = (ctx: Ctx, id: string): Promise<ChannelRow> => findRow(ctx.hub.read, ctx, channelAccounts.rows, id)

/** Delivery state of a new or re-enabled channel. */
const healthy = {
  status: 'unverified',
  disabledReason: null,
  consecutiveFailures: 0,
  consecutiveGone: 0,
  failingSince: null,
  lastError: null,
  retryAt: null,
  notBefore: null,
} as const

function validColumns(patch: NotificationChannelPatch): Partial<ChannelRow> {
  const columns = patchColumns(channelMembers, patch)
  refuseInvalidQuietHours(columns)
  return columns
}
