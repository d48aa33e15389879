import * as Pg from 'drizzle-orm/pg-core'
import * as Sqlite from 'drizzle-orm/sqlite-core'
import { databaseUrl } from '../config'

/** Whether this process stores in PostgreSQL. Fixed when the process starts, since the tables are built from it. */
export const isPostgres = databaseUrl !== null

/** The SQLite builder or its PostgreSQL counterpart, typed as the former, so that one schema and one query text serve both. */
export const either = <T>(sqlite: T, postgres: unknown): T => (isPostgres ? postgres : sqlite) as T

export const table = either(Sqlite.sqliteTable, Pg.pgTable)
export const index = either(Sqlite.index, Pg.index)
export const uniqueIndex = either(Sqlite.uniqueIndex, Pg.uniqueIndex)
export const primaryKey = either(Sqlite.primaryKey, Pg.primaryKey)
/** A table under another name, for a query that looks at it twice. */
export const aliased = either(Sqlite.alias, Pg.alias)

/**
 * The query with its rows locked until the transaction ends, for a step that reads, decides and writes back. SQLite needs
 * nothing for it: its one writer sees no other's change meanwhile.
 * @param held what to do with rows another transaction holds: wait for them, or leave them out
 */
export function locking<Q>(query: Q, held: 'wait' | 'skip' = 'wait'): Q {
  if (!isPostgres) return query
  return (query as { for(strength: 'update', config: object): Q }).for('update', held === 'skip' ? { skipLocked: true } : {})
}

/** The query with its rows kept from being changed or deleted until the transaction ends; others may keep them so too. */
export function keeping<Q>(query: Q): Q {
  return isPostgres ? (query as { for(strength: 'share'): Q }).for('share') : query
}
