import { and, eq } from 'drizzle-orm'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { events } from '../../core/db/tables'
import { eventKinds } from '../event-kinds'
import { listPage } from '../../core/list'
import type { Listing } from '../../core/listing'
import { textFilter, timeFilters, wordsFilter } from '../../core/list-filters'
import { canAccess } from '../../core/resource-access'
import { notFound } from '../../core/problem'
import { onePage, type Page } from '../../core/shapes'
import type { EventView } from './shapes'

type EventRow = typeof events.$inferSelect

export const eventListing: Listing<EventRow> = {
  name: 'events',
  table: events as never,
  id: events.id,
  idOf: row => row.id,
  // The order of the commits. Ids are created before.
  order: { column: events.position, read: row => row.position },
  owner: events.workspaceId,
  defaultSort: '-id',
  accessColumn: events.resourceId,
  filters: {
    kind: wordsFilter(
      events.kind,
      eventKinds.map(one => one.kind),
      'Only events of these kinds.',
    ),
    resource_id: textFilter(events.resourceId, 'Only events about the resource with this ID.'),
    resource_type: textFilter(events.resourceType, 'Only events about resources of this type.'),
    ...timeFilters('occurred_at', events.occurredAt),
  },
  sorts: { occurred_at: { column: events.occurredAt, read: row => row.occurredAt } },
}

/** Lists the events of the areas that the caller may read. */
export async function listEvents(ctx: Ctx, query: Record<string, unknown>): Promise<Page<EventView>> {
  const open = readableKinds(ctx)
  if (query.kind === undefined && open.length === eventKinds.length) return await listPage(ctx, eventListing, query, eventView)
  const kind = open.filter(one => (query.kind as string[] | undefined)?.includes(one) ?? true)
  if (kind.length === 0) return onePage([])
  return await listPage(ctx, eventListing, { ...query, kind }, eventView)
}

/** @throws Problem 404 */
export async function getEvent(ctx: Ctx, id: string): Promise<EventView> {
  const [row] = await ctx.hub.read
    .select()
    .from(events)
    .where(and(eq(events.id, id), eq(events.workspaceId, ctx.workspaceId)))
  if (!row || !canAccess(ctx, row.resourceId) || !readableKinds(ctx).includes(row.kind)) throw notFound('event')
  return eventView(row)
}

/** The event kinds of the areas that the caller may read. */
export const readableKinds = (ctx: Ctx): string[] =>
  eventKinds.filter(entry => ctx.permissions.has(`${entry.area}.read`)).map(entry => entry.kind)

/** An event as the API returns it. */
export function eventView(row: EventRow): EventView {
  const { data } = JSON.parse(row.body) as { data: Record<string, unknown> }
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    message_id: row.messageId,
    kind: row.kind,
    occurred_at: instant(row.occurredAt),
    resource: { type: row.resourceType, id: row.resourceId },
    sequence: row.sequence,
    data,
  }
}
