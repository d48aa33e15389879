import { getTableColumns, getTableName, Param, sql, type Column } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { prepared } from './prepared'
import type { Tx } from './transaction'

// SQLite takes 32,766 values a statement, PostgreSQL 65,535: no table has so many columns that this were too many.
const rowsAtOnce = 100

/**
 * Writes any number of rows. drizzle builds a statement from all of its values, which takes longer than to run it: by the hundred
 * rows come through one that is built once, and the rest as usual.
 */
export async function insertRows<T extends SQLiteTable>(tx: Tx, table: T, rows: readonly T['$inferInsert'][]): Promise<void> {
  const columns = Object.keys(getTableColumns(table))
  let at = 0
  for (; at + rowsAtOnce <= rows.length; at += rowsAtOnce) {
    // Named by their places: an array is made much faster than an object of two thousand names.
    const values: unknown[] = []
    for (const row of rows.slice(at, at + rowsAtOnce) as Record<string, unknown>[])
      for (const column of columns) values.push(row[column] ?? null)
    await hundredInto(tx, table).execute(values as never)
  }
  if (at < rows.length) await tx.insert(table).values(rows.slice(at) as T['$inferInsert'][])
}

const hundredInto = (tx: Tx, table: SQLiteTable) =>
  prepared<unknown, Tx>(tx, `insert-rows|${getTableName(table)}`, handle => {
    const columns = Object.entries<Column>(getTableColumns(table))
    let place = 0
    const value = (column: Column) => sql`${new Param(sql.placeholder(String(place++)), orNull(column))}`
    const row = () => Object.fromEntries(columns.map(([name, column]) => [name, value(column)]))
    return handle.insert(table).values(Array.from({ length: rowsAtOnce }, row) as never)
  })

/** As drizzle does with values that it knows: columns of JSON would keep the word. */
const orNull = (column: Column) => ({
  mapToDriverValue: (value: unknown): unknown => (value === null ? null : column.mapToDriverValue(value)),
})
