import * as Pg from 'drizzle-orm/pg-core'
import * as Sqlite from 'drizzle-orm/sqlite-core'
import { databaseUrl } from '../config'

/** Whether this process uses PostgreSQL. Fixed at process start, because the table definitions depend on it. */
export const isPostgres = databaseUrl !== null
/** Whether several hubs can use the database at the same time. */
export const allowsSeveralHubs = isPostgres

/** Returns the SQLite builder or its PostgreSQL counterpart, typed as the former, so that schema and queries work for both. */
export const either = <T>(sqlite: T, postgres: unknown): T => (isPostgres ? postgres : sqlite) as T

export const table = either(Sqlite.sqliteTable, Pg.pgTable)
export const index = either(Sqlite.index, Pg.index)
export const uniqueIndex = either(Sqlite.uniqueIndex, Pg.uniqueIndex)
export const primaryKey = either(Sqlite.primaryKey, Pg.primaryKey)
/** An alias of a table, for queries that use it twice. */
export const aliased = either(Sqlite.alias, Pg.alias)

/**
 * Locks the rows of a query until the transaction ends, for read-modify-write. Does nothing on SQLite, which has a single writer.
 * @param locked for rows locked by another transaction: wait for them or skip them
 */
export function forUpdate<Q>(query: Q, locked: 'wait' | 'skip' = 'wait'): Q {
  if (!isPostgres) return query
  return (query as { for(strength: 'update', config: object): Q }).for('update', locked === 'skip' ? { skipLocked: true } : {})
}

/** Locks the rows of a query against updates and deletion until the transaction ends. The lock is shared. */
export function forShare<Q>(query: Q): Q {
  return isPostgres ? (query as { for(strength: 'share'): Q }).for('share') : query
}

/**
 * Keeps the rows of a subquery in its order. PostgreSQL may join them in any other order, unless the outer query has the same order.
 * SQLite keeps them in order, and would read all of them to sort them again.
 */
export function inOrderOfSubquery<Q>(query: Q, order: readonly unknown[]): Q {
  return isPostgres ? (query as { orderBy(...order: readonly unknown[]): Q }).orderBy(...order) : query
}
