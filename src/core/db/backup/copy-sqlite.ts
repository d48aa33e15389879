import { Database } from 'bun:sqlite'

/**
 * Copies a SQLite file to a new file, while other processes use it. Reads one snapshot and holds no write lock: others can write in
 * the meantime.
 */
export function copySqlite(from: string, to: string): void {
  using db = new Database(from, { readonly: true, strict: true })
  db.run('PRAGMA busy_timeout=5000')
  db.prepare('vacuum into ?').run(to)
}

/** Finds damage in a SQLite file. @returns the first problem, or null */
export function sqliteDamage(file: string): string | null {
  using db = new Database(file, { readonly: true, strict: true })
  const [found] = db.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').all()
  if (found?.integrity_check !== 'ok') return found?.integrity_check ?? 'it is empty'
  const [orphan] = db.query<{ table: string }, []>('PRAGMA foreign_key_check').all()
  return orphan ? `a row of ${orphan.table} refers to a row that does not exist` : null
}

/** Moves everything in the write-ahead log to the file, so that the file alone is complete. */
export function foldSqliteLog(file: string): void {
  using db = new Database(file, { readwrite: true, create: false, strict: true })
  const [state] = db.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').all()
  if (state?.busy !== 0) throw new Error(`${file} is in use.`)
}
