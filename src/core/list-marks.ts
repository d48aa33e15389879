import { eq, sql, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Listing } from './listing'

/** A table with marks of rows, such as their tags. The primary key is `row` and `mark`; indexes on an owner, `mark`, and `row` find rows. */
interface Marks {
  /** The ID of the row that has the mark. */
  row: SQLiteColumn
  mark: SQLiteColumn
}

/** Condition: the row has the mark. */
export const hasMark = ({ row, mark }: Marks, id: SQLiteColumn, value: SQL): SQL =>
  sql`exists (select 1 from ${row.table} as other
    where other.${sql.identifier(row.name)} = ${id} and other.${sql.identifier(mark.name)} = ${value})`

/**
 * A listing that scans marks, so that pages are fast even if few rows have the mark. One of its filters must find rows by a mark.
 * @param owner the column of the marks that corresponds to the owner of the listing
 * @param access the column of the marks for tokens that are restricted to resources
 */
export const listingByMark = <Row>(
  listing: Listing<Row>,
  row: SQLiteColumn,
  owner: SQLiteColumn,
  access: SQLiteColumn = row,
): Listing<Row> => ({
  ...listing,
  name: `${listing.name}-marked`,
  through: { table: row.table, on: eq(listing.id, row) },
  id: row,
  owner,
  accessColumn: access,
})
