import { getTableColumns, getTableName, Param, sql, type Column } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { prepared } from './prepared'
import type { Tx } from './transaction'

// SQLite allows 32,766 values per statement, PostgreSQL 65,535: enough for 100 rows of any table.
const rowsPerStatement = 100

/**
 * Inserts any number of rows. Drizzle builds a statement from all of its values, which takes longer than running it. So rows are
 * inserted in batches of 100 with a statement that is built only once, and the rest as usual.
 */
export async function insertRows<T extends SQLiteTable>(tx: Tx, table: T, rows: readonly T['$inferInsert'][]): Promise<void> {
  let at = 0
  for (; at + rowsPerStatement <= rows.length; at += rowsPerStatement) {
    // Parameters are named by index, because building an array is much faster than an object with 2,000 names.
    const values = rows.slice(at, at + rowsPerStatement).flatMap(row => valuesOf(table, row))
    await insertBatch(tx, table).execute(values as never)
  }
  if (at < rows.length) await tx.insert(table).values(rows.slice(at) as T['$inferInsert'][])
}

/** Inserts a row with a statement that is built only once. @returns the row as stored */
export async function insertReturning<T extends SQLiteTable>(
  tx: Tx,
  table: T,
  row: T['$inferInsert'],
): Promise<T['$inferSelect']> {
  const insert = prepared<unknown[], Tx>(tx, `insert-row|${getTableName(table)}`, handle =>
    handle
      .insert(table as SQLiteTable)
      .values(placeholders(table, 1) as never)
      .returning(),
  )
  const [saved] = await insert.execute(valuesOf(table, row) as never)
  return saved as T['$inferSelect']
}

/** The values of a row in the order of the placeholders, with the defaults of its table. */
const valuesOf = (table: SQLiteTable, row: object): unknown[] =>
  Object.entries<Column>(getTableColumns(table)).map(
    ([name, column]) => (row as Record<string, unknown>)[name] ?? column.default ?? null,
  )

// Drizzle’s types know placeholders neither as values of rows nor named by index: hence the casts to never in this file.
const insertBatch = (tx: Tx, table: SQLiteTable) =>
  prepared<unknown, Tx>(tx, `insert-rows|${getTableName(table)}`, handle =>
    handle.insert(table).values(placeholders(table, rowsPerStatement) as never),
  )

/** Rows of placeholders for all columns, numbered. */
function placeholders(table: SQLiteTable, count: number): object[] {
  const columns = Object.entries<Column>(getTableColumns(table))
  let index = 0
  const value = (column: Column) => sql`${new Param(sql.placeholder(String(index++)), orNull(column))}`
  return Array.from({ length: count }, () => Object.fromEntries(columns.map(([name, column]) => [name, value(column)])))
}

/** Maps null to SQL NULL, as drizzle does for literal values; JSON columns would otherwise store the text null. */
const orNull = (column: Column) => ({
  mapToDriverValue: (value: unknown): unknown => (value === null ? null : column.mapToDriverValue(value)),
})
