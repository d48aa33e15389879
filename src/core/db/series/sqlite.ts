import { Database, type Statement } from 'bun:sqlite'
import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Checkpoints, LogCheckpoints } from '../checkpoints'
import type { Engine, Row, Statements, Value } from './engine'
import type { SeriesKind } from './kind'
import { createTables, schemaVersion } from './schema'
import type { SeriesPlace } from './store'

/** A separate file, so that its writes and size don't affect the main database. */
export const sqliteEngine = (place: SeriesPlace, kinds: readonly SeriesKind[]): Engine =>
  new SqliteEngine(join(place.data, 'series.db'), () => place.now(), kinds, place.checkpoints ?? null)

class SqliteEngine implements Engine {
  readonly blobType = 'blob'
  readonly tableOptions = ' without rowid'
  readonly isShared = false
  generation = 0
  private db: Database | null = null
  private opening: Promise<Database> | null = null
  private isOpen = false
  private readonly prepared = new Map<string, Statement>()
  private damagedFile: string | null = null
  private last: Promise<unknown> = Promise.resolve()
  private log: LogCheckpoints | null = null
  private moving: Promise<void> | null = null

  constructor(
    private readonly file: string,
    private readonly now: () => number,
    private readonly kinds: readonly SeriesKind[],
    private readonly checkpoints: Checkpoints | null,
  ) {}

  isOneOf(column: string): string {
    return `${column} in (select value from json_each(?))`
  }

  async statements(): Promise<Statements> {
    await this.open()
    return this
  }

  /** Transactions run one after the other, because there is only one connection. */
  async inTransaction<T>(fn: (within: Statements) => Promise<T>): Promise<T> {
    const turn = this.last.then(async () => {
      const db = await this.open()
      this.guarded(() => db.run('BEGIN IMMEDIATE'))
      try {
        const result = await fn(this)
        this.guarded(() => db.run('COMMIT'))
        return result
      } catch (error) {
        // If the disk is full, SQLite has already rolled back.
        if (this.db?.inTransaction) this.db.run('ROLLBACK')
        throw error
      }
    })
    this.last = turn.then(() => this.checkpoint()).catch(() => undefined)
    return await turn
  }

  async all<R extends Row>(text: string, values: readonly Value[] = []): Promise<R[]> {
    return this.guarded(() => this.statement(text).all(...(values as never[])) as R[])
  }

  async run(text: string, values: readonly Value[] = []): Promise<void> {
    this.guarded(() => this.statement(text).run(...(values as never[])))
  }

  async each(text: string, rows: readonly (readonly Value[])[]): Promise<void> {
    this.guarded(() => {
      const statement = this.statement(text)
      for (const values of rows) statement.run(...(values as never[]))
    })
  }

  async tables(prefix: string): Promise<string[]> {
    const rows = await (
      await this.statements()
    ).all<{ name: string }>(`select name from sqlite_master where type = 'table' and substr(name, 1, ?) = ?`, [
      prefix.length,
      prefix,
    ])
    return rows.map(row => row.name)
  }

  async size(): Promise<number | null> {
    return [this.file, `${this.file}-wal`].reduce((sum, file) => sum + (existsSync(file) ? statSync(file).size : 0), 0)
  }

  /** Queued after transactions, because a checkpoint is not possible inside of one. */
  async compact(): Promise<void> {
    const turn = this.last.then(async () => {
      const db = await this.open()
      this.guarded(() => {
        db.run('PRAGMA incremental_vacuum(2000)')
        if (!this.log) db.run('PRAGMA wal_checkpoint(PASSIVE)')
      })
    })
    this.last = turn.then(() => this.checkpoint()).catch(() => undefined)
    await turn
  }

  takeDamagedFile(): string | null {
    const { damagedFile } = this
    this.damagedFile = null
    return damagedFile
  }

  async close(): Promise<void> {
    await this.last
    this.closeFile()
    this.opening = null
  }

