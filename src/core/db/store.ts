import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { SQL } from 'bun'
import { drizzle as drizzleSqlite } from 'drizzle-orm/bun-sqlite'
import { drizzle as drizzlePostgres } from 'drizzle-orm/bun-sql'
import { isSerialisationFailure, isStorageFull, withoutValues } from './errors'
import { GroupCommit, type Writer } from './group-commit'
import { migratePostgres, migrateSqlite } from './migrate'
import { insideTransaction, NestedTransaction, once, type Reader, type Transact, type Tx } from './transaction'

/** An open database. Writing needs `transact`, which only the door may use (test/rules/imports.test.ts holds that). */
export interface Store {
  read: Reader
  transact: Transact
  /** PostgreSQL only: hears what other hubs announce on a channel. On SQLite there is no other hub. */
  listen(channel: string, heard: (payload: string) => void): Promise<void>
  /** PostgreSQL only: announces to every hub that listens. Lost when nobody listens, so it may only be a hint. */
  announce(channel: string, payload: string): Promise<void>
  /** Whether a write found the disk of the database full within the last seconds. */
  isFull(): boolean
  close(): Promise<void>
}

/**
 * Opens the SQLite file, made if missing, and brings its tables up to date.
 * @param synchronous `OFF`: what is committed may be lost with the machine, and nobody would mind
 */
export async function openSqlite(file: string, synchronous: Synchronous = 'FULL'): Promise<Store> {
  mkdirSync(dirname(file), { recursive: true })
  const first = sqliteConnection(file, 'write')
  migrateSqlite(first)
  first.close()
  const reader = sqliteConnection(file, 'read')
  const group = new GroupCommit(() => sqliteWriter(file, synchronous))
  return {
    read: drizzleSqlite(reader) as unknown as Reader,
    ...noticingFull(fn => (insideTransaction() ? Promise.reject(new NestedTransaction()) : group.run(fn))),
    listen: async () => {},
    announce: async () => {},
    async close() {
      reader.close()
      group.close()
    },
  }
}

/** Opens a PostgreSQL database and brings its tables up to date; several processes may do so at once. */
export async function openPostgres(url: string, connections = 10): Promise<Store> {
  const sql = new SQL(url, { max: connections })
  await migratePostgres(sql)
  const db = discreet(drizzlePostgres(sql))
  const begin = db.transaction.bind(db) as unknown as Transact
  return {
    read: db as unknown as Reader,
    ...noticingFull(fn => once(() => retried(() => begin(tx => fn(discreet(tx)))))),
    async listen(channel, heard) {
      await sql.listen(channel, heard)
    },
    async announce(channel, payload) {
      await sql`select pg_notify(${channel}, ${payload})`
    },
    close: () => sql.close({ timeout: 5 }),
  }
}

// A hub writes once a second at least. What only reads succeeds on a full disk too, so a success tells nothing.
const fullForMs = 3000

function noticingFull(transact: Transact): Pick<Store, 'transact' | 'isFull'> {
  let fullAt = Number.NEGATIVE_INFINITY
  return {
    isFull: () => performance.now() - fullAt < fullForMs,
    async transact(fn) {
      try {
        return await transact(fn)
      } catch (error) {
        if (isStorageFull(error)) fullAt = performance.now()
        throw error
      }
    },
  }
}

/** As SQLite has it: whether a commit waits for the disk. */
export type Synchronous = 'FULL' | 'OFF'

/** A connection that writes to the SQLite file, and drizzle's handle on it. */
export function sqliteWriter(file: string, synchronous: Synchronous = 'FULL'): Writer {
  const db = sqliteConnection(file, 'write', synchronous)
  return { db, tx: drizzleSqlite(db) as unknown as Tx }
}

function sqliteConnection(file: string, use: 'read' | 'write', synchronous: Synchronous = 'FULL'): Database {
  const db = new Database(file, { create: use === 'write', strict: true })
  const pragmas = [
    'busy_timeout=5000',
    'journal_mode=WAL',
    `synchronous=${synchronous}`,
    'foreign_keys=ON',
    'cache_size=-8192',
    'mmap_size=0',
    'temp_store=MEMORY',
  ]
  for (const pragma of use === 'read' ? [...pragmas, 'query_only=ON'] : pragmas) db.run(`PRAGMA ${pragma}`)
  return db
}

interface Session {
  prepareQuery(...args: unknown[]): { execute(...args: unknown[]): Promise<unknown> }
}

/** The handle, with every query's error told without the values that were sent. */
function discreet<H extends object>(handle: H): H {
  const { session } = handle as unknown as { session: Session }
  const prepareQuery = session.prepareQuery.bind(session)
  session.prepareQuery = (...args) => {
    const query = prepareQuery(...args)
    const execute = query.execute.bind(query)
    query.execute = async (...values) => {
      try {
        return await execute(...values)
      } catch (error) {
        throw withoutValues(error)
      }
    }
    return query
  }
  return handle
}

const mostTries = 8

/** Two transactions that met on the same rows: PostgreSQL undid one of them whole, so running it again is safe. */
async function retried<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (tries >= mostTries || !isSerialisationFailure(error)) throw withoutValues(error)
      await Bun.sleep(2 ** tries * 4 * Math.random())
    }
  }
}
