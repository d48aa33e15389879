import { getTableColumns } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'

interface Statement {
  execute(values: Record<string, unknown>): Promise<unknown>
  values?(values: Record<string, unknown>): Promise<unknown[][]>
}
type Decoder = ((value: unknown) => unknown) | null

const readers = new WeakMap<SQLiteTable, { names: string[]; decoders: Decoder[] }>()

/**
 * Runs a prepared `select().from(table)`. Drizzle's generic mapper takes as long as the query itself for 100 rows, so plain
 * values of the driver (SQLite) are decoded by column here.
 */
export async function readRows<Row>(statement: Statement, table: SQLiteTable, values: Record<string, unknown>): Promise<Row[]> {
  if (!statement.values) return (await statement.execute(values)) as Row[]
  const { names, decoders } = readerOf(table)
  return (await statement.values(values)).map(cells => {
    const row: Record<string, unknown> = {}
    for (let index = 0; index < names.length; index++) {
      const cell = cells[index]
      const decode = decoders[index]
      row[names[index]!] = decode && cell !== null ? decode(cell) : cell
    }
    return row as Row
  })
}

function readerOf(table: SQLiteTable) {
  let reader = readers.get(table)
  if (!reader) {
    const columns = getTableColumns(table)
    const decoders = Object.values(columns).map((column): Decoder =>
      column.dataType === 'string' || column.dataType === 'number' ? null : value => column.mapFromDriverValue(value),
    )
    readers.set(table, (reader = { names: Object.keys(columns), decoders }))
  }
  return reader
}
