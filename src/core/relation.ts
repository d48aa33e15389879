import { and, eq, inArray } from 'drizzle-orm'
import type { Ctx } from './ctx'
import type { Listing } from './list'
import { reachable } from './narrowing'
import type { Permission } from './permissions'

/** How a resource that another one names is read along with it, for `expand`. */
export interface Relation {
  /** The id by which a resource, as the API shows it, names the other; null for none. */
  idOf(resource: never): string | null
  /** What the caller must hold to see any of them; null where `load` looks at each. */
  permission: Permission | null
  /** The others by their ids, as the API shows them. Those that are gone, or that the caller may not see, are left out. */
  load(ctx: Ctx, ids: readonly string[]): Promise<ReadonlyMap<string, object>>
  /** What of the other can be expanded in turn. */
  expands?: Relations
}

/** What of a resource can be expanded, by name; its shape has the same names in `expanded`. */
export type Relations = Readonly<Record<string, Relation>>

/**
 * A relation to what a listing lists.
 * @param view as the API shows a row to the caller; null for one they may not see
 */
export function relationTo<Row, From>(
  listing: Listing<Row>,
  given: {
    idOf(resource: From): string | null
    permission: Permission | null
    view(ctx: Ctx, row: Row): object | null | Promise<object>
    expands?: Relations
  },
): Relation {
  return {
    idOf: given.idOf as Relation['idOf'],
    permission: given.permission,
    ...(given.expands && { expands: given.expands }),
    async load(ctx, ids) {
      const rows = await rowsById(ctx, listing, ids)
      const views = await Promise.all(rows.map(async row => [String(listing.idOf(row)), await given.view(ctx, row)] as const))
      return new Map(views.filter((one): one is [string, object] => one[1] !== null))
    },
  }
}

/** Rows of a listing by their ids, in one query: those of the workspace that the caller reaches. */
export async function rowsById<Row>(ctx: Ctx, listing: Listing<Row>, ids: readonly string[]): Promise<Row[]> {
  if (ids.length === 0) return []
  return (await ctx.hub.read
    .select()
    .from(listing.table)
    .where(
      and(
        inArray(listing.id, [...ids]),
        listing.owner ? eq(listing.owner, ctx.workspaceId) : undefined,
        reachable(ctx, listing.narrowedBy ?? listing.id),
      ),
    )) as Row[]
}
