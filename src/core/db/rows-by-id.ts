import { sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { prepared } from './prepared'
import { readRows } from './rows'
import type { Reader } from './transaction'

// An engine takes so many values in a statement.
const idsAtOnce = 1024

/**
 * The rows of a table with these ids, by their ids. For lists that show something of others with each row: built anew for each page
 * such a query costs more than the page itself, so there is one for each power of two.
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
  for (let at = 0; at < all.length; at += idsAtOnce) {
    const some = all.slice(at, at + idsAtOnce)
    const places = 2 ** Math.ceil(Math.log2(some.length))
    const statement = prepared(read, `by-id|${name}|${places}`, handle =>
      handle
        .select()
        .from(table)
        .where(
          sql`${id} in (${sql.join(
            Array.from({ length: places }, (_, place) => sql`${sql.placeholder(`v${place}`)}`),
            sql`, `,
          )})`,
        ),
    )
    // Places that are left over have an id that is there already.
    const values = Object.fromEntries(
      Array.from({ length: places }, (_, place) => [`v${place}`, some[Math.min(place, some.length - 1)]]),
    )
    for (const row of await readRows<Row & { id: string }>(statement, table, values)) found.set(row.id, row)
  }
  return found
}
