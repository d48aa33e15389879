import { Type } from '@sinclair/typebox'
import { and, eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import { heldFilter, listPage, searchFilter, textFilter, timeFilters, wordsFilter, type Listing } from '../../core/list'
import { reaches } from '../../core/narrowing'
import { Tag, Words, type Page } from '../../core/shapes'
import type { GroupOptions } from './monitor-types'
import { mostMembers, type MonitorView } from './shapes'
import { monitors, monitorStatuses, monitorTypes } from './tables'
import { monitorView, type MonitorRow } from './view'

export const monitorListing: Listing<MonitorRow> = {
  name: 'monitors',
  table: monitors as never,
  id: monitors.id,
  idOf: row => row.id,
  owner: monitors.workspaceId,
  defaultSort: '-id',
  filters: {
    status: wordsFilter(monitors.status, monitorStatuses, 'Only these statuses.'),
    type: wordsFilter(monitors.type, monitorTypes, 'Only these types.'),
    tag: heldFilter(monitors.tags, Type.String({ ...Tag, 'x-rule': 'must be a tag.', description: 'Only those with this tag.' })),
    location: heldFilter(monitors.locations, Words(['local'], { description: 'Only those that are checked from there.' })),
    key: textFilter(monitors.key, 'Only the one with this key.'),
    group: {
      schema: Type.String({ minLength: 1, maxLength: 100, description: 'Only the members of this group, by its id.' }),
      // Read from the group before: the value is by then the list of their ids.
      where: (value, place) => {
        const ids = value as string[]
        return ids.length === 0
          ? sql`1 = 0`
          : sql`${monitors.id} in (${sql.join(
              ids.map(one => place(one)),
              sql`, `,
            )})`
      },
      variant: value => String((value as string[]).length),
    },
    q: searchFilter([monitors.name, monitors.target], 'Only those whose name or target holds this text.'),
    ...timeFilters('created_at', monitors.createdAt),
    ...timeFilters('status_since_at', monitors.statusSince),
  },
  sorts: {
    name: { column: monitors.name, read: row => row.name },
    status: { column: monitors.status, read: row => row.status },
    status_since_at: { column: monitors.statusSince, read: row => row.statusSince },
    created_at: { column: monitors.createdAt, read: row => row.createdAt },
    updated_at: { column: monitors.updatedAt, read: row => row.updatedAt },
  },
}

/** Monitors of the workspace. A group that the caller does not reach has no members. */
export async function listMonitors(ctx: Ctx, query: Record<string, unknown>): Promise<Page<MonitorView>> {
  const asked = query.group === undefined ? query : { ...query, group: await membersOf(ctx, query.group as string) }
  return await listPage(ctx, monitorListing, asked, row => monitorView(ctx.hub, row))
}

async function membersOf(ctx: Ctx, id: string): Promise<string[]> {
  if (!reaches(ctx, id)) return []
  const [row] = await ctx.hub.read
    .select({ type: monitors.type, options: monitors.options })
    .from(monitors)
    .where(and(eq(monitors.id, id), eq(monitors.workspaceId, ctx.workspaceId)))
  return row?.type === 'group' ? (row.options as GroupOptions).members.slice(0, mostMembers) : []
}
