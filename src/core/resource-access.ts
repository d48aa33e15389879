import { inArray, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Ctx } from './ctx'

// A token can be restricted to certain resources. The API server rejects paths of other resources and the creation of new ones,
// and lists are filtered. Operations only need to check objects that belong to a resource and have ids of their own.

/** Whether the caller has access to a resource of the workspace. */
export const canAccess = (ctx: Ctx, id: string | null): boolean =>
  ctx.resourceIds === null || (id !== null && ctx.resourceIds.has(id))

/** Condition for rows that belong to a resource the caller has access to; undefined if the caller has access to all. */
export const accessCondition = (ctx: Ctx, column: SQLiteColumn): SQL | undefined =>
  ctx.resourceIds === null ? undefined : inArray(column, [...ctx.resourceIds])
