import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { SQL } from 'bun'
import type { Installation } from './binary'

type Row = Record<string, string | number | null>

/** Reads the database of an installation while its hubs are running. */
export interface Rows extends AsyncDisposable {
  /** Runs a query that both engines support. Returns integers as numbers. */
  all<R = Row>(query: string): Promise<R[]>
}

/** Opens the existing database of an installation. */
export function rowsOf(here: Installation): Rows {
  const url = here.env.BAILIWICK_DATABASE_URL
  if (url) {
    const sql = new SQL(url, { max: 1 })
    return {
      all: async query => ((await sql.unsafe(query)) as Row[]).map(withNumbers) as never,
      [Symbol.asyncDispose]: () => sql.close(),
    }
  }
  const db = new Database(join(here.folder, 'bailiwick.db'), { readonly: true })
  db.run('PRAGMA busy_timeout=5000')
  return {
    all: async query => db.query(query).all() as never,
    async [Symbol.asyncDispose]() {
      db.close()
    },
  }
}

/** Counts and sums of PostgreSQL are bigint, which its driver returns as text. */
const withNumbers = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, isInteger(value) ? Number(value) : value]))

const isInteger = (value: unknown) => typeof value === 'string' && /^-?\d{1,15}$/.test(value)
