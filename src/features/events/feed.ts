import { and, asc, eq, gt, inArray, sql } from 'drizzle-orm'
import { waitFor, type Waiting } from '../../api/long-poll'
import { feedCounter, lastNumber } from '../../core/counters'
import type { Ctx } from '../../core/ctx'
import { events } from '../../core/db/tables'
import { eventKinds } from '../event-kinds'
import { isId } from '../../core/ids'
import { accessCondition, canAccess } from '../../core/resource-access'
import { InvalidCursor, openCursor, sealCursor } from '../../core/page'
import { Problem } from '../../core/problem'
import { invalidParameter } from '../../core/query'
import type { Page } from '../../core/shapes'
import { feedTopic } from '../../core/topics'
import { eventListing, eventView, readableKinds } from './list'
import { prunedCounter } from './retention'
import type { EventView } from './shapes'

/**
 * Returns the events committed after a position in the feed, oldest first. Positions are assigned in commit order
 * (core/change.ts), so a client that follows the cursor never misses an event.
 * @param query `after` and the list filters; not `cursor`, `sort` or `include`
 * @throws Problem 400 for an unknown position, 410 if events after it were deleted, 429
 */
export async function followEvents(ctx: Ctx, query: Record<string, unknown>, waiting: Waiting | null): Promise<Page<EventView>> {
  for (const name of ['cursor', 'sort', 'include'])
    if (query[name] !== undefined) throw invalidParameter(name, 'can’t be combined with `after`.')
  const { read } = ctx.hub
  const limit = (query.limit as number | undefined) ?? 25
  let from = await startOf(ctx, query.after as string)
  const rows = await waitFor(ctx, waiting, feedTopic(ctx.workspaceId), async () => {
    // Read before the page: everything up to the head is committed, so if the page is not full, the cursor can move to the head.
    const head = await lastNumber(read, feedCounter(ctx.workspaceId))
    if (head <= from) return null
    const found = await pageAfter(ctx, query, from, limit + 1)
    // Read after the page, to notice events that were deleted before the page was read.
    if ((await lastNumber(read, prunedCounter(ctx.workspaceId))) > from) throw expired()
    if (found.length === 0) {
      from = head
      return null
    }
    const more = found.length > limit
    if (more) found.pop()
    from = more ? found.at(-1)!.position : Math.max(head, found.at(-1)!.position)
    return { found, more }
  })
  return {
    data: (rows?.found ?? []).map(eventView),
    pagination: { has_more: rows?.more ?? false, next_cursor: cursorAt(ctx, from) },
  }
}

async function pageAfter(ctx: Ctx, query: Record<string, unknown>, from: number, limit: number) {
  const kinds = readableKinds(ctx)
  if (kinds.length === 0) return []
  const { filters } = eventListing
  return await ctx.hub.read
    .select()
    .from(events)
    .where(
      and(
        eq(events.workspaceId, ctx.workspaceId),
        gt(events.position, from),
        kinds.length < eventKinds.length ? inArray(events.kind, kinds) : undefined,
        accessCondition(ctx, events.resourceId),
        ...Object.keys(filters)
          .filter(name => query[name] !== undefined)
          .map(name => filters[name]!.where(query[name], value => sql`${value}`, ctx.hub.clock.now())),
      ),
    )
    .orderBy(asc(events.position))
    .limit(limit)
}

/** The feed position that `after` refers to. */
async function startOf(ctx: Ctx, after: string): Promise<number> {
  const { read } = ctx.hub
  if (after === 'latest') return await lastNumber(read, feedCounter(ctx.workspaceId))
  const pruned = () => lastNumber(read, prunedCounter(ctx.workspaceId))
  if (after === 'oldest') return await pruned()
  if (!isId(after, 'evt')) return positionOf(ctx, after)
  const [row] = await read
    .select({ position: events.position, kind: events.kind, resourceId: events.resourceId })
    .from(events)
    .where(and(eq(events.id, after), eq(events.workspaceId, ctx.workspaceId)))
  if (row && canAccess(ctx, row.resourceId) && readableKinds(ctx).includes(row.kind)) return row.position
  // The event may have been deleted.
  if ((await pruned()) > 0) throw expired()
  throw unknownPlace()
}

const filterHash = (ctx: Ctx) => `event-feed|${ctx.workspaceId}`

const cursorAt = (ctx: Ctx, position: number): string =>
  sealCursor(ctx.hub.keys.derive('cursor'), { values: [position], filterHash: filterHash(ctx) })

function positionOf(ctx: Ctx, cursor: string): number {
  try {
    return openCursor(ctx.hub.keys.derive('cursor'), cursor, filterHash(ctx))[0] as number
  } catch (error) {
    if (!(error instanceof InvalidCursor)) throw error
    throw unknownPlace()
  }
}

const expired = (): Problem =>
  new Problem(
    'cursor_expired',
    'Events after this position were deleted because they exceeded the retention of the plan. Continue with `after=oldest`.',
    { errors: [{ pointer: '#/query/after', code: 'cursor_expired', detail: 'is older than the oldest stored event.' }] },
  )

const unknownPlace = (): Problem =>
  new Problem('invalid_cursor', '`after` must be a cursor of this feed, the ID of an event, `oldest`, or `latest`.', {
    errors: [{ pointer: '#/query/after', code: 'invalid_cursor', detail: 'does not belong to this feed.' }],
  })
