import { and, asc, eq, gt, inArray, isNotNull, sql } from 'drizzle-orm'
import { dataKeys } from '../../core/db/tables'
import type { Reader } from '../../core/db/transaction'
import { sealedColumns, type SealedColumn } from './sealed-columns'

/** A sealed value as it was read. */
export interface SealedValue {
  id: string
  workspaceId: string
  sealed: string
}

/** How many values a query reads, and a transaction writes. */
export const batchSize = 200

/** The sealed values of a column, in batches by row; of one workspace, or of all. Each batch is a query of its own. */
export async function* valuesOf(read: Reader, of: SealedColumn, workspaceId?: string): AsyncGenerator<SealedValue[]> {
  for (let after = ''; ;) {
    const rows = await read
      .select({ id: text(of.row), workspaceId: text(of.workspaceId), sealed: text(of.column) })
      .from(of.table)
      .where(
        and(gt(of.row, after), isNotNull(of.column), workspaceId === undefined ? undefined : eq(of.workspaceId, workspaceId)),
      )
      .orderBy(asc(of.row))
      .limit(batchSize)
    if (rows.length === 0) return
    yield rows
    after = rows.at(-1)!.id
  }
}

/** Id of the data key that a value was sealed under. */
export const keyIdOf = (sealed: string): string => sealed.split('.')[1] ?? ''

/** How many values are sealed under each data key, by its id. */
export async function countByKey(read: Reader): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const of of sealedColumns) {
    for await (const batch of valuesOf(read, of)) {
      for (const { sealed } of batch) counts.set(keyIdOf(sealed), (counts.get(keyIdOf(sealed)) ?? 0) + 1)
    }
  }
  return counts
}

/** Whether any value is sealed under this key of a workspace. */
export async function isUsed(read: Reader, key: { id: string; workspaceId: string }): Promise<boolean> {
  for (const of of sealedColumns) {
    const prefix = `bw1.${key.id}.`
    const [row] = await read
      .select({ id: text(of.row) })
      .from(of.table)
      .where(
        and(eq(of.workspaceId, key.workspaceId), sql`substr(${of.column}, 1, ${sql.raw(String(prefix.length))}) = ${prefix}`),
      )
      .limit(1)
    if (row) return true
  }
  return false
}

/** Data keys in batches by id, as `where` narrows them. */
export async function* dataKeysOf(
  read: Reader,
  workspaceIds?: readonly string[],
): AsyncGenerator<(typeof dataKeys.$inferSelect)[]> {
  for (let after = ''; ;) {
    const rows = await read
      .select()
      .from(dataKeys)
      .where(and(gt(dataKeys.id, after), workspaceIds && inArray(dataKeys.workspaceId, [...workspaceIds])))
      .orderBy(asc(dataKeys.id))
      .limit(batchSize)
    if (rows.length === 0) return
    yield rows
    after = rows.at(-1)!.id
  }
}

const text = (column: SealedColumn['column']) => sql<string>`${column}`
