import { Database } from 'bun:sqlite'
import { statSync, truncateSync } from 'node:fs'

// How long a lock that another holds is waited for: long enough for a process that is just ending.
const waitMs = 500
// A lock ends when its connection is collected as garbage.
const held = new Set<Database>()

/**
 * Locks a file for the life of this process. SQLite holds it with the system's record locks, which the kernel releases with the
 * process, however that ends (https://www.sqlite.org/lockingv3.html). The file stays empty, and stays behind unlocked. Not to be
 * opened by any other means in this process: closing it again would release the lock.
 * @returns gives the lock back; null when another process, or this one, holds it
 */
export function lockFile(file: string): (() => void) | null {
  // What stands in a file left there by something else is no database. Cut off in place, so that no lock on it is lost.
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0) truncateSync(file)
  const db = new Database(file, { create: true, strict: true })
  try {
    db.run(`PRAGMA busy_timeout=${waitMs}`)
    db.run('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if ((error as { code?: string }).code === 'SQLITE_BUSY') return null
    throw error
  }
  held.add(db)
  return () => {
    held.delete(db)
    db.close()
  }
}
