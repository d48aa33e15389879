import type { TransactionSQL } from 'bun'
import { isSerializationFailure, isTableCreatedTwice, isTableMissing, withoutValues } from '../errors'
import { Outage } from '../outage'
import { PostgresPool } from '../postgres-pool'
import type { Engine, Row, Statements, Value } from './engine'
import type { SeriesKind } from './kind'
import { createTables, schemaVersion } from './schema'
import type { SeriesPlace } from './store'

/** Separate tables in the shared database, with separate connections. */
export const postgresEngine = (place: SeriesPlace, kinds: readonly SeriesKind[]): Engine =>
  new PostgresEngine(place.databaseUrl!, kinds)

type Connection = PostgresPool | TransactionSQL

// An arbitrary number, unique in this program. Hubs that create the same tables at the same time take turns.
const lockKey = 7264520
const connections = 3

class PostgresEngine implements Engine {
  readonly blobType = 'bytea'
  readonly tableOptions = ''
  readonly isShared = true
  readonly generation = 0
  private pool: Promise<PostgresPool> | null = null
  // The main connections log outages.
  private readonly outage = new Outage(null, () => {})

  constructor(
    private readonly url: string,
    private readonly kinds: readonly SeriesKind[],
  ) {}

  /** An array, because PostgreSQL then uses the index even without table statistics. Bun sends text for json as a JSON string. */
  isOneOf(column: string, type: 'bigint' | 'text' = 'bigint'): string {
    return `${column} = any(array(select value::${type} from json_array_elements_text(?::text::json)))`
  }

  async statements(): Promise<Statements> {
    const pool = await this.open()
    return statementsOn(pool, run => this.outage.watch(run))
  }

  async inTransaction<T>(fn: (within: Statements) => Promise<T>): Promise<T> {
    const pool = await this.open()
    for (let attempts = 1; ; attempts++) {
      try {
        return await this.outage.watch(() =>
          pool.begin(async tx => {
            // As on SQLite, a power failure may lose the last moments of results.
            await tx.unsafe('set local synchronous_commit = off')
            return await fn(statementsOn(tx, run => this.outage.watch(run)))
          }),
        )
      } catch (error) {
        if (attempts >= 5 || !repeatable.some(is => is(error))) throw withoutValues(error)
        await Bun.sleep(2 ** attempts * 4 * Math.random())
      }
    }
  }

  async tables(prefix: string): Promise<string[]> {
    const rows = await (
      await this.statements()
    ).all<{ name: string }>(
      'select tablename as name from pg_tables where schemaname = current_schema() and starts_with(tablename, ?)',
      [prefix],
    )
    return rows.map(row => row.name)
  }

  async size(): Promise<number | null> {
    const [row] = await (
      await this.statements()
    ).all<{ bytes: number }>(
      `select coalesce(sum(pg_total_relation_size(quote_ident(tablename)::regclass)), 0)::bigint as bytes from pg_tables where schemaname = current_schema() and starts_with(tablename, 'series_')`,
    )
    return row!.bytes
  }

  async compact(): Promise<void> {}

  takeDamagedFile(): string | null {
    return null
  }

  async close(): Promise<void> {
    await (await this.pool?.catch(() => null))?.close()
    this.pool = null
  }

  /** Connects again after a failure, which may be temporary. */
  private open(): Promise<PostgresPool> {
    return (this.pool ??= this.connect().catch(error => {
      this.pool = null
      throw error
    }))
  }

  private async connect(): Promise<PostgresPool> {
    // Tables are created and dropped every hour: their prepared statements would accumulate on the server.
    const pool = new PostgresPool(this.url, connections, this.outage, { prepare: false })
    try {
      await this.outage.watch(() =>
        pool.begin(async tx => {
          await tx`select pg_advisory_xact_lock(${lockKey})`
          const within = statementsOn(tx, run => this.outage.watch(run))
          await createTables(this, within, this.kinds)
          await within.run('insert into series_facts(name, value) values (?, ?) on conflict do nothing', [
            'version',
            schemaVersion,
          ])
        }),
      )
      return pool
    } catch (error) {
      await pool.close()
      throw withoutValues(error)
    }
  }
}

/** Another transaction created the same table, or creates it just now, or deleted it. */
const repeatable = [isSerializationFailure, isTableCreatedTwice, isTableMissing]

/** Inserts several rows per statement, to save round trips. */
const rowsPerStatement = 100

/** Runs a query, so that connections without responses are noticed. */
type Watch = <T>(run: () => Promise<T>) => Promise<T>

const statementsOn = (sql: Connection, watch: Watch): Statements => ({
  async all<R extends Row>(text: string, values: readonly Value[] = []) {
    try {
      return [...(await watch(async () => await sql.unsafe(numbered(text), [...values])))].map(plain) as R[]
    } catch (error) {
      throw withoutValues(error)
    }
  },
  async run(text, values = []) {
    try {
      await watch(async () => await sql.unsafe(numbered(text), [...values]))
    } catch (error) {
      throw withoutValues(error)
    }
  },
  async each(text, rows) {
    for (let from = 0; from < rows.length; from += rowsPerStatement) {
      const some = rows.slice(from, from + rowsPerStatement)
      try {
        await watch(async () => await sql.unsafe(numbered(repeated(text, some.length)), some.flat()))
      } catch (error) {
        throw withoutValues(error)
      }
    }
  },
})

/** Repeats the values of `insert … values (?, ?)` for several rows. */
const repeated = (text: string, rows: number): string =>
  text.replace(/values (\([?, ]+\))/, (_, row: string) => `values ${Array.from({ length: rows }, () => row).join(', ')}`)

const texts = new Map<string, string>()
/** Replaces `?` with `$1`, `$2`, … */
function numbered(text: string): string {
  let found = texts.get(text)
  if (found === undefined) {
    let n = 0
    found = text.replaceAll('?', () => `$${++n}`)
    if (texts.size >= 500) texts.clear()
    texts.set(text, found)
  }
  return found
}

/** Converts bigint, which Bun returns as text. */
function plain(row: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(row))
    if (typeof value === 'bigint' || (typeof value === 'string' && numbers.has(name))) row[name] = Number(value)
  return row
}

/** Columns of type bigint, other than those of a kind. */
const numbers = new Set(['at', 'value', 'bytes', 'number'])
