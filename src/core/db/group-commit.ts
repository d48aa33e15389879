import type { Database } from 'bun:sqlite'
import { yieldToEventLoop } from '../time-slices'
import type { LogCheckpoints } from './checkpoints'
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

/** A callback that was successful. */
interface Done {
  waiting: Waiting
  value: unknown
}

// A flush to disk takes as long as hundreds of statements, so concurrent callers share it.
const maxGroupSize = 256
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

/** What happens after commits. */
interface GroupOptions {
  /** Resolves when everything that was committed before the call is on disk. By default, commits are not flushed. */
  flush?(): Promise<void>
  /** Copies the write-ahead log. By default, SQLite does so during commits. */
  checkpoints?: LogCheckpoints | null
  timeoutMs?: number
}

/**
 * The single writer of a SQLite database. Callbacks run one after the other, each in its own savepoint. A group of them is
 * committed together, and their promises resolve after the commit was flushed to disk. The next group doesn't wait for that: what
 * it reads of earlier groups is on disk when it is itself. If a callback throws, only its own savepoint is rolled back. If the
 * commit fails, or SQLite rolls back the whole transaction (for example because the disk is full), the whole group fails.
 *
 * If a flush fails, its group and all later callbacks fail, because it is unknown what is on disk. The group can still be read.
 */
export class GroupCommit {
  private readonly timeoutMs: number
  private readonly queue: Waiting[] = []
  private draining: Promise<void> | null = null
  private writer: Writer | null = null
  private writers = 0
  /** Of everything that was written so far. */
  private flushed: Promise<void> = Promise.resolve()
  /** When the callbacks of all groups have ended. */
  private ended: Promise<void> = Promise.resolve()
  private failure: { error: unknown } | null = null
  private watched: Watched | null = null

  /** @param open opens a connection; called again after a callback timed out, because that callback still has the old handle */
  constructor(
    private readonly open: () => Writer,
    private readonly options: GroupOptions = {},
  ) {
    this.timeoutMs = options.timeoutMs ?? callbackTimeoutMs
  }

  run<T>(fn: (tx: Tx) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.failure) return reject(this.failure.error)
      this.queue.push({ fn, resolve: resolve as (value: unknown) => void, reject })
      this.draining ??= this.drain()
    })
  }

  /** Changes when another process commits, such as a command (https://www.sqlite.org/pragma.html#pragma_data_version). */
  versionOfOthers(): string {
    const { db } = this.openWriter()
    return `${this.writers}.${db.query<{ data_version: number }, []>('PRAGMA data_version').get()!.data_version}`
  }

  /** Closes the connection after all waiting callbacks and their flush. */
  async close(): Promise<void> {
    await this.draining
    await this.ended
    this.writer?.db.close()
  }

  private async drain(): Promise<void> {
    const watchdog = setInterval(() => this.watch(), this.timeoutMs)
    while (this.queue.length > 0) {
      // Let callbacks that arrive in the meantime join the group.
      await yieldToEventLoop()
      await this.commitGroup()
      await this.checkpoint()
    }
    clearInterval(watchdog)
    this.draining = null
  }

  private async commitGroup(): Promise<void> {
    const done: Done[] = []
    let anyRejected = false
    let timedOut = false
    try {
      const { db, tx } = this.openWriter()
      // `query` prepares each of these statements only once.
      db.query('BEGIN IMMEDIATE').run()
      const before = changedRows(db)
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
      db.query('COMMIT').run()
      if (this.options.flush && changedRows(db) !== before) this.flushed = this.options.flush()
    } catch (error) {
      this.rollback()
      for (const one of done) one.waiting.reject(error)
      // The group didn't start: reject the head of the queue, so that a permanent error drains the queue instead of looping.
      if (done.length === 0 && !anyRejected) this.queue.shift()?.reject(error)
      return
    } finally {
      if (timedOut) this.retire()
    }
    if (done.length > 0) this.ended = this.end(done)
  }

  /** Ends the callbacks of a group when it and everything that it may have read is on disk. */
  private async end(done: readonly Done[]): Promise<void> {
    try {
      await this.flushed
      for (const { waiting, value } of done) waiting.resolve(value)
    } catch (error) {
      this.failure = { error }
      for (const { waiting } of done) waiting.reject(error)
      for (const waiting of this.queue.splice(0)) waiting.reject(error)
    }
  }

  private openWriter(): Writer {
    if (!this.writer) {
      this.writer = this.open()
      this.writers++
    }
    return this.writer
  }

  private async checkpoint(): Promise<void> {
    try {
      if (this.writer) await this.options.checkpoints?.committed(this.writer.db)
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

/** The number of rows that a connection has changed. It doesn’t grow during transactions that only read. */
const changedRows = (db: Database): number => db.query<{ count: number }, []>('select total_changes() as count').get()!.count
