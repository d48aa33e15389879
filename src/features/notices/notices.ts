import { Type } from '@sinclair/typebox'
import { and, eq, isNull, lte, or, lt, sql } from 'drizzle-orm'
import { target } from '../../core/audit'
import { change } from '../../core/change'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { locking } from '../../core/db/dialect'
import { notices } from '../../core/db/tables'
import type { Reader } from '../../core/db/transaction'
import { requireMatch } from '../../core/if-match'
import { listPage, textFilter, timeFilters, wordsFilter, type Listing } from '../../core/list'
import { reaches } from '../../core/narrowing'
import { noticeKindNames, noticeKinds, severities, type NoticeKind } from '../../core/notices'
import { invalid, notFound } from '../../core/problem'
import type { Page } from '../../core/shapes'
import type { NoticePatch, NoticesMarked, NoticesRead, NoticeView } from './shapes'

type NoticeRow = typeof notices.$inferSelect

export const noticeListing: Listing<NoticeRow> = {
  name: 'notices',
  table: notices as never,
  id: notices.id,
  idOf: row => row.id,
  owner: notices.workspaceId,
  defaultSort: '-occurred_at',
  narrowedBy: notices.resourceId,
  filters: {
    kind: wordsFilter(notices.kind, noticeKindNames, 'Only these kinds.'),
    severity: wordsFilter(notices.severity, severities, 'Only those that matter this much.'),
    read: {
      schema: Type.Boolean({ description: 'True: only those marked as read. False: only unread ones.' }),
      where: value => (value ? sql`${notices.readAt} is not null` : sql`${notices.readAt} is null`),
      variant: String,
    },
    resource_id: textFilter(notices.resourceId, 'Only those about this resource.'),
    resource_type: textFilter(notices.resourceType, 'Only those about this type of resource.'),
    ...timeFilters('occurred_at', notices.occurredAt),
  },
  sorts: { occurred_at: { column: notices.occurredAt, read: row => row.occurredAt } },
}

export const listNotices = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<NoticeView>> =>
  listPage(ctx, noticeListing, query, noticeView)

/** @throws Problem 404 */
export async function getNotice(ctx: Ctx, id: string): Promise<NoticeView> {
  return noticeView(await noticeOf(ctx.hub.read, ctx, id))
}

/** Marks a notice as read or unread; what it is already stays as it is. @throws Problem 404, 412 */
export async function updateNotice(ctx: Ctx, id: string, { read }: NoticePatch): Promise<NoticeView> {
  return await change(ctx, 'account.notice.update', async tx => {
    const row = await noticeOf(tx, ctx, id)
    requireMatch(ctx, row)
    const named = target('notice', { id, name: noticeKinds[row.kind as NoticeKind]?.title ?? row.kind })
    if (read === (row.readAt !== null)) return { result: noticeView(row), target: named, unchanged: true }
    const now = ctx.hub.clock.now()
    const [after] = await tx
      .update(notices)
      .set({ readAt: read ? now : null, version: row.version + 1, updatedAt: now })
      .where(eq(notices.id, id))
      .returning()
    return { result: noticeView(after!), target: named, before: { read: !read }, after: { read } }
  })
}

/**
 * Marks notices as read: up to one of them, until a time, or all.
 * @throws Problem 404 for a notice that is not there, 422 when both bounds are given
 */
export async function readNotices(ctx: Ctx, { up_to, until }: NoticesRead): Promise<NoticesMarked> {
  if (up_to !== undefined && until !== undefined)
    throw invalid([{ pointer: '#/until', code: 'not_allowed', detail: 'does not go with `up_to`: name one of the two.' }])
  return await change(ctx, 'account.notice.read', async tx => {
    const last = up_to === undefined ? null : await noticeOf(tx, ctx, up_to)
    const bound = last
      ? or(lt(notices.occurredAt, last.occurredAt), and(eq(notices.occurredAt, last.occurredAt), lte(notices.id, last.id)))
      : until === undefined
        ? undefined
        : lte(notices.occurredAt, Date.parse(until))
    const now = ctx.hub.clock.now()
    const marked = await tx
      .update(notices)
      .set({ readAt: now, version: sql`${notices.version} + 1`, updatedAt: now })
      .where(and(eq(notices.workspaceId, ctx.workspaceId), isNull(notices.readAt), bound))
      .returning({ id: notices.id })
    return {
      result: { marked: marked.length },
      target: target('workspace', { id: ctx.workspaceId }),
      reason: `${marked.length} notices were marked as read.`,
    }
  })
}

/** A notice of the workspace; within a change it is held until the change is done. @throws Problem 404 */
async function noticeOf(read: Reader, ctx: Ctx, id: string): Promise<NoticeRow> {
  const found = read
    .select()
    .from(notices)
    .where(and(eq(notices.id, id), eq(notices.workspaceId, ctx.workspaceId)))
  const [row] = await (read === ctx.hub.read ? found : locking(found))
  if (!row || !reaches(ctx, row.resourceId)) throw notFound('notice')
  return row
}

const noticeView = (row: NoticeRow): NoticeView => ({
  id: row.id,
  kind: row.kind as NoticeKind,
  title: noticeKinds[row.kind as NoticeKind]?.title ?? row.kind,
  severity: row.severity,
  resource:
    row.resourceId === null || row.resourceType === null
      ? null
      : { type: row.resourceType, id: row.resourceId, name: row.resourceName },
  text: row.text,
  details: row.details,
  count: row.count,
  occurred_at: instant(row.occurredAt),
  read: row.readAt !== null,
  read_at: instant(row.readAt),
  version: row.version,
  created_at: instant(row.createdAt),
  updated_at: instant(row.updatedAt),
})
