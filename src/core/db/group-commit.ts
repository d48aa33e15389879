import type { Database } from 'bun:sqlite'
import { once } from './transaction'

interface Waiting { fn: () => Promise<unknown>; resolve: (value: unknown) => void; reject: (error: unknown) => void }

// One flush to disk costs as much as hundreds of statements: callers that wait together share it.
const largestGroup = 256
// A callback that has not finished by then holds up every other write of the process.
const longestCallback = 5_000

/**
 * The single writer of a SQLite database. Each callback runs in its own savepoint, one after the other; a group of them
 * is committed together, and none is told of success before that commit is on disk. A callback that throws undoes
 * its own savepoint and nothing else; a commit that fails is told to the whole group.
 */
export class GroupCommit {
  private readonly queue: Waiting[] = []
  private draining = false
  constructor(private readonly db: Database) {}

  run<T>(fn: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.queue.push({ fn, resolve: resolve as (value: unknown) => void, reject })
      if (this.draining) return
      this.draining = true
      setImmediate(() => void this.drain())
    })
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
    try {
      this.db.run('BEGIN IMMEDIATE')
      for (let taken = 0; taken < largestGroup; taken++) {
        const waiting = this.queue.shift()
        if (!waiting) break
        this.db.run('SAVEPOINT change')
        try {
          const value = await inTime(waiting.fn)
          this.db.run('RELEASE change')
          done.push({ waiting, value })
        } catch (error) {
          this.db.run('ROLLBACK TO change')
          this.db.run('RELEASE change')
          waiting.reject(error)
        }
      }
      this.db.run('COMMIT')
    } catch (error) {
      if (this.db.inTransaction) this.db.run('ROLLBACK')
      for (const one of done) one.waiting.reject(error)
      // BEGIN itself failed: the head of the queue is told, so that a lasting fault drains the queue instead of spinning.
      if (done.length === 0) this.queue.shift()?.reject(error)
      return
    }
    for (const one of done) one.waiting.resolve(one.value)
  }
}

async function inTime<T>(fn: () => Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`A transaction took longer than ${longestCallback} ms and was undone.`)), longestCallback)
  })
  try {
    return await Promise.race([once(fn), late])
  } finally {
    clearTimeout(timer)
  }
}
