import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { SQL } from 'bun'
import { drizzle as drizzlePostgres } from 'drizzle-orm/bun-sql'
import type { Log } from '../log'
import type { Checkpoints } from './checkpoints'
import { isSerializationFailure, isStorageFull, withoutValues } from './errors'
import { GroupCommit, type Writer } from './group-commit'
import { LogFlush } from './log-flush'
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

/** How a SQLite file is used. */
interface SqliteOptions {
  /** Whether commits survive a power failure. Default: true. */
  isDurable?: boolean
  /** The thread that copies the write-ahead log. By default, commits do. */
  checkpoints?: Checkpoints | null
}

/**
 * Opens the SQLite file, creating it if necessary, and applies migrations. Transactions can be read before they are on disk, which
 * is when the promises of their callers resolve. If that fails, the process ends with an uncaught error.
 */
export async function openSqlite(file: string, { isDurable = true, checkpoints }: SqliteOptions = {}): Promise<Store> {
  mkdirSync(dirname(file), { recursive: true })
  const first = sqliteConnection(file, 'write', 'FULL')
  // After a failed flush, what was committed may be in the log, but not on disk. Copy it to the file, or don’t start.
  first.run('PRAGMA wal_checkpoint(PASSIVE)')
  migrateSqlite(first)
  deleteStatistics(first)
  first.close()
  // Opened first, so that the write-ahead log is not deleted when a writer is closed.
  const reader = sqliteConnection(file, 'read')
  const log = new LogFlush(file)
  const group = new GroupCommit(() => sqliteWriter(file, isDurable ? 'NORMAL' : 'OFF', checkpoints ? 0 : undefined), {
    ...(isDurable && { flush: () => log.flush().catch(endProcess) }),
    checkpoints: checkpoints?.of(file),
  })
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
      await log.close()
    },
  }
}

/** Ends the process, as other uncaught errors do. */
function endProcess(error: unknown): never {
  setImmediate(() => {
    throw error
  })
  throw error
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

/**
 * PRAGMA synchronous of SQLite. With `FULL`, commits wait for the disk. With `NORMAL`, they don’t, but a power failure doesn’t damage
 * the file.
 */
type Synchronous = 'FULL' | 'NORMAL' | 'OFF'

/**
 * Opens a writable connection to the SQLite file, with its drizzle handle.
 * @param checkpointPages size of the write-ahead log from which commits copy it; with 0, they never do
 */
export function sqliteWriter(file: string, synchronous: Synchronous = 'NORMAL', checkpointPages = 1000): Writer {
  const db = sqliteConnection(file, 'write', synchronous)
  db.run(`PRAGMA wal_autocheckpoint=${checkpointPages}`)
  const { handle, statements } = sqliteHandle(db, 'write')
  return { db, tx: handle, statements }
}

function sqliteConnection(file: string, use: 'read' | 'write', synchronous: Synchronous = 'NORMAL'): Database {
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
