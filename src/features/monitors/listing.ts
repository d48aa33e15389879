import { Type } from '@sinclair/typebox'
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import {
  heldFilter,
  idsFilter,
  listPage,
  searchFilter,
  textFilter,
  timeFilters,
  wordsFilter,
  type Listing,
} from '../../core/list'
import { reachable, reaches } from '../../core/narrowing'
import { rowsInTurns } from '../../core/db/rows-in-turns'
import { Tag, Words, type Page } from '../../core/shapes'
import type { GroupOptions } from './monitor-types'
import { mostMembers, type MonitorView } from './shapes'
import { monitors, monitorStatuses, monitorTypes } from './tables'
import { monitorView, type MonitorRow } from './view'

const Id = (description: string) => Type.String({ pattern: '^[A-Za-z0-9_]{1,100}$', 'x-rule': 'must be an id.', description })

/** Ids of monitors, of which one is to be, or not to be. */
interface Membership {
  ids: readonly string[]
  isIn: boolean
}

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
      schema: Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'Only the members of this group, by its id; `none` for those that are in no group.',
      }),
      // Read from the groups before: the value is by then the list of ids.
      where: (value, place) => {
        const { ids, isIn } = value as Membership
        if (ids.length === 0) return isIn ? sql`1 = 0` : sql`1 = 1`
        const listed = sql.join(
          ids.map(one => place(one)),
          sql`, `,
        )
        return isIn ? sql`${monitors.id} in (${listed})` : sql`${monitors.id} not in (${listed})`
      },
      variant: value => `${(value as Membership).isIn} ${(value as Membership).ids.length}`,
    },
    ids: idsFilter(monitors.id),
    member: {
      schema: Id('Only groups that have this monitor as a member, by its id.'),
      where: (value, place) =>
        sql`(${monitors.type} = 'group' and ${heldFilter(monitors.options, Type.String()).where(value, place, 0)})`,
    },
    depends_on: heldFilter(monitors.dependsOn, Id('Only those that depend on this monitor, by its id.')),
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

async function membersOf(ctx: Ctx, id: string): Promise<Membership> {
  if (id === 'none') return { ids: await grouped(ctx), isIn: false }
  if (!reaches(ctx, id)) return { ids: [], isIn: true }
  const [row] = await ctx.hub.read
    .select({ type: monitors.type, options: monitors.options })
    .from(monitors)
    .where(and(eq(monitors.id, id), eq(monitors.workspaceId, ctx.workspaceId)))
  return { ids: row?.type === 'group' ? (row.options as GroupOptions).members.slice(0, mostMembers) : [], isIn: true }
}

/** Every monitor that is in a group which the caller reaches. */
async function grouped(ctx: Ctx): Promise<string[]> {
  const groups = await rowsInTurns((after, most) =>
    ctx.hub.read
      .select({ id: monitors.id, options: monitors.options })
      .from(monitors)
      .where(
        and(
          eq(monitors.workspaceId, ctx.workspaceId),
          eq(monitors.type, 'group'),
          reachable(ctx, monitors.id),
          gt(monitors.id, after),
        ),
      )
      .orderBy(asc(monitors.id))
      .limit(most),
  )
  return [...new Set(groups.flatMap(({ options }) => (options as GroupOptions).members))]
}
