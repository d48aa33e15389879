import { and, eq, getTableColumns, getTableName, sql, type Column, type SQL } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { chunksOf } from './chunks'
import { parameter } from './insert-rows'
import { prepared } from './prepared'
import type { Tx } from './transaction'

type TableWithId = SQLiteTable & { id: Column }

/** Which columns of rows with different values to update. */
interface Update<Name extends string> {
  /** Unique for the table. */
  name: string
  /** The columns to set. */
  set: readonly Name[]
  /** Rows are only updated if these columns still have the given values. */
  where?: readonly Name[]
  /** Rows are only updated if this holds as well. */
  and?: SQL
}

/**
 * Updates any number of rows to values of their own, a batch per statement, with statements that are built only once.
 * @param rows their ids, and the values of the columns in `set` and `where`
 * @returns the ids of the updated rows, in any order
 */
export async function updateRows<T extends TableWithId, Name extends keyof T['$inferInsert'] & string>(
  tx: Tx,
  table: T,
  update: Update<Name>,
  rows: readonly ({ id: string } & Pick<T['$inferInsert'], Name>)[],
): Promise<Set<string>> {
  const all = getTableColumns(table) as Record<string, Column>
  const names = ['id', ...new Set([...update.set, ...(update.where ?? [])])]
  const updated = new Set<string>()
  for (const chunk of chunksOf(rows)) {
    const statement = prepared<{ id: string }[], Tx>(
      tx,
      `update|${getTableName(table)}|${update.name}|${chunk.length}`,
      handle => {
        let index = 0
        // PostgreSQL treats untyped parameters in a VALUES list as text.
        const value = (name: string) => sql`cast(${parameter(String(index++), all[name]!)} as ${typeOf(all[name]!)})`
        const tuples = chunk.map(() => sql`(${sql.join(names.map(value), sql`, `)})`)
        // Both engines name the columns of a VALUES list column1, column2, …
        const written = (name: string) => sql.raw(`written.column${names.indexOf(name) + 1}`)
        return handle
          .update(table)
          .set(Object.fromEntries(update.set.map(name => [name, sql`${written(name)}`])) as never)
          .from(sql`(values ${sql.join(tuples, sql`, `)}) as written` as never)
          .where(and(eq(table.id, written('id')), ...(update.where ?? []).map(name => eq(all[name]!, written(name))), update.and))
          .returning({ id: table.id as never }) as never
      },
    )
    const values = chunk.flatMap(row => names.map(name => (row as Record<string, unknown>)[name] ?? null))
    for (const { id } of await statement.execute(values as never)) updated.add(id)
  }
  return updated
}

/** The type to cast a parameter to; collations don't belong there. */
const typeOf = (column: Column): SQL => sql.raw(column.getSQLType().replace(/ collate .*/, ''))
