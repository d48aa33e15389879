import { inArray, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Ctx } from './ctx'

// A token may be narrowed to some resources. The door turns it away from paths of others and from making new ones, and lists leave
// out what it does not reach. What is left for a verb are things that belong to a resource and have ids of their own.

/** Whether the caller reaches a resource of the workspace. */
export const reaches = (ctx: Ctx, id: string | null): boolean =>
  ctx.resourceIds === null || (id !== null && ctx.resourceIds.has(id))

/** The condition that a row belongs to a resource which the caller reaches; undefined where that is all. */
export const reachable = (ctx: Ctx, column: SQLiteColumn): SQL | undefined =>
  ctx.resourceIds === null ? undefined : inArray(column, [...ctx.resourceIds])
