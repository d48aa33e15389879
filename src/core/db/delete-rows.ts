import { getTableName, sql, type Column } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { forIds } from './id-list'
import { prepared } from './prepared'
import type { Tx } from './transaction'

/** Deletes any number of rows by id, a batch per statement, with statements that are built only once. */
export async function deleteRows(tx: Tx, table: SQLiteTable & { id: Column }, ids: readonly string[]): Promise<void> {
  await forIds(ids, (size, list, values) =>
    prepared<{ id: string }[], Tx>(
      tx,
      `delete|${getTableName(table)}|${size}`,
      handle =>
        handle
          .delete(table)
          .where(sql`${table.id} in ${list}`)
          .returning({ id: table.id as never }) as never,
    ).execute(values),
  )
}
