import { getTableColumns } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'

interface Statement {
  execute(values: Record<string, unknown>): Promise<unknown>
  values?(values: Record<string, unknown>): Promise<unknown[][]>
}
type Decoder = ((value: unknown) => unknown) | null

const readers = new WeakMap<SQLiteTable, { names: string[]; decoders: Decoder[] }>()

/**
 * Runs a prepared `select().from(table)` and gives its rows. drizzle walks every cell of a row through its general mapper, which on
 * a page of a hundred rows costs as much as the query; where the driver gives plain values (SQLite), they are decoded by column here.
 */
export async function readRows<Row>(statement: Statement, table: SQLiteTable, values: Record<string, unknown>): Promise<Row[]> {
  if (!statement.values) return (await statement.execute(values)) as Row[]
  const { names, decoders } = readerOf(table)
  return (await statement.values(values)).map(cells => {
    const row: Record<string, unknown> = {}
    for (let place = 0; place < names.length; place++) {
      const cell = cells[place]
      const decode = decoders[place]
      row[names[place]!] = decode && cell !== null ? decode(cell) : cell
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
