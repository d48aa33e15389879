import type { Database } from 'bun:sqlite'
import { once, type Tx } from './transaction'

/** A connection that may write, and the handle that callbacks write through. */
export interface Writer {
  db: Database
  tx: Tx
}

interface Waiting {
  fn: (tx: Tx) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

// One flush to disk costs as much as hundreds of statements: callers that wait together share it.
const largestGroup = 256
// A callback that has not finished by then holds up every other write of the process.
const longestCallbackMs = 5_000

/** A callback took too long: its savepoint is undone, and its handle no longer writes. */
class Overran extends Error {
  override name = 'Overran'
}

/**
 * The single writer of a SQLite database. Each callback runs in its own savepoint, one after the other; a group of them
 * is committed together, and none is told of success before that commit is on disk. A callback that throws undoes
 * its own savepoint and nothing else; a commit that fails, and a fault for which SQLite undoes the whole transaction
 * (a full disk), is told to the whole group.
 */
export class GroupCommit {
  private readonly queue: Waiting[] = []
  private draining = false
  private writer: Writer | null = null

  /** @param open opens a connection; asked again after a callback overran, since that one keeps the handle it was given */
  constructor(
    private readonly open: () => Writer,
    private readonly longestMs = longestCallbackMs,
  ) {}

  run<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.queue.push({ fn, resolve: resolve as (value: unknown) => void, reject })
      if (this.draining) return
      this.draining = true
      setImmediate(() => void this.drain())
    })
  }

  /** Closes the connection. What still waits is refused. */
  close(): void {
    this.writer?.db.run('PRAGMA optimize')
    this.writer?.db.close()
  }

  private async drain(): Promise<void> {
    while (this.queue.length > 0) {
      await this.commitGroup()
      // Requests that arrived meanwhile are read before the next group, and fill it.
      await new Promise(resolve => setImmediate(resolve))
    }
    this.draining = false
  }

  private async commitGroup(): Promise<void> {
    const done: { waiting: Waiting; value: unknown }[] = []
    let told = false
    let overran = false
    try {
      const { db, tx } = (this.writer ??= this.open())
      db.run('BEGIN IMMEDIATE')
      for (let taken = 0; taken < largestGroup && !overran; taken++) {
        const waiting = this.queue.shift()
        if (!waiting) break
        try {
          db.run('SAVEPOINT change')
          const value = await inTime(() => waiting.fn(tx), this.longestMs)
          db.run('RELEASE change')
          done.push({ waiting, value })
        } catch (error) {
          waiting.reject(error)
          told = true
          overran = error instanceof Overran
          // A full disk or a fault of reading and writing may undo the whole transaction, and with it what others did
          // (https://www.sqlite.org/lang_transaction.html, "Response To Errors Within A Transaction").
          if (!db.inTransaction) throw error
          db.run('ROLLBACK TO change')
          db.run('RELEASE change')
        }
      }
      db.run('COMMIT')
    } catch (error) {
      this.undo()
      for (const one of done) one.waiting.reject(error)
      // The group did not even begin: the head of the queue is told, so that a lasting fault drains it instead of spinning.
      if (done.length === 0 && !told) this.queue.shift()?.reject(error)
      return
    } finally {
      if (overran) this.retire()
    }
    for (const one of done) one.waiting.resolve(one.value)
  }

  private undo(): void {
    try {
      if (this.writer?.db.inTransaction) this.writer.db.run('ROLLBACK')
    } catch {
      this.retire()
    }
  }

  /** Takes the handle back from a callback that still has it: whatever it writes from now on is refused. */
  private retire(): void {
    const db = this.writer?.db
    this.writer = null
    // Statements that were prepared before outlive the closing of their connection.
    db?.run('PRAGMA query_only=ON')
    db?.close()
  }
}

async function inTime<T>(fn: () => Promise<T>, longestMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Overran(`A transaction took longer than ${longestMs} ms and was undone.`)), longestMs)
  })
  try {
    return await Promise.race([once(fn), late])
  } finally {
    clearTimeout(timer)
  }
}
