import { Database } from 'bun:sqlite'
import { accessSync, constants, existsSync } from 'node:fs'
import { SQL } from 'bun'
import { migrations } from '../../../migrations/list'
import { InvalidSetting, sqliteFile, type Config } from '../config'
import { sha256Hex } from '../crypto'
import type { Migration } from './migrate'

/** Migration state of a database. `incompatible` is the reason if this version must not open it. */
interface SchemaState {
  exists: boolean
  applied: string[]
  pending: string[]
  incompatible: string | null
}

/** Reads the migration state without changing anything. Does not create a missing file. */
export async function schemaState(config: Config): Promise<SchemaState> {
  const steps = config.databaseUrl ? migrations.postgres : migrations.sqlite
  return await withReadOnlyDatabase(config, async rows => {
    if (!rows) return { exists: false, ...compare([], steps) }
    const known = config.databaseUrl
      ? await rows<{ n: unknown }>(
          `select 1 as n from information_schema.tables where table_schema = current_schema() and table_name = '_migrations'`,
        )
      : await rows<{ n: unknown }>(`select 1 as n from sqlite_master where type = 'table' and name = '_migrations'`)
    return { exists: true, ...compare(known.length === 0 ? [] : await rows<Row>('select tag, hash from _migrations'), steps) }
  })
}

export type Rows = <T>(query: string) => Promise<T[]>
/** Reads the rows of a query in batches. On PostgreSQL, only within a transaction. */
export type Scan = <T>(query: string) => AsyncGenerator<T[]>
interface Row {
  tag: string
  hash: string
}

/**
 * Runs `fn` with a read-only connection, without migrating; null if there is no database yet.
 * @param view `snapshot`: all queries see the database as of the first one
 * @throws InvalidSetting if the file is not readable
 */
export async function withReadOnlyDatabase<T>(
  config: Config,
  fn: (rows: Rows | null, scan: Scan) => Promise<T>,
  view: 'snapshot' | 'latest' = 'latest',
): Promise<T> {
  if (config.databaseUrl) {
    const sql = new SQL(config.databaseUrl, { max: 1, connectionTimeout: 5 })
    try {
      if (view === 'snapshot') await sql.unsafe('begin isolation level repeatable read read only')
      return await fn(rowsOn(sql), scanOn(sql))
    } finally {
      await sql.close({ timeout: 1 })
    }
  }
  if (!existsSync(sqliteFile(config))) return await fn(null, nothing)
  checkReadable(config)
  const db = new Database(sqliteFile(config), { readwrite: true, create: false })
  try {
    db.run('PRAGMA busy_timeout=5000')
    db.run('PRAGMA query_only=ON')
    if (view === 'snapshot') db.run('BEGIN')
    return await fn(async <R>(query: string) => db.query(query).all() as R[], scanSqlite(db))
  } finally {
    db.close()
  }
}

/** Runs queries on a connection to PostgreSQL. */
export const rowsOn =
  (sql: Pick<SQL, 'unsafe'>): Rows =>
  async query => [...(await sql.unsafe(query))]

// Rows have up to 100 kB.
const batchSize = 500

/** Scans on a connection to PostgreSQL in a transaction, one at a time. */
export const scanOn = (sql: Pick<SQL, 'unsafe'>): Scan =>
  async function* (query) {
    await sql.unsafe(`declare scan no scroll cursor for ${query}`)
    for (;;) {
      const rows = [...(await sql.unsafe(`fetch ${batchSize} from scan`))]
      if (rows.length === 0) break
      yield rows
    }
    await sql.unsafe('close scan')
  }

/** Scans on a SQLite connection. */
export const scanSqlite = (db: Database): Scan =>
  async function* <T>(query: string) {
    using statement = db.prepare(query)
    let batch: T[] = []
    for (const row of statement.iterate() as Iterable<T>) {
      if (batch.push(row) < batchSize) continue
      yield batch
      batch = []
    }
    if (batch.length > 0) yield batch
  }

async function* nothing() {}

function checkReadable(config: Config): void {
  const file = sqliteFile(config)
  try {
    accessSync(file, constants.R_OK)
  } catch {
    throw new InvalidSetting(`${config.names.data}: ${file} is not readable by this user. Run as its owner, or change its owner.`)
  }
}

function compare(rows: Row[], steps: Migration[]): Omit<SchemaState, 'exists'> {
  const unknown = rows.find(row => !steps.some(step => step.tag === row.tag))
  const changed = steps.find(step => rows.some(row => row.tag === step.tag && row.hash !== sha256Hex(step.sql)))
  return {
    applied: steps.filter(step => rows.some(row => row.tag === step.tag)).map(step => step.tag),
    pending: steps.filter(step => !rows.some(row => row.tag === step.tag)).map(step => step.tag),
    incompatible: unknown
      ? `The database has migration ${unknown.tag}, which this version does not know. Use the version that applied it, or a newer one.`
      : changed
        ? `Migration ${changed.tag} differs from the one applied to this database.`
        : null,
  }
}
