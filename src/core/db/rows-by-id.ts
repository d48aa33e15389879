import { sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { prepared } from './prepared'
import { readRows } from './rows'
import type { Reader } from './transaction'

// Engines limit the number of values per statement.
const idsPerQuery = 1024

/**
 * Loads rows by id, for lists with related resources. Building such a query takes longer than loading a page, so queries are
 * cached for each power of two of ids.
 * @param name of the table
 */
export async function rowsById<Row>(
  read: Reader,
  name: string,
  table: SQLiteTable,
  id: SQLiteColumn,
  ids: ReadonlySet<string>,
): Promise<Map<string, Row>> {
  const found = new Map<string, Row>()
  const all = [...ids]
  for (let at = 0; at < all.length; at += idsPerQuery) {
    const some = all.slice(at, at + idsPerQuery)
    const count = 2 ** Math.ceil(Math.log2(some.length))
    const statement = prepared(read, `by-id|${name}|${count}`, handle =>
      handle
        .select()
        .from(table)
        .where(
          sql`${id} in (${sql.join(
            Array.from({ length: count }, (_, index) => sql`${sql.placeholder(`v${index}`)}`),
            sql`, `,
          )})`,
        ),
    )
    // Fill unused parameters with an id from the list.
    const values = Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`v${index}`, some[Math.min(index, some.length - 1)]]),
    )
    for (const row of await readRows<Row & { id: string }>(statement, table, values)) found.set(row.id, row)
  }
  return found
}
