import { open, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A flush failed: what was committed since the last one may be lost in a power failure, although it can be read. */
class FlushFailed extends Error {
  override name = 'FlushFailed'
}

/**
 * Flushes the write-ahead log of a SQLite file to disk in the thread pool, so that the event loop doesn’t wait for the disk. A
 * connection must be open all the time, because SQLite deletes the log when the last one is closed.
 */
export class LogFlush {
  private handle: FileHandle | null = null
  private last: Promise<void> = Promise.resolve()
  private next: Promise<void> | null = null

  /** @param file the SQLite file */
  constructor(private readonly file: string) {}

  /**
   * Resolves when everything that was committed before the call is on disk. After a failure, it always rejects: the kernel reports
   * an error only once, and the next flush would succeed without having written anything.
   */
  flush(): Promise<void> {
    // A flush that has already started may miss the last commit.
    return (this.next ??= this.last.then(() => {
      this.next = null
      return (this.last = this.sync())
    }))
  }

  async close(): Promise<void> {
    await this.handle?.close()
  }

  private async sync(): Promise<void> {
    try {
      this.handle ??= await this.open()
      await this.handle.datasync()
    } catch (error) {
      const { message } = error as Error
      throw new FlushFailed(`${this.file}-wal can’t be flushed to disk: ${message}`, { cause: error })
    }
  }

  /** Opens the log, which exists after the first commit, and makes sure that its directory entry is on disk. */
  private async open(): Promise<FileHandle> {
    const handle = await open(`${this.file}-wal`)
    const folder = await open(dirname(this.file))
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
    return handle
  }
}
