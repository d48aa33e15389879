import { and, eq, inArray } from 'drizzle-orm'
import type { Ctx } from './ctx'
import type { Listing } from './listing'
import { accessCondition } from './resource-access'
import type { Permission } from './permissions'

/** How to load a related resource for `expand`. */
export interface Relation {
  /** Returns the id of the related resource, or null if there is none; a list of ids for a relation to several resources. */
  idOf(resource: never): string | null | readonly string[]
  /** The permission required for the related resources; null if `load` checks each of them. */
  permission: Permission | null
  /** Loads the related resources by id. Omits those that were deleted or that the caller can't access. */
  load(ctx: Ctx, ids: readonly string[]): Promise<ReadonlyMap<string, object>>
  /** Nested relations of the related resource. */
  expands?: Relations
}

/** Relations of a resource, by their name in `expand` and `expanded`. */
export type Relations = Readonly<Record<string, Relation>>

/**
 * A relation to the resources of a listing.
 * @param definition `view` returns null for rows the caller can't access
 */
export function relationTo<Row, From>(
  listing: Listing<Row>,
  definition: {
    idOf(resource: From): string | null
    permission: Permission | null
    view(ctx: Ctx, row: Row): object | null | Promise<object>
    expands?: Relations
  },
): Relation {
  return {
    idOf: definition.idOf as Relation['idOf'],
    permission: definition.permission,
    ...(definition.expands && { expands: definition.expands }),
    async load(ctx, ids) {
      const rows = await rowsById(ctx, listing, ids)
      const views = await Promise.all(
        rows.map(async row => [String(listing.idOf(row)), await definition.view(ctx, row)] as const),
      )
      return new Map(views.filter((one): one is [string, object] => one[1] !== null))
    },
  }
}

/** Loads rows of a listing by id in one query, limited to those the caller has access to. */
export async function rowsById<Row>(ctx: Ctx, listing: Listing<Row>, ids: readonly string[]): Promise<Row[]> {
  if (ids.length === 0) return []
  return (await ctx.hub.read
    .select()
    .from(listing.table)
    .where(
      and(
        inArray(listing.id, [...ids]),
        listing.owner ? eq(listing.owner, ctx.workspaceId) : undefined,
        accessCondition(ctx, listing.accessColumn ?? listing.id),
      ),
    )) as Row[]
}
