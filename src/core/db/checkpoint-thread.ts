import { Database } from 'bun:sqlite'

/**
 * What the thread is asked to do with the write-ahead log of a SQLite file: `copy` what it contains to the file while others write,
 * copy the rest and `restart` it from its beginning, during which the hub must not write, or `close` it.
 */
export type CheckpointOrder = { kind: 'copy' | 'restart' | 'close'; file: string } | { kind: 'stop' }

/** @property problem why it failed, or null */
export type CheckpointReply =
  { kind: 'done'; file: string; problem: string | null } | { kind: 'closed'; file: string } | { kind: 'stopped' }

declare const self: { onmessage: (event: MessageEvent<CheckpointOrder>) => void; postMessage(reply: CheckpointReply): void }

/** Runs in a worker thread, because a checkpoint waits for the disk several times. */
export function runCheckpoints(): void {
  const logs = new Map<string, Log>()
  self.onmessage = ({ data: order }) => {
    if (order.kind === 'stop') {
      for (const log of logs.values()) log.close()
      self.postMessage({ kind: 'stopped' })
      return
    }
    const { file } = order
    if (order.kind === 'close') {
      logs.get(file)?.close()
      logs.delete(file)
      self.postMessage({ kind: 'closed', file })
      return
    }
    let problem: string | null = null
    try {
      if (!logs.has(file)) logs.set(file, new Log(file))
      logs.get(file)![order.kind]()
    } catch (error) {
      problem = (error as Error).message
    }
    self.postMessage({ kind: 'done', file, problem })
  }
}

/** How long restarting may wait for readers, such as backups. Meanwhile, the hub doesn’t write. */
const readersMs = 50
/** Logs that have grown larger, for example during a backup, are truncated. */
const maxBytes = 64 * 1024 * 1024

class Log {
  private readonly db: Database
  private readonly pin: Database

  constructor(file: string) {
    this.db = new Database(file, { readwrite: true, create: false, strict: true })
    this.pin = new Database(file, { readonly: true, strict: true })
    for (const pragma of [`busy_timeout=${readersMs}`, 'wal_autocheckpoint=0', `journal_size_limit=${maxBytes}`])
      this.db.run(`PRAGMA ${pragma}`)
  }

  copy(): void {
    this.hold()
    this.db.run('PRAGMA wal_checkpoint(PASSIVE)')
  }

  restart(): void {
    this.release()
    try {
      const { busy } = this.db.query('PRAGMA wal_checkpoint(RESTART)').get() as { busy: number }
      // The first write restarts the log, and SQLite then waits until its new header is on disk. Write something here, so that the
      // hub doesn’t wait.
      if (busy === 0) this.rewriteVersion()
    } finally {
      this.hold()
    }
  }

  close(): void {
    this.release()
    this.pin.close()
    this.db.close()
  }

  /**
   * Starts reading the current end of the log. A log that is being read is never restarted, even when all of it was copied: not by
   * the next commit of the hub, either.
   */
  private hold(): void {
    this.release()
    this.pin.run('BEGIN')
    this.pin.query('select 1 from sqlite_master').get()
  }

  private release(): void {
    if (this.pin.inTransaction) this.pin.run('COMMIT')
  }

  private rewriteVersion(): void {
    const { user_version: version } = this.db.query('PRAGMA user_version').get() as { user_version: number }
    this.db.run(`PRAGMA user_version=${version}`)
  }
}
