import { Database } from 'bun:sqlite'
import { createTableNamed, createTables, schemaVersion, tablesOf } from '../series/schema'
import type { SeriesKind } from '../series/kind'
import { scanSqlite, type Rows, type Scan } from '../schema-state'
import { insertSqlite, type LoadTarget } from './load'
import { linesOf } from './lines'
import { tableOf } from './tables'

const inSqlite = { blobType: 'blob', tableOptions: ' without rowid', isShared: false }
const inPostgres = { blobType: 'bytea', tableOptions: '', isShared: true }

/** Whether this version can read a series file. */
export const canReadSeries = (version: number): boolean => version <= schemaVersion

export { schemaVersion as seriesVersion }

// PostgreSQL Appendix A.
const undefinedTable = '42P01'

/**
 * Copies the series in PostgreSQL to a new SQLite file, as a hub with SQLite stores them. Reads each table in its own transaction, so
 * that hubs can drop tables in the meantime. Returns false if there are none.
 */
export async function exportSeries(rows: Rows, scan: Scan, file: string, kinds: readonly SeriesKind[]): Promise<boolean> {
  const list = async () => {
    const found = await rows<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = current_schema() and starts_with(tablename, 'series_')`,
    )
    return found.map(one => one.name).sort()
  }
  const first = await list()
  if (first.length === 0) return false
  using db = new Database(file, { create: true, strict: true })
  for (const pragma of ['auto_vacuum=INCREMENTAL', 'journal_mode=MEMORY', 'synchronous=OFF']) db.run(`PRAGMA ${pragma}`)
  const within = { run: async (statement: string) => void db.run(statement) }
  db.run('BEGIN')
  await createTables(inSqlite, within, kinds)
  const copy = async (name: string) => {
    if (!(await createTableNamed(inSqlite, within, kinds, name))) return
    const table = tableOf(db, name)
    await rows('begin isolation level repeatable read read only')
    try {
      for await (const { text } of linesOf(scan, { ...table, key: [] })) insertSqlite(db, table, split(text))
    } catch (error) {
      // The table was dropped since it was listed.
      if ((error as { errno?: unknown }).errno !== undefinedTable) throw error
    } finally {
      await rows('rollback')
    }
  }
  // Rows first: those that are packed in the meantime are in tables that are listed afterwards.
  const unpacked = first.filter(name => kinds.some(kind => name.startsWith(tablesOf(kind).rows)))
  for (const name of unpacked) await copy(name)
  for (const name of await list()) if (!unpacked.includes(name)) await copy(name)
  db.run('COMMIT')
  db.run(`PRAGMA user_version=${schemaVersion}`)
  return true
}

/** Copies a series file to PostgreSQL. @throws InvalidTable */
export async function importSeries(file: string, target: LoadTarget, kinds: readonly SeriesKind[]): Promise<void> {
  using db = new Database(file, { readonly: true, strict: true })
  const scan = scanSqlite(db)
  await createTables(inPostgres, target, kinds)
  const names = db.query<{ name: string }, []>(
    `select name from sqlite_master where type = 'table' and name like 'series\\_%' escape '\\'`,
  )
  for (const { name } of names.all()) {
    if (!(await createTableNamed(inPostgres, target, kinds, name))) continue
    const table = tableOf(db, name)
    for await (const { text } of linesOf(scan, { ...table, key: [] })) await target.insert(table, split(text))
  }
}

const split = (text: string): string[] => text.split('\n').slice(0, -1)
