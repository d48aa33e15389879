import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { SQL } from 'bun'
import { drizzle as drizzlePostgres } from 'drizzle-orm/bun-sql'
import type { Log } from '../log'
import { isSerializationFailure, isStorageFull, withoutValues } from './errors'
import { GroupCommit, type Writer } from './group-commit'
import { migratePostgres, migrateSqlite } from './migrate'
import { Outage } from './outage'
import { postgresHandle, sqliteHandle } from './handles'
import { PostgresPool } from './postgres-pool'
import { insideTransaction, NestedTransaction, asTransaction, type Reader, type Transact } from './transaction'

/** An open database. Only core/change.ts may call `transact` (enforced by test/rules/imports.test.ts). */
export interface Store {
  read: Reader
  transact: Transact
  /**
   * Changes with each commit, of this process or another one, except routine ones. Polls can be skipped while it is the same. Null if
   * unknown, as always on PostgreSQL, where other hubs may commit at any time.
   */
  version(): string | null
  /** PostgreSQL only: receives notifications of other hubs on a channel. SQLite has only one hub. */
  listen(channel: string, onMessage: (payload: string) => void): Promise<void>
  /** PostgreSQL only: notifies all listening hubs. Delivery is not guaranteed. */
  notify(channel: string, payload: string): Promise<void>
  /** Whether a write failed within the last seconds because the disk of the database is full. */
  isFull(): boolean
  close(): Promise<void>
}

/**
 * Opens the SQLite file, creating it if necessary, and applies migrations.
 * @param synchronous `OFF` if losing commits in a power failure is acceptable
 */
export async function openSqlite(file: string, synchronous: Synchronous = 'FULL'): Promise<Store> {
  mkdirSync(dirname(file), { recursive: true })
  const first = sqliteConnection(file, 'write')
  migrateSqlite(first)
  deleteStatistics(first)
  first.close()
  const reader = sqliteConnection(file, 'read')
  const group = new GroupCommit(() => sqliteWriter(file, synchronous))
  let transactions = 0
  return {
    read: sqliteHandle(reader, 'read').handle,
    ...detectingFullDisk(async (fn, isRoutine = false) => {
      if (insideTransaction()) throw new NestedTransaction()
      try {
        return await group.run(fn)
      } finally {
        if (!isRoutine) transactions++
      }
    }),
    version() {
      try {
        return `${transactions} ${group.versionOfOthers()}`
      } catch {
        return null
      }
    },
    listen: async () => {},
    notify: async () => {},
    async close() {
      await group.close()
      reader.close()
    },
  }
}

/**
 * Deletes the statistics of ANALYZE, without which SQLite uses indexes whenever it can. It never updates statistics by itself, so
 * those of a table that was almost empty at the time make it read the whole table once that has grown. Earlier versions collected
 * them when a hub stopped.
 */
function deleteStatistics(db: Database): void {
  if (db.query("select 1 from sqlite_master where name = 'sqlite_stat1'").get()) db.run('delete from sqlite_stat1')
}

/**
 * Opens a PostgreSQL database and applies migrations. Several processes can do so at the same time.
 * @param log for outages
 */
export async function openPostgres(url: string, connections = 10, log: Log | null = null): Promise<Store> {
  const outage = new Outage(log, () => pool.listenAgain())
  const pool = new PostgresPool(url, connections, outage)
  try {
    await migratePostgres(pool)
  } catch (error) {
    await pool.close()
    throw withoutValues(error)
  }
  const db = postgresHandle(drizzlePostgres({ client: pool as unknown as SQL }), outage)
  const begin = db.transaction.bind(db) as unknown as Transact
  const transact: Transact = fn => asTransaction(() => withRetries(() => begin(tx => fn(postgresHandle(tx, outage)))))
  return {
    read: db as unknown as Reader,
    ...detectingFullDisk(fn => outage.watch(() => transact(fn))),
    version: () => null,
    listen: (channel, onMessage) => pool.listen(channel, onMessage),
    async notify(channel, payload) {
      await outage.watch(() => pool.unsafe('select pg_notify($1, $2)', [channel, payload]))
    },
    close: () => pool.close(),
  }
}

// Hubs write at least once a second. A success doesn't mean there is space: transactions that only read also succeed on a full
// disk.
const fullForMs = 3000

function detectingFullDisk(transact: Transact): Pick<Store, 'transact' | 'isFull'> {
  let fullAt = Number.NEGATIVE_INFINITY
  return {
    isFull: () => performance.now() - fullAt < fullForMs,
    async transact(fn, isRoutine) {
      try {
        return await transact(fn, isRoutine)
      } catch (error) {
        if (isStorageFull(error)) fullAt = performance.now()
        throw error
      }
    },
  }
}

/** PRAGMA synchronous of SQLite: whether a commit waits for the disk. */
export type Synchronous = 'FULL' | 'OFF'

/** Opens a writable connection to the SQLite file, with its drizzle handle. */
export function sqliteWriter(file: string, synchronous: Synchronous = 'FULL'): Writer {
  const db = sqliteConnection(file, 'write', synchronous)
  const { handle, statements } = sqliteHandle(db, 'write')
  return { db, tx: handle, statements }
}

function sqliteConnection(file: string, use: 'read' | 'write', synchronous: Synchronous = 'FULL'): Database {
  const db = new Database(file, { create: use === 'write', strict: true })
  const pragmas = [
    'busy_timeout=5000',
    'journal_mode=WAL',
    `synchronous=${synchronous}`,
    'foreign_keys=ON',
    // In KiB, of each of the two connections. The kernel caches the files too, so a miss costs a few microseconds.
    'cache_size=-4096',
    'mmap_size=0',
    'temp_store=MEMORY',
  ]
  for (const pragma of use === 'read' ? [...pragmas, 'query_only=ON'] : pragmas) db.run(`PRAGMA ${pragma}`)
  return db
}

const maxAttempts = 8

/** Retries serialization failures and deadlocks: PostgreSQL has rolled back the whole transaction, so this is safe. */
async function withRetries<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt()
    } catch (error) {
      if (attempts >= maxAttempts || !isSerializationFailure(error)) throw withoutValues(error)
      await Bun.sleep(2 ** attempts * 4 * Math.random())
    }
  }
}
