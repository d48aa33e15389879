import { and, sql } from 'drizzle-orm'
import type { Ctx } from '../core/ctx'
import { forUpdate } from '../core/db/dialect'
import type { Tx } from '../core/db/transaction'
import { canAccess } from '../core/resource-access'
import { entryOf, type ResourceType } from '../registry'

/**
 * Whether the workspace has a resource that the caller has access to, and locks it until the transaction ends. For resources of features
 * that import the caller’s.
 */
export async function resourceExists(tx: Tx, ctx: Ctx, type: ResourceType, id: string): Promise<boolean> {
  if (!canAccess(ctx, id)) return false
  const { table, endedBy = [] } = entryOf(type)
  const conditions = [
    sql`${sql.identifier('workspace_id')} = ${ctx.workspaceId}`,
    sql`${sql.identifier('id')} = ${id}`,
    ...endedBy.map(column => sql`${sql.identifier(column)} is null`),
  ]
  const rows = await forUpdate(
    tx
      .select({ id: sql<string>`${sql.identifier('id')}` })
      // The table belongs to another feature.
      .from(sql`${sql.identifier(table!)}` as never)
      .where(and(...conditions)),
  )
  return rows.length > 0
}
