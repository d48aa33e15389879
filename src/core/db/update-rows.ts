import { and, eq, getTableColumns, getTableName, sql, type Column, type SQL } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { chunksOf } from './chunks'
import { parameter } from './insert-rows'
import { prepared } from './prepared'
import type { Tx } from './transaction'

type TableWithId = SQLiteTable & { id: Column }

/** Which columns of rows with different values to update. */
interface Update<Set extends string, Where extends string> {
  /** Unique for the table. */
  name: string
  /** The columns to set. */
  set: readonly Set[]
  /** Rows are only updated if these columns still have the values of `before`. */
  where?: readonly Where[]
  /** Rows are only updated if this holds as well. */
  and?: SQL
}

type RowUpdate<Row, Set extends keyof Row, Where extends keyof Row> = { id: string } & Pick<Row, Set> &
  ([Where] extends [never] ? object : { before: Pick<Row, Where> })

/**
 * Updates any number of rows to values of their own, a batch per statement, with statements that are built only once.
 * @returns the ids of the updated rows, in any order
 */
export async function updateRows<
  T extends TableWithId,
  Set extends keyof T['$inferSelect'] & string,
  Where extends keyof T['$inferSelect'] & string = never,
>(
  tx: Tx,
  table: T,
  { name, set, where = [], and: more }: Update<Set, Where>,
  rows: readonly RowUpdate<T['$inferSelect'], Set, Where>[],
): Promise<globalThis.Set<string>> {
  const all = getTableColumns(table) as Record<string, Column>
  const columns = ['id', ...set, ...where].map(column => all[column]!)
  const updated = new globalThis.Set<string>()
  for (const chunk of chunksOf(rows)) {
    const statement = prepared<{ id: string }[], Tx>(tx, `update|${getTableName(table)}|${name}|${chunk.length}`, handle => {
      let index = 0
      // PostgreSQL treats untyped parameters in a VALUES list as text.
      const value = (column: Column) => sql`cast(${parameter(String(index++), column)} as ${typeOf(column)})`
      const tuples = chunk.map(() => columns.map(value))
      const [only] = tuples.length === 1 ? tuples : []
      // Both engines name the columns of a VALUES list column1, column2, …
      const written = only ?? columns.map((_, at) => sql.raw(`written.column${at + 1}`))
      const update = handle
        .update(table)
        .set(Object.fromEntries(set.map((column, at) => [column, sql`${written[at + 1]}`])) as never)
      const rows = tuples.map(tuple => sql`(${sql.join(tuple, sql`, `)})`)
      if (!only) update.from(sql`(values ${sql.join(rows, sql`, `)}) as written` as never)
      return update
        .where(
          and(eq(table.id, written[0]!), ...where.map((column, at) => eq(all[column]!, written[set.length + at + 1]!)), more),
        )
        .returning({ id: table.id as never }) as never
    })
    const values: unknown[] = []
    for (const row of chunk as readonly (Values & { before?: Values })[]) {
      values.push(row.id)
      for (const column of set) values.push(row[column] ?? null)
      for (const column of where) values.push(row.before![column])
    }
    for (const { id } of await statement.execute(values as never)) updated.add(id)
  }
  return updated
}

type Values = Record<string, unknown>

/** The type to cast a parameter to; collations don't belong there. */
const typeOf = (column: Column): SQL => sql.raw(column.getSQLType().replace(/ collate .*/, ''))
