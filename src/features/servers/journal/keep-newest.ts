import { desc, eq, inArray } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Tx } from '../../../core/db/transaction'

type TimedTable = SQLiteTable & { id: SQLiteColumn; serverId: SQLiteColumn; at: SQLiteColumn }

/** As many as one report can add. */
const rowsPerBatch = 500

/** Deletes the oldest rows of a server if it has more than `limit`, as many as were added since the last time. */
export async function keepNewest(tx: Tx, table: TimedTable, serverId: string, limit: number): Promise<void> {
  const old = await tx
    .select({ id: table.id })
    .from(table)
    .where(eq(table.serverId, serverId))
    .orderBy(desc(table.at), desc(table.id))
    .limit(rowsPerBatch)
    .offset(limit)
  if (old.length > 0)
    await tx.delete(table).where(
      inArray(
        table.id,
        old.map(row => row.id),
      ),
    )
}
