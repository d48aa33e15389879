import { Database, type Statement } from 'bun:sqlite'
import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Engine, Row, Statements, Value } from './engine'
import { createTables, schemaVersion } from './schema'
import type { SeriesPlace } from './store'

/** A file of its own, so that its writes and its size are none of the database's that answers wait for. */
export const sqliteEngine = (place: SeriesPlace): Engine => new SqliteEngine(join(place.data, 'series.db'), () => place.now())

class SqliteEngine implements Engine {
  readonly octets = 'blob'
  readonly keyed = ' without rowid'
  readonly isShared = false
  private db: Database | null = null
  private opening: Promise<Database> | null = null
  private readonly prepared = new Map<string, Statement>()
  private aside: string | null = null
  private last: Promise<unknown> = Promise.resolve()

  constructor(
    private readonly file: string,
    private readonly now: () => number,
  ) {}

  among(column: string): string {
    return `${column} in (select value from json_each(?))`
  }

  async statements(): Promise<Statements> {
    await this.open()
    return this
  }

  /** One after the other: there is one connection. */
  async allOrNone<T>(fn: (within: Statements) => Promise<T>): Promise<T> {
    const turn = this.last.then(async () => {
      const db = await this.open()
      this.guarded(() => db.run('BEGIN IMMEDIATE'))
      try {
        const result = await fn(this)
        this.guarded(() => db.run('COMMIT'))
        return result
      } catch (error) {
        // A full disk undoes the transaction by itself.
        if (this.db?.inTransaction) this.db.run('ROLLBACK')
        throw error
      }
    })
    this.last = turn.catch(() => undefined)
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

  async tables(beginning: string): Promise<string[]> {
    const rows = await (
      await this.statements()
    ).all<{ name: string }>(`select name from sqlite_master where type = 'table' and substr(name, 1, ?) = ?`, [
      beginning.length,
      beginning,
    ])
    return rows.map(row => row.name)
  }

  async size(): Promise<number | null> {
    return [this.file, `${this.file}-wal`].reduce((sum, file) => sum + (existsSync(file) ? statSync(file).size : 0), 0)
  }

  /** In its turn: no checkpoint can be made within a transaction. */
  async tidy(): Promise<void> {
    const turn = this.last.then(async () => {
      const db = await this.open()
      this.guarded(() => {
        db.run('PRAGMA incremental_vacuum(2000)')
        db.run('PRAGMA wal_checkpoint(PASSIVE)')
      })
    })
    this.last = turn.catch(() => undefined)
    await turn
  }

  movedAside(): string | null {
    const { aside } = this
    this.aside = null
    return aside
  }

  async close(): Promise<void> {
    await this.last
    this.shut()
  }

  private statement(text: string): Statement {
    let statement = this.prepared.get(text)
    if (!statement) {
      // Tables come and go by the hour, and their statements with them.
      if (this.prepared.size >= mostPrepared) {
        const [oldest, unused] = this.prepared.entries().next().value!
        unused.finalize()
        this.prepared.delete(oldest)
      }
      this.prepared.set(text, (statement = this.db!.prepare(text)))
    }
    return statement
  }

  /** Those who come while it is opened wait for its tables. */
  private open(): Promise<Database> {
    return (this.opening ??= this.openWhole().catch(error => {
      this.opening = null
      throw error
    }))
  }

  private async openWhole(): Promise<Database> {
    mkdirSync(dirname(this.file), { recursive: true })
    try {
      return await this.openFile()
    } catch (error) {
      if (!isDamaged(error)) throw error
      this.moveAside()
      return await this.openFile()
    }
  }

  private async openFile(): Promise<Database> {
    const db = new Database(this.file, { create: true, strict: true })
    this.db = db
    try {
      // It takes effect in a file that has no table yet.
      db.run('PRAGMA auto_vacuum=INCREMENTAL')
      for (const pragma of pragmas) db.run(`PRAGMA ${pragma}`)
      const { user_version: version } = db.query('PRAGMA user_version').get() as { user_version: number }
      if (version > schemaVersion) throw new NewerSeries()
      if (version < schemaVersion) {
        db.run('BEGIN IMMEDIATE')
        await createTables(this, this)
        db.run(`PRAGMA user_version=${schemaVersion}`)
        db.run('COMMIT')
      }
      return db
    } catch (error) {
      this.shut()
      throw error
    }
  }

  /** Tells a damaged file from every other fault, and takes it out of the way. */
  private guarded<T>(fn: () => T): T {
    try {
      return fn()
    } catch (error) {
      if (isDamaged(error)) this.moveAside()
      throw error
    }
  }

  private moveAside(): void {
    this.shut()
    const to = `${this.file}.damaged-${new Date(this.now()).toISOString().replaceAll(/[:.]/g, '-')}`
    for (const end of ['', '-wal', '-shm']) if (existsSync(this.file + end)) renameSync(this.file + end, to + end)
    this.aside = to
  }

  private shut(): void {
    for (const statement of this.prepared.values()) statement.finalize()
    this.prepared.clear()
    this.db?.close()
    this.db = null
    this.opening = null
  }
}

const mostPrepared = 300

const pragmas = [
  'busy_timeout=5000',
  'journal_mode=WAL',
  // The last moments before a power cut may be missing; the file stays whole. The database itself is flushed at each commit.
  'synchronous=NORMAL',
  'journal_size_limit=67108864',
  'cache_size=-2048',
  'mmap_size=0',
  'temp_store=MEMORY',
]

class NewerSeries extends Error {
  override name = 'NewerSeries'
}

/** A file that this version cannot use: torn, no database at all, or made by a newer version. */
const isDamaged = (error: unknown): boolean =>
  error instanceof NewerSeries || ['SQLITE_CORRUPT', 'SQLITE_NOTADB'].includes(String((error as { code?: unknown }).code))
