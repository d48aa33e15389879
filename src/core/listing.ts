import type { TSchema } from '@sinclair/typebox'
import type { SQL } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'

/** A filter parameter: its schema and its condition. `bind` binds a value as a parameter of the prepared query. */
export interface Filter {
  schema: TSchema
  where(value: unknown, bind: (value: unknown) => SQL, now: number): SQL
  /** Identifies the SQL text of the condition if it depends on the value; not needed for enums. */
  variant?(value: unknown): string
  /** Which rows it finds, so that an index can be used. If it is missing, rows are checked one by one, up to 10,000. */
  finds?(value: unknown): Found | undefined
}

/**
 * The rows with one of the values in a column, or those with a range of values; `few` if the condition finds at most a few hundred rows
 * by itself, and `scanned` if it belongs to the index of `through`.
 */
export type Found = { equal: SQLiteColumn; values: readonly unknown[] } | { range: SQLiteColumn } | 'few' | 'scanned'

/** Defines how a resource is listed: rows, filters and sort orders. */
export interface Listing<Row> {
  /** Unique name, part of the names of its prepared queries. */
  name: string
  table: SQLiteTable & Record<string, SQLiteColumn | unknown>
  /** Another table with one row for each row of `table`, whose index is scanned instead; `on` joins the two. */
  through?: { table: SQLiteTable; on: SQL }
  /** The columns that are read, in addition to those of the sort order; all by default. */
  columns?: Record<string, SQLiteColumn>
  /** Unique for each owner; the default sort order. */
  id: SQLiteColumn
  idOf(row: Row): string | number
  /** A column in whose order `id` sorts, if not in the order of the ids. */
  order?: { column: SQLiteColumn; read(row: Row): string | number }
  /** The column with the workspace or the parent resource. Null lists all rows. */
  owner: SQLiteColumn | null
  /** Additional condition on all rows. */
  condition?: SQL | undefined
  /** The column with the resource that decides whether a token restricted to resources sees the row; defaults to the row's id. */
  accessColumn?: SQLiteColumn
  filters: Record<string, Filter>
  /** Sort orders by name, in addition to `id`. Their columns must not be nullable. */
  sorts: Record<string, { column: SQLiteColumn; read(row: Row): string | number }>
  /** For example `-id`: newest first. */
  defaultSort: string
  /** Maximum page size. */
  maxItems?: number
  /** An owner has at most a few thousand rows, because a limit or the retention keeps them few. So they are sorted without an index. */
  isSmall?: boolean
}

/** A column of the order of a page. */
export interface SortColumn<Row> {
  word: string
  column: SQLiteColumn
  descending: boolean
  read(row: Row): string | number
}
