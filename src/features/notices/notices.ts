import { Type } from '@sinclair/typebox'
import { and, eq, isNull, lte, or, lt, sql } from 'drizzle-orm'
import { target } from '../../core/audit'
import { editableView } from '../../core/members'
import { change } from '../../core/change'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { notices } from '../../core/db/tables'
import { listingOf, listPage } from '../../core/list'
import { textFilter, timeFilters, wordsFilter } from '../../core/list-filters'
import { severities, type NoticeKind } from '../../core/notices'
import { noticeKindNames, noticeKinds } from '../notice-kinds'
import { pluralize } from '../../core/pluralize'
import { invalid } from '../../core/problem'
import { findRow, lockRow, saveRow } from '../../core/rows'
import type { Page } from '../../core/shapes'
import { rowsOf } from '../../registry'
import type { NoticePatch, MarkNoticesReadResult, MarkNoticesReadInput, NoticeView } from './shapes'

const noticeRows = rowsOf('notice', notices, { accessTo: row => row.resourceId })

export const noticeListing = listingOf('notices', notices, {
  isSmall: true,
  defaultSort: '-occurred_at',
  accessColumn: notices.resourceId,
  filters: {
    kind: wordsFilter(notices.kind, noticeKindNames, 'Only notices of these kinds.'),
    severity: wordsFilter(notices.severity, severities, 'Only notices with these severities.'),
    read: {
      schema: Type.Boolean({ description: 'True for read notices, false for unread ones.' }),
      where: value => (value ? sql`${notices.readAt} is not null` : sql`${notices.readAt} is null`),
      variant: String,
    },
    resource_id: textFilter(notices.resourceId, 'Only notices about the resource with this ID.'),
    resource_type: textFilter(notices.resourceType, 'Only notices about resources of this type.'),
    ...timeFilters('occurred_at', notices.occurredAt),
  },
  sorts: ['occurred_at'],
})

export const listNotices = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<NoticeView>> =>
  listPage(ctx, noticeListing, query, noticeView)

/** @throws Problem 404 */
export const getNotice = async (ctx: Ctx, id: string): Promise<NoticeView> =>
  noticeView(await findRow(ctx.hub.read, ctx, noticeRows, id))

/** Marks a notice as read or unread. @throws Problem 404, 412 */
export async function updateNotice(ctx: Ctx, id: string, { read }: NoticePatch): Promise<NoticeView> {
  return await change(ctx, 'account.notice.update', async tx => {
    const row = await lockRow(tx, ctx, noticeRows, id)
    const after = await saveRow(tx, ctx, noticeRows, row, { readAt: read ? (row.readAt ?? ctx.hub.clock.now()) : null })
    return {
      result: noticeView(after),
      target: target('notice', { id, name: noticeKinds[row.kind as NoticeKind]?.title ?? row.kind }),
      before: { read: !read },
      after: { read },
      unchanged: after === row,
    }
  })
}

/**
 * Marks notices as read: up to a notice, up to a time, or all of them.
 * @throws Problem 404 if the notice does not exist, 422 if both bounds are set
 */
export async function markNoticesRead(ctx: Ctx, { up_to, until }: MarkNoticesReadInput): Promise<MarkNoticesReadResult> {
  if (up_to !== undefined && until !== undefined)
    throw invalid([{ pointer: '#/until', code: 'not_allowed', detail: 'can’t be combined with `up_to`. Set only one of them.' }])
  return await change(ctx, 'account.notice.read', async tx => {
    const last = up_to === undefined ? null : await findRow(tx, ctx, noticeRows, up_to)
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
      reason: `${pluralize(marked.length, 'notices')} marked as read.`,
    }
  })
}

const noticeView = (row: typeof notices.$inferSelect): NoticeView => ({
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
  ...editableView(row),
})
