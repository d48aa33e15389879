import { and, asc, eq, gt, inArray, isNotNull, sql } from 'drizzle-orm'
import { dataKeys } from '../../core/db/tables'
import type { Reader } from '../../core/db/transaction'
import { sealedColumns, type SealedColumn } from './sealed-columns'

/** A sealed value. */
export interface SealedValue {
  id: string
  workspaceId: string
  sealed: string
}

/** Number of values per query and per transaction. */
export const batchSize = 200

/** Reads the sealed values of a column, of one workspace or all, in batches ordered by row. Each batch is a separate query. */
export async function* valuesOf(read: Reader, column: SealedColumn, workspaceId?: string): AsyncGenerator<SealedValue[]> {
  for (let after = ''; ;) {
    const rows = await read
      .select({ id: text(column.row), workspaceId: text(column.workspaceId), sealed: text(column.column) })
      .from(column.table)
      .where(
        and(
          gt(column.row, after),
          isNotNull(column.column),
          workspaceId === undefined ? undefined : eq(column.workspaceId, workspaceId),
        ),
      )
      .orderBy(asc(column.row))
      .limit(batchSize)
    if (rows.length === 0) return
    yield rows
    after = rows.at(-1)!.id
  }
}

/** Id of the data key of a sealed value. */
export const keyIdOf = (sealed: string): string => sealed.split('.')[1] ?? ''

/** Counts the sealed values by data key id. */
export async function countByKey(read: Reader): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const column of sealedColumns) {
    for await (const batch of valuesOf(read, column)) {
      for (const { sealed } of batch) counts.set(keyIdOf(sealed), (counts.get(keyIdOf(sealed)) ?? 0) + 1)
    }
  }
  return counts
}

/** Whether any value of the workspace is sealed with this key. */
export async function isUsed(read: Reader, key: { id: string; workspaceId: string }): Promise<boolean> {
  for (const column of sealedColumns) {
    const prefix = `bw1.${key.id}.`
    const [row] = await read
      .select({ id: text(column.row) })
      .from(column.table)
      .where(
        and(
          eq(column.workspaceId, key.workspaceId),
          sql`substr(${column.column}, 1, ${sql.raw(String(prefix.length))}) = ${prefix}`,
        ),
      )
      .limit(1)
    if (row) return true
  }
  return false
}

/** Reads data keys, of some workspaces or all, in batches ordered by id. */
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