  private statement(text: string): Statement {
    let statement = this.prepared.get(text)
    if (!statement) {
      // Tables are created and dropped every hour, so evict old statements.
      if (this.prepared.size >= maxPrepared) {
        const [oldest, unused] = this.prepared.entries().next().value!
        unused.finalize()
        this.prepared.delete(oldest)
      }
      this.prepared.set(text, (statement = this.db!.prepare(text)))
    }
    return statement
  }

  /** Concurrent callers wait until the tables exist. */
  private open(): Promise<Database> {
    return (this.opening ??= this.openWhole().catch(error => {
      this.opening = null
      throw error
    }))
  }

  private async openWhole(): Promise<Database> {
    mkdirSync(dirname(this.file), { recursive: true })
    await this.moving
    try {
      return await this.openFile()
    } catch (error) {
      if (!isDamaged(error)) throw error
      this.moveAside()
      await this.moving
      return await this.openFile()
    }
  }

  private async openFile(): Promise<Database> {
    const db = new Database(this.file, { create: true, strict: true })
    this.db = db
    try {
      // Only has an effect in a file without tables.
      db.run('PRAGMA auto_vacuum=INCREMENTAL')
      for (const pragma of pragmas) db.run(`PRAGMA ${pragma}`)
      if (this.checkpoints) db.run('PRAGMA wal_autocheckpoint=0')
      const { user_version: version } = db.query('PRAGMA user_version').get() as { user_version: number }
      if (version > schemaVersion) throw new NewerSeries()
      db.run('BEGIN IMMEDIATE')
      await createTables(this, this, this.kinds)
      db.run(`PRAGMA user_version=${schemaVersion}`)
      db.run('COMMIT')
      this.log = this.checkpoints?.of(this.file) ?? null
      this.isOpen = true
      return db
    } catch (error) {
      this.closeFile()
      throw error
    }
  }

  /** Runs `fn` and moves the file aside if it is damaged. */
  private guarded<T>(fn: () => T): T {
    try {
      return fn()
    } catch (error) {
      if (isDamaged(error) && this.isOpen) {
        this.moveAside()
        this.opening = null
      }
      throw error
    }
  }

  private moveAside(): void {
    const { log } = this
    this.closeFile()
    const to = `${this.file}.damaged-${new Date(this.now()).toISOString().replaceAll(/[:.]/g, '-')}`
    const rename = () => {
      for (const end of ['', '-wal', '-shm']) if (existsSync(this.file + end)) renameSync(this.file + end, to + end)
    }
    // The last connection that is closed deletes the log by its name, which must not be the log of the next file. If renaming fails,
    // opening the file fails again.
    if (log)
      this.moving = log
        .close()
        .then(rename)
        .catch(() => undefined)
    else rename()
    this.damagedFile = to
    this.generation++
  }

  private async checkpoint(): Promise<void> {
    if (this.db) await this.log?.committed(this.db)
  }

  private closeFile(): void {
    for (const statement of this.prepared.values()) statement.finalize()
    this.prepared.clear()
    this.db?.close()
    this.db = null
    this.log = null
    this.isOpen = false
  }
}

const maxPrepared = 300

const pragmas = [
  'busy_timeout=5000',
  'journal_mode=WAL',
  // A power failure may lose the last moments of results, but doesn't damage the file. Unlike the main database, it is not flushed
  // after each commit.
  'synchronous=NORMAL',
  'journal_size_limit=67108864',
  'cache_size=-2048',
  'mmap_size=0',
  'temp_store=MEMORY',
]

class NewerSeries extends Error {
  override name = 'NewerSeries'
}

/** Whether this version can't use the file: it is corrupt, not a database, or was created by a newer version. */
const isDamaged = (error: unknown): boolean =>
  error instanceof NewerSeries || ['SQLITE_CORRUPT', 'SQLITE_NOTADB'].includes(String((error as { code?: unknown }).code))
