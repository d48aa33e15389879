import { and, eq, notInArray } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import { listPage, textFilter, timeFilters, wordsFilter, type Listing } from '../../core/list'
import { reaches } from '../../core/narrowing'
import { noticeKindNames, severities } from '../../core/notices'
import { notFound } from '../../core/problem'
import type { Page } from '../../core/shapes'
import { channelOf } from './notification-channels'
import type { NotificationView } from './notification-shapes'
import { notificationView } from './notification-view'
import { notifications, notificationStates, type NotificationRow } from './tables'

const filters = {
  kind: textFilter(notifications.kind, 'Only these kinds of messages, such as `incident.opened`.'),
  status: wordsFilter(notifications.status, notificationStates, 'Only those of these states.'),
  state: wordsFilter(notifications.state, ['problem', 'recovery', 'information'], 'Only problems, recoveries or information.'),
  severity: wordsFilter(notifications.severity, severities, 'Only those that matter this much.'),
  thread: textFilter(notifications.thread, 'Only those of this matter, such as the id of an incident.'),
  ...timeFilters('created_at', notifications.createdAt),
}

export const notificationListing: Listing<NotificationRow> = {
  name: 'notifications',
  table: notifications as never,
  id: notifications.id,
  idOf: row => row.id,
  owner: notifications.workspaceId,
  narrowedBy: notifications.channelId,
  defaultSort: '-id',
  filters: { channel_id: textFilter(notifications.channelId, 'Only those on this channel.'), ...filters },
  sorts: {},
}

export const channelLogListing: Listing<NotificationRow> = {
  ...notificationListing,
  name: 'channel-notifications',
  owner: notifications.channelId,
  filters,
}

/** The same for those who may not read notices. */
const withoutNotices = (listing: Listing<NotificationRow>): Listing<NotificationRow> => ({
  ...listing,
  name: `${listing.name}-without-notices`,
  condition: notInArray(notifications.kind, [...noticeKindNames]),
})
const log = { of: notificationListing, ofOthers: withoutNotices(notificationListing) }
const channelLog = { of: channelLogListing, ofOthers: withoutNotices(channelLogListing) }

const mayReadNotices = (ctx: Ctx): boolean => ctx.permissions.has('account.read')
const readable = (ctx: Ctx, { of, ofOthers }: typeof log) => (mayReadNotices(ctx) ? of : ofOthers)
const isNotice = (kind: string): boolean => noticeKindNames.some(one => one === kind)

/** What was told in the workspace, on all channels, as far as the caller may read it. */
export const listNotifications = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<NotificationView>> =>
  listPage(ctx, readable(ctx, log), query, notificationView)

/** What was told on one channel. @throws Problem 404 */
export async function listOfChannel(ctx: Ctx, id: string, query: Record<string, unknown>): Promise<Page<NotificationView>> {
  const channel = await channelOf(ctx.hub.read, ctx, id)
  return await listPage(ctx, readable(ctx, channelLog), query, notificationView, channel.id)
}

/** @throws Problem 404 */
export async function getNotification(ctx: Ctx, id: string): Promise<NotificationView> {
  const [row] = await ctx.hub.read
    .select()
    .from(notifications)
    .where(and(eq(notifications.id, id), eq(notifications.workspaceId, ctx.workspaceId)))
  if (!row || !reaches(ctx, row.channelId) || (isNotice(row.kind) && !mayReadNotices(ctx))) throw notFound('notification')
  return notificationView(row)
}
