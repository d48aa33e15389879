import { sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { forIds } from './id-list'
import { prepared } from './prepared'
import type { Reader } from './transaction'

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
  const rows = await forIds([...ids], (size, list, values) =>
    prepared<(Row & { id: string })[]>(
      read,
      `by-id|${name}|${size}`,
      handle =>
        handle
          .select()
          .from(table)
          .where(sql`${id} in ${list}`) as never,
    ).execute(values),
  )
  return new Map(rows.map(row => [row.id, row]))
}
