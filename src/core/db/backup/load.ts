import { Database } from 'bun:sqlite'
import { SQL, type TransactionSQL } from 'bun'
import { migrations } from '../../../../migrations/list'
import { withoutValues } from '../errors'
import { lockMigrations, migrateSqlite, migrateWithin } from '../migrate'
import { putFactStatement } from '../put-fact'
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

/**
 * Creates a SQLite file with the tables of these migrations. Its indexes are created between the two steps, because that takes less
 * time than updating them with each row. The file is not synced to disk.
 * @param load inserts all rows
 * @param finish runs on the loaded database
 */
export async function loadSqlite(
  file: string,
  tags: readonly string[],
  load: (target: LoadTarget) => Promise<void>,
  finish: (target: LoadTarget) => Promise<void>,
): Promise<void> {
  using db = new Database(file, { create: true, strict: true })
  // Without a journal: a file that is not complete is deleted.
  for (const pragma of ['journal_mode=OFF', 'synchronous=OFF', 'cache_size=-32768', 'temp_store=FILE']) db.run(`PRAGMA ${pragma}`)
  migrateSqlite(
    db,
    migrations.sqlite.filter(step => tags.includes(step.tag)),
  )
  db.run('PRAGMA foreign_keys=OFF')
  db.run('BEGIN IMMEDIATE')
  // Those without a statement belong to primary keys.
  type Index = Record<'name' | 'sql', string>
  const indexes = db.query<Index, []>(`select name, sql from sqlite_master where type = 'index' and sql is not null`).all()
  for (const { name } of indexes) db.run(`drop index "${name}"`)
  const target = sqliteTarget(db)
  await load(target)
  for (const { sql } of indexes) db.run(sql)
  await finish(target)
  db.run('COMMIT')
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
  putFact: async (name, value) => void db.query(putFactStatement).run(name, value),
})

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
 * Like {@link loadSqlite}, in an empty PostgreSQL schema and in one transaction.
 * @throws NotEmpty
 */
export async function loadPostgres(
  url: string,
  tags: readonly string[],
  load: (target: LoadTarget) => Promise<void>,
  finish: (target: LoadTarget) => Promise<void>,
): Promise<void> {
  const sql = new SQL(url, { max: 1, connectionTimeout: 5 })
  try {
    await sql.begin(async tx => {
      await lockMigrations(tx)
      const found = await tx.unsafe('select tablename as name from pg_tables where schemaname = current_schema() limit 1')
      if (found.length > 0) throw new NotEmpty(`The schema contains tables, such as ${found[0].name}.`)
      await migrateWithin(
        tx,
        migrations.postgres.filter(step => tags.includes(step.tag)),
      )
      const indexes = (await tx.unsafe(
        `select indexname as name, indexdef as sql from pg_indexes where schemaname = current_schema()
          and indexname not in (select conname from pg_constraint where connamespace = current_schema()::regnamespace)`,
      )) as Record<'name' | 'sql', string>[]
      for (const { name } of indexes) await tx.unsafe(`drop index "${name}"`)
      const target: LoadTarget = {
        insert: (table, lines) => insertPostgres(tx, table, lines),
        rows: rowsOn(tx),
        scan: scanOn(tx),
        run: async statement => void (await tx.unsafe(statement)),
        putFact: async (name, value) => void (await tx.unsafe(putFactStatement, [name, value])),
      }
      await load(target)
      for (const index of indexes) await tx.unsafe(index.sql)
      await finish(target)
    })
    // The planner would otherwise know nothing about the tables until they are analyzed in the background.
    await sql.unsafe('analyze')
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
