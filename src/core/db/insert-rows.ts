import { Column, getTableColumns, getTableName, Param, sql } from 'drizzle-orm'
import type { SQLiteInsertBase, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { chunksOf } from './chunks'
import { prepared } from './prepared'
import type { Tx } from './transaction'

// Drizzle builds a statement from all of its values, which takes longer than running it. So the statements here are built only
// once, with placeholders.

type Insert = SQLiteInsertBase<SQLiteTable, 'async', unknown>

/** What to do with rows that exist already. */
export interface OnConflict {
  /** Unique for the table. */
  name: string
  apply(insert: Insert): unknown
}

/** Leaves rows that exist already as they are. */
export const skipExisting: OnConflict = { name: 'skip', apply: insert => insert.onConflictDoNothing() }

/** Inserts any number of rows, a batch per statement. */
export async function insertRows<T extends SQLiteTable>(
  tx: Tx,
  table: T,
  rows: readonly T['$inferInsert'][],
  onConflict?: OnConflict,
): Promise<void> {
  for (const chunk of chunksOf(rows)) await insertOf(tx, table, chunk.length, onConflict, false).execute(valuesOf(table, chunk))
}

/** Like {@link insertRows}. @returns the inserted or updated rows as stored, in any order */
export async function insertRowsReturning<T extends SQLiteTable>(
  tx: Tx,
  table: T,
  rows: readonly T['$inferInsert'][],
  onConflict?: OnConflict,
): Promise<T['$inferSelect'][]> {
  const stored: T['$inferSelect'][] = []
  for (const chunk of chunksOf(rows))
    stored.push(...((await insertOf(tx, table, chunk.length, onConflict, true).execute(valuesOf(table, chunk))) as never[]))
  return stored
}

/** Inserts a row. @returns the row as stored */
export async function insertReturning<T extends SQLiteTable>(
  tx: Tx,
  table: T,
  row: T['$inferInsert'],
): Promise<T['$inferSelect']> {
  const [saved] = await insertRowsReturning(tx, table, [row])
  return saved!
}

function insertOf(tx: Tx, table: SQLiteTable, count: number, onConflict: OnConflict | undefined, returning: boolean) {
  const name = `insert|${getTableName(table)}|${count}|${onConflict?.name ?? ''}|${returning}`
  return prepared<unknown[], Tx>(tx, name, handle => {
    const insert = handle.insert(table).values(placeholders(table, count) as never) as unknown as Insert
    onConflict?.apply(insert)
    return (returning ? insert.returning() : insert) as never
  })
}

const columnsByTable = new WeakMap<SQLiteTable, [string, Column][]>()

function columnsOf(table: SQLiteTable): [string, Column][] {
  let columns = columnsByTable.get(table)
  if (!columns) columnsByTable.set(table, (columns = Object.entries<Column>(getTableColumns(table))))
  return columns
}

/**
 * The values of rows in the order of the placeholders, with the defaults of their table. Drizzle’s types don't know placeholders
 * named by index, but building an array is much faster than an object with 2,000 names.
 */
function valuesOf(table: SQLiteTable, rows: readonly object[]): Record<string, unknown> {
  const values: unknown[] = []
  for (const row of rows as readonly Record<string, unknown>[])
    for (const [name, column] of columnsOf(table)) values.push(row[name] ?? column.default ?? null)
  return values as never
}

/** Rows of placeholders for all columns, numbered. */
function placeholders(table: SQLiteTable, count: number): object[] {
  let index = 0
  const value = (column: Column) => sql`${parameter(String(index++), column)}`
  return Array.from({ length: count }, () => Object.fromEntries(columnsOf(table).map(([name, column]) => [name, value(column)])))
}

/** A placeholder for a value of a column. */
export const parameter = (name: string, column: Column): Param =>
  new Param(sql.placeholder(name), column.mapToDriverValue === Column.prototype.mapToDriverValue ? column : orNull(column))

/** Maps null to SQL NULL, as drizzle does for literal values; JSON columns would otherwise store the text null. */
const orNull = (column: Column) => ({
  mapToDriverValue: (value: unknown): unknown => (value === null ? null : column.mapToDriverValue(value)),
})
