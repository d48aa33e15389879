import { SQL, type ReservedSQL, type TransactionSQL } from 'bun'
import { isSerialisationFailure, withoutValues } from '../errors'
import type { Engine, Row, Statements, Value } from './engine'
import { createTables, schemaVersion } from './schema'
import type { SeriesPlace } from './store'

/** Tables of their own in the database that all hubs share, over connections of their own. */
export const postgresEngine = (place: SeriesPlace): Engine => new PostgresEngine(place.databaseUrl!)

type Connection = SQL | TransactionSQL | ReservedSQL

// Any number that no other part of the program uses: hubs that make the same tables at once take turns.
const lockKey = 7264520
const connections = 3

class PostgresEngine implements Engine {
  readonly octets = 'bytea'
  readonly keyed = ''
  readonly isShared = true
  private sql: Promise<SQL> | null = null

  constructor(private readonly url: string) {}

  /** As an array, for which the index is used whatever is known of the table. Bun sends a text for json as a JSON string. */
  among(column: string): string {
    return `${column} = any(array(select value::bigint from json_array_elements_text(?::text::json)))`
  }

  async statements(): Promise<Statements> {
    return statementsOn(await this.open())
  }

  async allOrNone<T>(fn: (within: Statements) => Promise<T>): Promise<T> {
    const sql = await this.open()
    for (let tries = 1; ; tries++) {
      try {
        return await sql.begin(async tx => {
          // As in the file of SQLite: the last moments before the server loses power may be missing.
          await tx.unsafe('set local synchronous_commit = off')
          return await fn(statementsOn(tx))
        })
      } catch (error) {
        if (tries >= 5 || !isSerialisationFailure(error)) throw withoutValues(error)
        await Bun.sleep(2 ** tries * 4 * Math.random())
      }
    }
  }

  async tables(beginning: string): Promise<string[]> {
    const rows = await (
      await this.statements()
    ).all<{ name: string }>(
      'select tablename as name from pg_tables where schemaname = current_schema() and starts_with(tablename, ?)',
      [beginning],
    )
    return rows.map(row => row.name)
  }

  async size(): Promise<number | null> {
    const [row] = await (
      await this.statements()
    ).all<{ octets: number }>(
      `select coalesce(sum(pg_total_relation_size(quote_ident(tablename)::regclass)), 0)::bigint as octets from pg_tables where schemaname = current_schema() and starts_with(tablename, 'series_')`,
    )
    return row!.octets
  }

  async tidy(): Promise<void> {}

  movedAside(): string | null {
    return null
  }

  async close(): Promise<void> {
    await (await this.sql?.catch(() => null))?.close({ timeout: 5 })
    this.sql = null
  }

  /** Opened anew after a failure: the server may only have been away. */
  private open(): Promise<SQL> {
    return (this.sql ??= this.connect().catch(error => {
      this.sql = null
      throw error
    }))
  }

  private async connect(): Promise<SQL> {
    // Tables come and go by the hour: what the server keeps prepared for them would pile up.
    const sql = new SQL(this.url, { max: connections, prepare: false })
    try {
      await sql.begin(async tx => {
        await tx`select pg_advisory_xact_lock(${lockKey})`
        const within = statementsOn(tx)
        await createTables(this, within)
        await within.run('insert into series_facts(name, value) values (?, ?) on conflict do nothing', ['version', schemaVersion])
      })
      return sql
    } catch (error) {
      await sql.close({ timeout: 1 })
      throw withoutValues(error)
    }
  }
}

/** Several rows go at once: a statement each would wait for the server each. */
const rowsAtOnce = 100

const statementsOn = (sql: Connection): Statements => ({
  async all<R extends Row>(text: string, values: readonly Value[] = []) {
    try {
      return [...(await sql.unsafe(numbered(text), [...values]))].map(plain) as R[]
    } catch (error) {
      throw withoutValues(error)
    }
  },
  async run(text, values = []) {
    try {
      await sql.unsafe(numbered(text), [...values])
    } catch (error) {
      throw withoutValues(error)
    }
  },
  async each(text, rows) {
    for (let from = 0; from < rows.length; from += rowsAtOnce) {
      const some = rows.slice(from, from + rowsAtOnce)
      try {
        await sql.unsafe(numbered(repeated(text, some.length)), some.flat())
      } catch (error) {
        throw withoutValues(error)
      }
    }
  },
})

/** `insert … values (?, ?)` for several rows. */
const repeated = (text: string, rows: number): string =>
  text.replace(/values (\([?, ]+\))/, (_, row: string) => `values ${Array.from({ length: rows }, () => row).join(', ')}`)

const texts = new Map<string, string>()
/** `?` as `$1`, `$2`, … */
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

/** bigint comes as text. */
function plain(row: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(row))
    if (typeof value === 'bigint' || (typeof value === 'string' && numbers.has(name))) row[name] = Number(value)
  return row
}

/** Columns that are bigint. */
const numbers = new Set(['at', 'value', 'octets', 'error', 'number'])
