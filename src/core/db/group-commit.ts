import type { Database } from 'bun:sqlite'
import { yieldToEventLoop } from '../time-slices'
import { asTransaction, type Tx } from './transaction'

/** A writable connection and the handle for callbacks. */
export interface Writer {
  db: Database
  tx: Tx
  /** Number of statements run with the handle. */
  statements(): number
}

interface Waiting {
  fn: (tx: Tx) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

// A flush to disk takes as long as hundreds of statements, so concurrent callers share it.
const maxGroupSize = 256
// The checkpoint after a long transaction can take as long as its commit.
const longGroupMs = 50
// A callback that waits for something else than its statements blocks all other writes of the process.
const callbackTimeoutMs = 5_000

/** The last callback that was started. */
interface Watched {
  /** The number of statements when the watchdog last looked. */
  seen: number | null
  reject(error: TimedOut): void
}

/** A callback ran no statement for too long: its savepoint is rolled back, and its handle can no longer write. */
class TimedOut extends Error {
  override name = 'TimedOut'
}

/**
 * The single writer of a SQLite database. Callbacks run one after the other, each in its own savepoint. A group of them is
 * committed together, and their promises resolve after the commit is on disk. If a callback throws, only its own savepoint is
 * rolled back. If the commit fails, or SQLite rolls back the whole transaction (for example because the disk is full), the whole
 * group fails.
 */
export class GroupCommit {
  private readonly queue: Waiting[] = []
  private draining: Promise<void> | null = null
  private writer: Writer | null = null
  private writers = 0
  private owesCheckpoint = false
  private watched: Watched | null = null

  /** @param open opens a connection; called again after a callback timed out, because that callback still has the old handle */
  constructor(
    private readonly open: () => Writer,
    private readonly timeoutMs = callbackTimeoutMs,
  ) {}

  run<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.queue.push({ fn, resolve: resolve as (value: unknown) => void, reject })
      this.draining ??= this.drain()
    })
  }

  /** Changes when another process commits, such as a command (https://www.sqlite.org/pragma.html#pragma_data_version). */
  versionOfOthers(): string {
    const { db } = this.openWriter()
    return `${this.writers}.${db.query<{ data_version: number }, []>('PRAGMA data_version').get()!.data_version}`
  }

  /** Closes the connection after all waiting callbacks. */
  async close(): Promise<void> {
    await this.draining
    this.writer?.db.close()
  }

  private async drain(): Promise<void> {
    const watchdog = setInterval(() => this.watch(), this.timeoutMs)
    while (this.queue.length > 0) {
      // Let callbacks that arrive in the meantime join the group.
      await yieldToEventLoop()
      await this.commitGroup()
      if (!this.owesCheckpoint) continue
      await yieldToEventLoop()
      this.checkpoint()
    }
    clearInterval(watchdog)
    this.draining = null
  }

  private async commitGroup(): Promise<void> {
    const done: { waiting: Waiting; value: unknown }[] = []
    let anyRejected = false
    let timedOut = false
    const startedAt = performance.now()
    try {
      const { db, tx } = this.openWriter()
      // `query` prepares each of these statements only once.
      db.query('BEGIN IMMEDIATE').run()
      for (let count = 0; count < maxGroupSize && !timedOut; count++) {
        const waiting = this.queue.shift()
        if (!waiting) break
        try {
          db.query('SAVEPOINT change').run()
          const value = await this.inTime(() => waiting.fn(tx))
          db.query('RELEASE change').run()
          done.push({ waiting, value })
        } catch (error) {
          waiting.reject(error)
          anyRejected = true
          timedOut = error instanceof TimedOut
          // A full disk or an I/O error may roll back the whole transaction, including the changes of others
          // (https://www.sqlite.org/lang_transaction.html, "Response To Errors Within A Transaction").
          if (!db.inTransaction) throw error
          db.query('ROLLBACK TO change').run()
          db.query('RELEASE change').run()
        }
      }
      if (performance.now() - startedAt >= longGroupMs) this.postponeCheckpoint(db)
      db.query('COMMIT').run()
    } catch (error) {
      this.rollback()
      for (const one of done) one.waiting.reject(error)
      // The group didn't start: reject the head of the queue, so that a permanent error drains the queue instead of looping.
      if (done.length === 0 && !anyRejected) this.queue.shift()?.reject(error)
      return
    } finally {
      if (timedOut) this.retire()
    }
    for (const one of done) one.waiting.resolve(one.value)
  }

  private openWriter(): Writer {
    if (!this.writer) {
      this.writer = this.open()
      this.writers++
    }
    return this.writer
  }

  /** Makes the next commit leave its checkpoint to {@link checkpoint}, so that each blocks the event loop on its own. */
  private postponeCheckpoint(db: Database): void {
    db.run('PRAGMA wal_autocheckpoint=0')
    this.owesCheckpoint = true
  }

  private checkpoint(): void {
    this.owesCheckpoint = false
    try {
      this.writer?.db.run('PRAGMA wal_autocheckpoint=1000')
      this.writer?.db.run('PRAGMA wal_checkpoint(PASSIVE)')
    } catch {
      // Later commits try again.
    }
  }

  private rollback(): void {
    try {
      if (this.writer?.db.inTransaction) this.writer.db.run('ROLLBACK')
    } catch {
      this.retire()
    }
  }

  /** Revokes the handle of a callback that still has it: further writes fail. */
  private retire(): void {
    const db = this.writer?.db
    this.writer = null
    // Prepared statements still work after their connection is closed.
    db?.run('PRAGMA query_only=ON')
    db?.close()
  }

  /** Rejects if the callback runs no statement for too long. */
  private inTime<T>(fn: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.watched = { seen: null, reject }
      asTransaction(fn).then(resolve, reject)
    })
  }

  private watch(): void {
    if (!this.watched || !this.writer) return
    const count = this.writer.statements()
    if (this.watched.seen === count)
      this.watched.reject(new TimedOut(`A transaction ran no statement for ${this.timeoutMs} ms and was rolled back.`))
    this.watched.seen = count
  }
}
