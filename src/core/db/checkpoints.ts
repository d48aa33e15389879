import type { Database } from 'bun:sqlite'
import type { Log } from '../log'
import { startThread, type Thread } from '../thread'
import type { CheckpointOrder, CheckpointReply } from './checkpoint-thread'

// In pages of 4 KiB. SQLite itself starts checkpoints at the same size.
const pagesPerCheckpoint = 1000
/** From this size on, writes wait until everything is copied, so that a log doesn’t grow without limit. */
const maxPages = 16_384

/**
 * Copies the write-ahead logs of SQLite files to the files in a thread. SQLite would do so during commits, which waits for the disk
 * several times. If the thread ends, commits do it again.
 */
export class Checkpoints {
  private readonly files = new Map<string, LogCheckpoints>()
  private readonly thread: Thread<CheckpointOrder>
  private isStopping = false
  private hasEnded = false

  /** @param entry the file of its entry point */
  constructor(entry: string, log: Log) {
    const ended = (reason: string) => {
      if (this.isStopping || this.hasEnded) return
      this.hasEnded = true
      log.error({ reason }, 'the checkpoint thread ended, so commits copy the write-ahead log')
      for (const file of this.files.values()) file.end()
    }
    this.thread = startThread<CheckpointOrder, CheckpointReply>(
      entry,
      {
        message: reply => {
          if (reply.kind === 'stopped') return
          const file = this.files.get(reply.file)!
          if (reply.kind === 'closed') return file.end()
          if (reply.problem) log.warn({ file: reply.file, reason: reply.problem }, 'could not copy the write-ahead log')
          file.done(reply.problem !== null)
        },
        failed: ended,
        ended: () => ended('it exited'),
      },
      { smol: true },
    )
  }

  of(file: string): LogCheckpoints {
    const checkpoints = new LogCheckpoints(kind => this.thread.post({ kind, file }))
    this.files.set(file, checkpoints)
    if (this.hasEnded) checkpoints.end()
    return checkpoints
  }

  /** To be called when all connections are closed. */
  async stop(): Promise<void> {
    this.isStopping = true
    await this.thread.stop({ kind: 'stop' })
  }
}

/** When the log of a file is copied. */
export class LogCheckpoints {
  private state: 'growing' | 'working' | 'copied' | 'ended' = 'growing'
  /** Number of pages at which the next checkpoint starts; null if it must be computed. */
  private dueAt: number | null = pagesPerCheckpoint
  private restarted: PromiseWithResolvers<void> | null = null
  private readonly ended = Promise.withResolvers<void>()

  constructor(private readonly order: (kind: 'copy' | 'restart' | 'close') => void) {}

  /**
   * To be called after each commit of the hub.
   * @returns what the next write must wait for; null if it need not wait
   */
  committed(db: Database): Promise<void> | null {
    if (this.state === 'working') return null
    if (this.state === 'ended') {
      db.run(`PRAGMA wal_autocheckpoint=${pagesPerCheckpoint}`)
      return null
    }
    const { log, checkpointed } = db.query('PRAGMA wal_checkpoint(NOOP)').get() as { log: number; checkpointed: number }
    if (this.state === 'copied' && (log - checkpointed <= pagesPerCheckpoint || log >= maxPages)) {
      this.restarted = Promise.withResolvers()
      this.start('restart')
      return this.restarted.promise
    }
    // Also after a copy during which much was written, or that had to stop where another process still reads.
    this.state = 'growing'
    this.dueAt ??= log + pagesPerCheckpoint
    if (log >= this.dueAt) this.start('copy')
    return null
  }

  /** The thread has done what was ordered last. */
  done(hasFailed: boolean): void {
    this.state = this.restarted || hasFailed ? 'growing' : 'copied'
    this.dueAt = null
    this.resume()
  }

  /** Closes the connections of the thread, so that the file can be renamed. */
  async close(): Promise<void> {
    if (this.state !== 'ended') this.order('close')
    await this.ended.promise
  }

  /** The thread has no connections any longer. */
  end(): void {
    this.state = 'ended'
    this.ended.resolve()
    this.resume()
  }

  private start(kind: 'copy' | 'restart'): void {
    this.state = 'working'
    this.order(kind)
  }

  private resume(): void {
    this.restarted?.resolve()
    this.restarted = null
  }
}
