import type { Database, Statement as NativeStatement } from 'bun:sqlite'
import { sql, type SQL } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { isTurnOver, yieldToEventLoop } from '../time-slices'
import { loopBlocks } from '../loop-blocks'
import { withoutValues } from './errors'
import type { Outage } from './outage'
import { runsPrepared } from './prepared'
import { decoderOf, describe, type Fields } from './statements'
import type { Tx } from './transaction'

type Args = [query: { sql: string; params: unknown[] }, fields: Fields | undefined, method: unknown, ...rest: unknown[]]

// Statements with literal values have different texts and would fill the memory.
const maxStatements = 1000

/**
 * Returns the drizzle handle of a connection. Its statements yield to the event loop when they have blocked it for a while, so that
 * other work continues during a long transaction, as it does on PostgreSQL. `statements` returns how many have run.
 * @param use with `write`, statements outside of a transaction fail, for example after SQLite rolled it back: they would be committed
 * at once
 */
export function sqliteHandle(db: Database, use: 'read' | 'write'): { handle: Tx; statements(): number } {
  let count = 0
  const inTurns = <T>(result: T): T | Promise<T> => {
    count++
    return isTurnOver() ? yieldToEventLoop(use === 'write').then(() => result) : result
  }
  const check = () => {
    loopBlocks.expectWork()
    if (use === 'write' && !db.inTransaction) throw new Error('The transaction was rolled back.')
  }
  const cache = new Map<string, NativeStatement>()
  const nativeOf = (sql: string): NativeStatement => {
    let native = cache.get(sql)
    if (!native) {
      if (cache.size >= maxStatements) cache.delete(cache.keys().next().value!)
      cache.set(sql, (native = db.prepare(sql)))
    }
    return native
  }
  const handle = drizzle({ client: db })
  const { session, dialect } = handle as unknown as { session: SqliteSession; dialect: SqliteDialect }
  session.client = { prepare: nativeOf }
  // If a parameter alone is the limit, SQLite plans the statement again each time it runs, for the value of the parameter
  // (sqlite3ExprIsInteger).
  const buildLimit = dialect.buildLimit.bind(dialect)
  dialect.buildLimit = limit => {
    const built = buildLimit(limit)
    return built && sql`${built} + 0`
  }
  const prepareQuery = session.prepareQuery.bind(session)
  session.prepareQuery = (query, fields, method, isArray, mapper) => {
    const prepared = prepareQuery(
      query,
      fields,
      method,
      isArray,
      mapper ?? (method === 'all' && fields && decoderOf(fields)) ?? undefined,
    )
    describe(prepared, query, fields)
    for (const name of ['run', 'all', 'get'] as const) {
      const execute = prepared[name].bind(prepared)
      prepared[name] = values => {
        check()
        return inTurns(execute(values))
      }
    }
    return prepared
  }
  runsPrepared(
    handle,
    ({ sql, bind, decode }, values) =>
      new Promise(resolve => {
        check()
        const native = nativeOf(sql)
        const params = bind(values) as never[]
        resolve(inTurns(decode ? decode(native.values(...params) as unknown[][]) : native.run(...params)))
      }),
  )
  return { handle: handle as unknown as Tx, statements: () => count }
}

/** The session of a drizzle handle. Callers await what the methods of its queries return. */
interface SqliteSession {
  client: { prepare(sql: string): NativeStatement }
  prepareQuery(...args: Args): Record<'run' | 'all' | 'get', (values?: unknown) => unknown>
}

interface SqliteDialect {
  buildLimit(limit: unknown): SQL | undefined
}

type PostgresQuery = Promise<unknown> & { values(): Promise<unknown[][]> }

interface PostgresSession {
  client: { unsafe(sql: string, values: unknown[]): PostgresQuery }
  prepareQuery(...args: Args): { execute(...args: unknown[]): Promise<unknown> }
}

/** Makes query errors of a handle free of values, and notices outages. */
export function postgresHandle<H extends object>(handle: H, outage: Outage): H {
  const { session } = handle as unknown as { session: PostgresSession }
  const safely = <T>(run: () => Promise<T>): Promise<T> =>
    outage.watch(async () => {
      try {
        return await run()
      } catch (error) {
        throw withoutValues(error)
      }
    })
  const prepareQuery = session.prepareQuery.bind(session)
  session.prepareQuery = (query, fields, name, isArray, mapper, ...rest) => {
    const prepared = prepareQuery(query, fields, name, isArray, mapper ?? (fields && decoderOf(fields)) ?? undefined, ...rest)
    describe(prepared, query, fields)
    const execute = prepared.execute.bind(prepared)
    prepared.execute = (...values) => safely(() => execute(...values))
    return prepared
  }
  // Without async functions, because each of their promises costs as much as a tenth of a query.
  runsPrepared(handle, ({ sql, bind, decode }, values) => {
    let query: PostgresQuery
    try {
      query = session.client.unsafe(sql, bind(values))
    } catch (error) {
      return Promise.reject(error)
    }
    outage.started()
    const failed = (error: unknown) => {
      outage.answered(error)
      throw withoutValues(error)
    }
    if (!decode)
      return query.then(result => {
        outage.answered()
        return result
      }, failed)
    return query.values().then(rows => {
      outage.answered()
      return decode(rows)
    }, failed)
  })
  return handle
}
