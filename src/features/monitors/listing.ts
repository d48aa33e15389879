import { Type } from '@sinclair/typebox'
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import { listingOf, listPage } from '../../core/list'
import { containsFilter, idsFilter, searchFilter, textFilter, timeFilters, wordsFilter } from '../../core/list-filters'
import { accessCondition, canAccess } from '../../core/resource-access'
import { rowsInBatches } from '../../core/db/rows-in-batches'
import { Tag, Words, type Page } from '../../core/shapes'
import type { GroupOptions } from './definition/types'
import { maxMembers, monitorStatuses, monitorTypes, type MonitorView } from './shapes'
import { monitors } from './tables'
import { monitorView } from './view'

const Id = (description: string) =>
  Type.String({
    pattern: '^[A-Za-z0-9_]{1,100}$',
    'x-rule': 'must be the ID of a monitor, such as mon_01jd8f3q7eeb9bv0w0r8c7hq2m.',
    description,
  })

/** Restricts the list to these monitor ids, or excludes them. */
interface Membership {
  ids: readonly string[]
  isIn: boolean
}

export const monitorListing = listingOf('monitors', monitors, {
  isSmall: true,
  filters: {
    status: wordsFilter(monitors.status, monitorStatuses, 'Only monitors with these statuses.'),
    type: wordsFilter(monitors.type, monitorTypes, 'Only monitors of these types.'),
    tag: containsFilter(monitors.tags, Type.String({ ...Tag, description: 'Only monitors with this tag.' })),
    location: containsFilter(monitors.locations, Words(['local'], { description: 'Only monitors checked from this location.' })),
    key: textFilter(monitors.key, 'Only the monitor with this key.'),
    group: {
      schema: Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'Only members of the group with this ID, or `none` for monitors that are in no group.',
      }),
      // listMonitors has already replaced the group with the ids of its members.
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
      finds: value => ((value as Membership).isIn ? 'few' : undefined),
    },
    ids: idsFilter(monitors.id),
    member: {
      schema: Id('Only groups that contain the monitor with this ID.'),
      where: (value, place) =>
        sql`(${monitors.type} = 'group' and ${containsFilter(monitors.options, Type.String()).where(value, place, 0)})`,
    },
    depends_on: containsFilter(monitors.dependsOn, Id('Only monitors that depend on the monitor with this ID.')),
    q: searchFilter([monitors.name, monitors.target], 'Only monitors whose name or target contains all words of this text.'),
    ...timeFilters('created_at', monitors.createdAt),
    ...timeFilters('status_since_at', monitors.statusSince),
  },
  sorts: {
    name: monitors.name,
    status: monitors.statusRank,
    status_since_at: monitors.statusSince,
    created_at: monitors.createdAt,
    updated_at: monitors.updatedAt,
  },
})

/** Lists monitors of the workspace. A group the caller has no access to counts as empty. */
export async function listMonitors(ctx: Ctx, query: Record<string, unknown>): Promise<Page<MonitorView>> {
  const { group, sort } = query
  const resolved = {
    ...query,
    ...(group !== undefined && { group: await membersOf(ctx, group as string) }),
    ...(sort !== undefined && { sort: indexedSort(sort as string[]) }),
  }
  return await listPage(ctx, monitorListing, resolved, row => monitorView(ctx.hub, row))
}

/** Monitors with the same status are in the order of the index. */
const indexedSort = (sort: string[]): string[] =>
  /^-?status$/.test(sort.join()) ? [sort[0]!, sort[0]!.replace('status', 'name')] : sort

async function membersOf(ctx: Ctx, id: string): Promise<Membership> {
  if (id === 'none') return { ids: await grouped(ctx), isIn: false }
  if (!canAccess(ctx, id)) return { ids: [], isIn: true }
  const [row] = await ctx.hub.read
    .select({ type: monitors.type, options: monitors.options })
    .from(monitors)
    .where(and(eq(monitors.id, id), eq(monitors.workspaceId, ctx.workspaceId)))
  return { ids: row?.type === 'group' ? (row.options as GroupOptions).members.slice(0, maxMembers) : [], isIn: true }
}

/** The ids of all monitors that are in a group the caller has access to. */
async function grouped(ctx: Ctx): Promise<string[]> {
  const groups = await rowsInBatches((after, limit) =>
    ctx.hub.read
      .select({ id: monitors.id, options: monitors.options })
      .from(monitors)
      .where(
        and(
          eq(monitors.workspaceId, ctx.workspaceId),
          eq(monitors.type, 'group'),
          accessCondition(ctx, monitors.id),
          gt(monitors.id, after),
        ),
      )
      .orderBy(asc(monitors.id))
      .limit(limit),
  )
  return [...new Set(groups.flatMap(({ options }) => (options as GroupOptions).members))]
}
