import { notInArray } from 'drizzle-orm'
import type { Ctx } from '../../../core/ctx'
import { listingOf, listPage } from '../../../core/list'
import type { Listing } from '../../../core/listing'
import { textFilter, timeFilters, wordsFilter } from '../../../core/list-filters'
import { severities } from '../../../core/notices'
import { noticeKindNames } from '../../notice-kinds'
import { notFound } from '../../../core/problem'
import { findRow } from '../../../core/rows'
import type { Page } from '../../../core/shapes'
import { rowsOf } from '../../../registry'
import { channelOf } from '../notification-channels'
import { notificationStatuses, type NotificationView } from './shapes'
import { notificationView } from './view'
import { notifications, type NotificationRow } from '../tables'

const filters = {
  kind: textFilter(notifications.kind, 'Only messages of this kind, such as `incident.opened`.'),
  status: wordsFilter(notifications.status, notificationStatuses, 'Only notifications with these statuses.'),
  state: wordsFilter(notifications.state, ['problem', 'recovery', 'information'], 'Only notifications with these states.'),
  severity: wordsFilter(notifications.severity, severities, 'Only notifications with these severities.'),
  thread: textFilter(notifications.thread, 'Only notifications in this thread, such as the ID of an incident.'),
  ...timeFilters('created_at', notifications.createdAt),
}

const notificationRows = rowsOf('notification', notifications, { accessTo: row => row.channelId })

export const notificationListing = listingOf('notifications', notifications, {
  accessColumn: notifications.channelId,
  filters: { channel_id: textFilter(notifications.channelId, 'Only notifications of the channel with this ID.'), ...filters },
  sorts: ['created_at'],
})

export const channelLogListing: Listing<NotificationRow> = {
  ...notificationListing,
  name: 'channel-notifications',
  owner: notifications.channelId,
  filters,
  sorts: {},
}

/** The same listing for callers without permission to read notices. */
const withoutNotices = (listing: Listing<NotificationRow>): Listing<NotificationRow> => ({
  ...listing,
  name: `${listing.name}-without-notices`,
  condition: notInArray(notifications.kind, [...noticeKindNames]),
})
const log = { full: notificationListing, limited: withoutNotices(notificationListing) }
const channelLog = { full: channelLogListing, limited: withoutNotices(channelLogListing) }

const canReadNotices = (ctx: Ctx): boolean => ctx.permissions.has('account.read')
const listingFor = (ctx: Ctx, { full, limited }: typeof log) => (canReadNotices(ctx) ? full : limited)
const isNotice = (kind: string): boolean => noticeKindNames.some(one => one === kind)

/** Lists the notifications of all channels of the workspace that the caller may read. */
export const listNotifications = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<NotificationView>> =>
  listPage(ctx, listingFor(ctx, log), query, notificationView)

/** Lists the notifications of one channel. @throws Problem 404 */
export async function listChannelNotifications(
  ctx: Ctx,
  id: string,
  query: Record<string, unknown>,
): Promise<Page<NotificationView>> {
  const channel = await channelOf(ctx, id)
  return await listPage(ctx, listingFor(ctx, channelLog), query, notificationView, channel.id)
}

/** @throws Problem 404 */
export async function getNotification(ctx: Ctx, id: string): Promise<NotificationView> {
  const row = await findRow(ctx.hub.read, ctx, notificationRows, id)
  if (isNotice(row.kind) && !canReadNotices(ctx)) throw notFound('notification')
  return notificationView(row)
}
