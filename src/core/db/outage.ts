import type { Log } from '../log'
import { loopBlocks } from '../loop-blocks'
import { isUnavailable } from './errors'

// Until then, other connections may still fail.
const settledMs = 1_000
const reminderMs = 60_000

/**
 * Follows from the outcome of queries whether the database can be reached. Logs the start and the end of an outage, and a reminder
 * every minute, instead of each error.
 */
export class Outage {
  private since: number | null = null
  private failedAt = 0
  private loggedAt = 0
  private errors = 0
  private pending = 0
  private progressAt = 0

  /** @param onEnd called when the database can be reached again */
  constructor(
    private readonly log: Log | null,
    private readonly onEnd: () => void,
  ) {}

  /** Runs a query or transaction and takes its outcome into account. */
  async watch<T>(run: () => Promise<T>): Promise<T> {
    this.started()
    try {
      const result = await run()
      this.answered()
      return result
    } catch (error) {
      this.answered(error)
      throw error
    }
  }

  /** A query was sent. */
  started(): void {
    // Rows arrive later, and many of them may block the event loop.
    loopBlocks.expectMoreWork()
    if (this.pending++ === 0) this.progressAt = performance.now()
  }

  /** A query that was sent succeeded, or failed with this error. */
  answered(error?: unknown): void {
    this.pending--
    if (error !== undefined && isUnavailable(error)) return this.failed(error)
    this.progressAt = performance.now()
    if (error === undefined && this.since !== null) this.succeeded()
  }

  /** For how long queries have been waiting while the server answered none; 0 if none are waiting. */
  stalledMs(): number {
    return this.pending > 0 ? performance.now() - this.progressAt : 0
  }

  private failed(error: unknown): void {
    const now = performance.now()
    this.failedAt = now
    this.errors++
    const isNew = this.since === null
    this.since ??= now
    if (!isNew && now - this.loggedAt < reminderMs) return
    this.loggedAt = now
    this.log?.error(
      { reason: (error as Error).message, errors: this.errors },
      isNew ? 'the database is unavailable; retrying' : 'the database is still unavailable; retrying',
    )
  }

  private succeeded(): void {
    const now = performance.now()
    if (now - this.failedAt < settledMs) return
    this.log?.info({ outage_ms: Math.round(now - this.since!), errors: this.errors }, 'the database is available again')
    this.since = null
    this.errors = 0
    this.onEnd()
  }
}
