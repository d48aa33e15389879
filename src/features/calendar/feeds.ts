import { refuseOverLimit } from '../../access/plans'
import { newIngestToken } from '../../access/token-format'
import { change } from '../../core/change'
import { instant } from '../../core/clock'
import { sha256Hex } from '../../core/crypto'
import type { Ctx } from '../../core/ctx'
import type { Reader, Tx } from '../../core/db/transaction'
import { newId } from '../../core/ids'
import { listingOf, listPage } from '../../core/list'
import { idsFilter, searchFilter, timeFilters } from '../../core/list-filters'
import { editableView, inputColumns, memberView, patchColumns } from '../../core/members'
import { sealedIn } from '../../core/outgoing/signing-secrets'
import { permissionMissing } from '../../core/problem'
import { changedRow, deleteRow, findRow, insertRow, lockRow, saveRow, targetOf } from '../../core/rows'
import { rowsOf } from '../../registry'
import { readPermissionOf, type FeedContent } from './contents'
import { feedMembers, type CalendarFeedInput, type CalendarFeedPatch, type CalendarFeedView } from './shapes'
import { calendarFeeds } from './tables'

type FeedRow = typeof calendarFeeds.$inferSelect

const rows = rowsOf('calendar_feed', calendarFeeds)

export const feedListing = listingOf('calendar-feeds', calendarFeeds, {
  isSmall: true,
  filters: {
    ids: idsFilter(calendarFeeds.id),
    q: searchFilter([calendarFeeds.name], 'Only feeds whose name contains all words of this text.'),
    ...timeFilters('created_at', calendarFeeds.createdAt),
  },
  sorts: ['name', 'created_at', 'updated_at'],
})

export const listFeeds = (ctx: Ctx, query: Record<string, unknown>) => listPage(ctx, feedListing, query, row => viewFor(ctx, row))

/** @throws Problem 404 */
export const getFeed = async (ctx: Ctx, id: string): Promise<CalendarFeedView> =>
  await viewFor(ctx, await findRow(ctx.hub.read, ctx, rows, id))

/** @throws Problem 403, 409 if the workspace has reached the limit */
export async function createFeed(ctx: Ctx, input: CalendarFeedInput): Promise<CalendarFeedView> {
  requireReadable(ctx, input.include)
  return await change(ctx, 'domains.calendar.create', async tx => {
    await refuseOverLimit(tx, ctx, 'calendar_feed')
    const id = newId('cal')
    const secret = newIngestToken('cal')
    const columns = await secretColumns(tx, ctx, { id, workspaceId: ctx.workspaceId }, secret)
    const row = await insertRow(tx, ctx, rows, { id, ...inputColumns(feedMembers, input), ...columns, lastUsedAt: null })
    return { result: view(row, urlOf(ctx, secret)), target: targetOf(rows, row), after: view(row, null) }
  })
}

/** @throws Problem 403, 404, 412 */
export async function updateFeed(ctx: Ctx, id: string, patch: CalendarFeedPatch): Promise<CalendarFeedView> {
  if (patch.include) requireReadable(ctx, patch.include)
  return await change(ctx, 'domains.calendar.update', async tx => {
    const before = await lockRow(tx, ctx, rows, id)
    const after = await saveRow(tx, ctx, rows, before, patchColumns(feedMembers, patch))
    const changed = await changedRow(rows, before, after, row => view(row, null))
    return { ...changed, result: await viewFor(ctx, after, tx) }
  })
}

/** Gives the feed a new URL. The old one stops working immediately. @throws Problem 403, 404, 412 */
export const rotateFeed = (ctx: Ctx, id: string): Promise<CalendarFeedView> =>
  change(ctx, 'domains.calendar.rotate', async tx => {
    const before = await lockRow(tx, ctx, rows, id)
    requireReadable(ctx, before.include)
    const secret = newIngestToken('cal')
    const row = await saveRow(tx, ctx, rows, before, { ...(await secretColumns(tx, ctx, before, secret)), lastUsedAt: null })
    return {
      result: view(row, urlOf(ctx, secret)),
      target: targetOf(rows, row),
      before: { secret: await secretOf(ctx, before, tx) },
      after: { secret },
    }
  })

/** @throws Problem 404, 412 */
export const deleteFeed = (ctx: Ctx, id: string): Promise<void> =>
  deleteRow(ctx, 'domains.calendar.delete', rows, id, row => view(row, null))

/** Nobody learns from a feed what they can’t read otherwise. @throws Problem 403 */
function requireReadable(ctx: Ctx, include: readonly FeedContent[]): void {
  const missing = include.map(one => readPermissionOf[one]).find(one => !ctx.permissions.has(one))
  if (missing) throw permissionMissing(missing)
}

type Owner = Pick<FeedRow, 'id' | 'workspaceId'>
const sealedPlace = (row: Owner) => sealedIn(calendarFeeds, row, 'secret_sealed')

const secretColumns = async (tx: Tx, ctx: Ctx, row: Owner, secret: string) => ({
  secretHash: sha256Hex(secret),
  secretSealed: await ctx.hub.keys.seal(tx, sealedPlace(row), secret),
})

const secretOf = (ctx: Ctx, row: FeedRow, read?: Reader): Promise<string> =>
  ctx.hub.keys.open(sealedPlace(row), row.secretSealed, read)

const urlOf = (ctx: Ctx, secret: string): string => `${ctx.hub.baseUrl}/v1/calendar-feeds/${secret}/calendar.ics`

/** A feed as the API returns it to the caller. */
async function viewFor(ctx: Ctx, row: FeedRow, read?: Reader): Promise<CalendarFeedView> {
  const needed = ['domains.write', ...row.include.map(one => readPermissionOf[one])] as const
  const isShown = needed.every(one => ctx.permissions.has(one))
  return view(row, isShown ? urlOf(ctx, await secretOf(ctx, row, read)) : null)
}

const view = (row: FeedRow, url: string | null): CalendarFeedView => ({
  id: row.id,
  ...memberView(feedMembers, row),
  url,
  last_used_at: instant(row.lastUsedAt),
  ...editableView(row),
})
