import { Database } from 'bun:sqlite'
import { statSync, truncateSync } from 'node:fs'

// How long to wait for a lock: long enough for a process that is just exiting.
const waitMs = 500
// Prevents garbage collection of the connections, which would release the locks.
const connections = new Set<Database>()

/**
 * Locks a file until this process exits. SQLite uses record locks of the operating system, which the kernel releases when the
 * process ends in any way (https://www.sqlite.org/lockingv3.html). The file is empty and is not deleted. Don't open it otherwise
 * in this process: closing it would release the lock.
 * @returns a function that releases the lock; null if another process, or this one, holds it
 */
export function lockFile(file: string): (() => void) | null {
  // An existing file with other content is not a database. Truncate it in place, which keeps locks on it.
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
  connections.add(db)
  return () => {
    connections.delete(db)
    db.close()
  }
}
