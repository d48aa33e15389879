import { and, asc, eq, gt, inArray, sql } from 'drizzle-orm'
import { waitFor, type Waiting } from '../../access/long-poll'
import { feedCounter } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { counters, events } from '../../core/db/tables'
import type { Reader } from '../../core/db/transaction'
import { eventKinds } from '../../core/events'
import { isId } from '../../core/ids'
import { reachable, reaches } from '../../core/narrowing'
import { InvalidCursor, openCursor, sealCursor } from '../../core/page'
import { Problem } from '../../core/problem'
import { badParameter } from '../../core/query'
import type { Page } from '../../core/shapes'
import { feedTopic } from '../../core/topics'
import { eventListing, eventView, readableKinds } from './list'
import { prunedCounter } from './retention'
import type { EventView } from './shapes'

/**
 * The events that were committed after a place in the feed, oldest first. Positions are given out in the order of commits
 * (core/change.ts), so whoever has seen one has seen all before it: nothing can appear behind a cursor later on.
 * @param query `after` and what the list knows, but for its own order and cursor
 * @throws Problem 400 for a place that never was, 410 for one behind which events were deleted, 429
 */
export async function followEvents(ctx: Ctx, query: Record<string, unknown>, waiting: Waiting | null): Promise<Page<EventView>> {
  for (const name of ['cursor', 'sort', 'include'])
    if (query[name] !== undefined) throw badParameter(name, 'does not go with `after`.')
  const { read } = ctx.hub
  const limit = (query.limit as number | undefined) ?? 25
  let from = await startOf(ctx, query.after as string)
  const rows = await waitFor(ctx, waiting, feedTopic(ctx.workspaceId), async () => {
    // Read before the page: all up to here is committed, so a page that is not full has passed over the rest of it.
    const head = await counterValue(read, feedCounter(ctx.workspaceId))
    if (head <= from) return null
    const found = await pageAfter(ctx, query, from, limit + 1)
    // Read after the page: what was deleted before it was read is known by now.
    if ((await counterValue(read, prunedCounter(ctx.workspaceId))) > from) throw expired()
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
        reachable(ctx, events.resourceId),
        ...Object.keys(filters)
          .filter(name => query[name] !== undefined)
          .map(name => filters[name]!.where(query[name], value => sql`${value}`, ctx.hub.clock.now())),
      ),
    )
    .orderBy(asc(events.position))
    .limit(limit)
}

/** The position behind which to read. */
async function startOf(ctx: Ctx, after: string): Promise<number> {
  const { read } = ctx.hub
  if (after === 'latest') return await counterValue(read, feedCounter(ctx.workspaceId))
  const pruned = () => counterValue(read, prunedCounter(ctx.workspaceId))
  if (after === 'oldest') return await pruned()
  if (!isId(after, 'evt')) return positionOf(ctx, after)
  const [row] = await read
    .select({ position: events.position, kind: events.kind, resourceId: events.resourceId })
    .from(events)
    .where(and(eq(events.id, after), eq(events.workspaceId, ctx.workspaceId)))
  if (row && reaches(ctx, row.resourceId) && readableKinds(ctx).includes(row.kind)) return row.position
  // It may be one of those that were deleted.
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
    'Events behind this place were deleted, since they were older than the plan keeps them. Go on with after=oldest.',
    { errors: [{ pointer: '#/query/after', code: 'cursor_expired', detail: 'lies before events that were deleted.' }] },
  )

const unknownPlace = (): Problem =>
  new Problem(
    'invalid_cursor',
    'after names no place in this feed: neither a cursor of it, nor an event, `oldest` or `latest`.',
    {
      errors: [{ pointer: '#/query/after', code: 'invalid_cursor', detail: 'does not belong to this feed.' }],
    },
  )

async function counterValue(read: Reader, name: string): Promise<number> {
  const [row] = await read.select({ value: counters.value }).from(counters).where(eq(counters.name, name))
  return row?.value ?? 0
}
