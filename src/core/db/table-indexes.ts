import { getTableColumns } from 'drizzle-orm'
import { getTableConfig as postgresConfig } from 'drizzle-orm/pg-core'
import { getTableConfig as sqliteConfig, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { either } from './dialect'

interface TableIndex {
  columns: readonly SQLiteColumn[]
  isUnique: boolean
}

const configOf = either(sqliteConfig, postgresConfig)
const known = new WeakMap<SQLiteTable, TableIndex[]>()

/** The indexes of a table, with its primary key, without those that contain only some rows. */
export function indexesOf(table: SQLiteTable): TableIndex[] {
  let indexes = known.get(table)
  if (!indexes) {
    const config = configOf(table)
    const columns = Object.values<SQLiteColumn>(getTableColumns(table))
    const named = (some: readonly unknown[]) =>
      some.flatMap(one => columns.filter(column => column.name === (one as { name?: string }).name))
    indexes = [
      ...columns.filter(column => column.primary).map(column => ({ columns: [column], isUnique: true })),
      ...config.primaryKeys.map(key => ({ columns: named(key.columns), isUnique: true })),
      ...config.indexes
        .filter(one => !one.config.where)
        .map(one => ({ columns: named(one.config.columns), isUnique: one.config.unique })),
    ]
    known.set(table, indexes)
  }
  return indexes
}
