import { Database } from 'bun:sqlite'
import { SQL, type TransactionSQL } from 'bun'
import { migrations } from '../../../../migrations/list'
import { withoutValues } from '../errors'
import { lockMigrations, migrateSqlite, migrateWithin } from '../migrate'
import { rowsOn, scanOn, scanSqlite, type Rows, type Scan } from '../schema-state'
import { quoted } from './lines'
import type { BackupTable } from './tables'

/** An empty database that a backup is loaded into. */
export interface LoadTarget {
  insert(table: BackupTable, lines: readonly string[]): Promise<void>
  rows: Rows
  scan: Scan
  run(statement: string): Promise<void>
  putFact(name: string, value: string): Promise<void>
}

/** Thrown if the database to load a backup into contains tables. */
export class NotEmpty extends Error {
  override name = 'NotEmpty'
}

/** Creates a SQLite file with the tables of these migrations and runs `fn` in its only transaction. The file is not synced to disk. */
export async function loadSqlite<T>(file: string, tags: readonly string[], fn: (target: LoadTarget) => Promise<T>): Promise<T> {
  using db = new Database(file, { create: true, strict: true })
  for (const pragma of ['journal_mode=MEMORY', 'synchronous=OFF', 'cache_size=-32768']) db.run(`PRAGMA ${pragma}`)
  migrateSqlite(
    db,
    migrations.sqlite.filter(step => tags.includes(step.tag)),
  )
  db.run('PRAGMA foreign_keys=OFF')
  db.run('BEGIN IMMEDIATE')
  const result = await fn(sqliteTarget(db))
  db.run('COMMIT')
  return result
}

/** Runs `fn` on an existing SQLite file, without changing its journal mode. */
export async function withSqliteFile<T>(file: string, fn: (target: LoadTarget) => Promise<T>): Promise<T> {
  using db = new Database(file, { readwrite: true, create: false, strict: true })
  return await fn(sqliteTarget(db))
}

const sqliteTarget = (db: Database): LoadTarget => ({
  insert: async (table, lines) => insertSqlite(db, table, lines),
  rows: async <R>(query: string) => db.query(query).all() as R[],
  scan: scanSqlite(db),
  run: async statement => void db.run(statement),
  putFact: async (name, value) => void db.query(putFact).run(name, value),
})

// Both engines accept numbered parameters.
const putFact = 'insert into instance_facts(name, value) values ($1, $2)'

/** Inserts lines of {@link linesOf}. */
export function insertSqlite(db: Database, { name, columns }: BackupTable, lines: readonly string[]): void {
  const statement = db.query(
    `insert into "${name}"(${quoted(columns.map(one => one.name))}) values (${columns.map(() => '?').join(', ')})`,
  )
  for (const line of lines) {
    const row = JSON.parse(line) as Record<string, string | number | null>
    statement.run(
      ...columns.map(({ name: column, kind }) => {
        const value = row[column] ?? null
        return kind === 'blob' && value !== null ? Buffer.from(String(value), 'base64') : value
      }),
    )
  }
}

/**
 * Creates the tables of these migrations in an empty PostgreSQL schema and runs `fn`, all in one transaction.
 * @throws NotEmpty
 */
export async function loadPostgres<T>(url: string, tags: readonly string[], fn: (target: LoadTarget) => Promise<T>): Promise<T> {
  const sql = new SQL(url, { max: 1, connectionTimeout: 5 })
  try {
    const result = await sql.begin(async tx => {
      await lockMigrations(tx)
      const found = await tx.unsafe('select tablename as name from pg_tables where schemaname = current_schema() limit 1')
      if (found.length > 0) throw new NotEmpty(`The schema contains tables, such as ${found[0].name}.`)
      await migrateWithin(
        tx,
        migrations.postgres.filter(step => tags.includes(step.tag)),
      )
      return await fn({
        insert: (table, lines) => insertPostgres(tx, table, lines),
        rows: rowsOn(tx),
        scan: scanOn(tx),
        run: async statement => void (await tx.unsafe(statement)),
        putFact: async (name, value) => void (await tx.unsafe(putFact, [name, value])),
      })
    })
    // The planner would otherwise know nothing about the tables until they are analyzed in the background.
    await sql.unsafe('analyze')
    return result
  } catch (error) {
    throw withoutValues(error)
  } finally {
    await sql.close({ timeout: 5 })
  }
}

async function insertPostgres(tx: TransactionSQL, { name, columns }: BackupTable, lines: readonly string[]): Promise<void> {
  const names = quoted(columns.map(one => one.name))
  const blobs = columns.filter(one => one.kind === 'blob').map(one => one.name)
  const rows = blobs.length > 0 ? lines.map(line => withHex(line, blobs)) : lines
  await tx.unsafe(
    `insert into "${name}"(${names}) select ${names} from json_populate_recordset(null::"${name}", $1::text::json)`,
    [`[${rows.join(',')}]`],
  )
}

/** Writes bytes as PostgreSQL reads them. */
function withHex(line: string, blobs: readonly string[]): string {
  const row = JSON.parse(line) as Record<string, unknown>
  for (const name of blobs)
    if (typeof row[name] === 'string') row[name] = `\\x${Buffer.from(row[name], 'base64').toString('hex')}`
  return JSON.stringify(row)
}
