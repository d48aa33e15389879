import { and, desc, eq, type SQL } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { deleteRows } from '../../../core/db/delete-rows'
import type { Tx } from '../../../core/db/transaction'

type TimedTable = SQLiteTable & { id: SQLiteColumn; serverId: SQLiteColumn; at: SQLiteColumn }

/** As many as one report can add. */
const rowsPerBatch = 500

/** Deletes the oldest rows of a server that meet the condition if there are more than `limit`. Called after each addition. */
export async function keepNewest(tx: Tx, table: TimedTable, serverId: string, limit: number, condition?: SQL): Promise<void> {
  const old = await tx
    .select({ id: table.id })
    .from(table)
    .where(and(eq(table.serverId, serverId), condition))
    .orderBy(desc(table.at), desc(table.id))
    .limit(rowsPerBatch)
    .offset(limit)
  await deleteRows(
    tx,
    table,
    old.map(row => String(row.id)),
  )
}
