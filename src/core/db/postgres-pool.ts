import { SQL } from 'bun'
import type { Outage } from './outage'

// A server that can be reached answers much faster.
const connectSeconds = 5
const probeSeconds = 3
const stallMs = 4_000
const checkEachMs = 1_000

/**
 * The connections to PostgreSQL. If the server stops answering without closing them, as in a network failure, queries on them would
 * wait for many minutes. They then fail, and new connections replace the old ones.
 */
export class PostgresPool {
  private sql: SQL
  private readonly listeners = new Map<string, Set<(payload: string) => void>>()
  /** The channels subscribed with the current connections. */
  private subscribed = new Set<string>()
  private readonly timer: ReturnType<typeof setInterval>
  private isChecking = false
  private replacedAt = 0

  constructor(
    private readonly url: string,
    private readonly connections: number,
    private readonly outage: Outage,
    private readonly options: { prepare?: boolean } = {},
  ) {
    this.sql = this.connect()
    // An error is not fatal: the next check tries again.
    this.timer = setInterval(() => void this.check().catch(() => {}), checkEachMs)
    this.timer.unref()
  }

  unsafe(query: string, values?: unknown[]) {
    return this.sql.unsafe(query, values as never)
  }

  begin: SQL['begin'] = (...args: unknown[]) => (this.sql.begin as (...args: unknown[]) => never)(...args)

  async listen(channel: string, onMessage: (payload: string) => void): Promise<void> {
    this.listeners.set(channel, (this.listeners.get(channel) ?? new Set()).add(onMessage))
    if (!this.subscribed.has(channel)) await this.subscribe(channel)
  }

  /** Subscribes to all channels right after an outage. On its own, Bun waits up to 30 s. */
  listenAgain(): void {
    for (const channel of this.listeners.keys()) void this.subscribe(channel).catch(() => {})
  }

  async close(): Promise<void> {
    clearInterval(this.timer)
    await this.sql.close({ timeout: 5 })
  }

  private connect(): SQL {
    return new SQL(this.url, { ...this.options, max: this.connections, connectionTimeout: connectSeconds })
  }

  private async subscribe(channel: string): Promise<void> {
    if (!this.subscribed.has(channel)) {
      this.subscribed.add(channel)
      try {
        await this.sql.listen(channel, payload => this.listeners.get(channel)!.forEach(listener => listener(payload)))
      } catch (error) {
        this.subscribed.delete(channel)
        throw error
      }
      return
    }
    // Another listener makes Bun subscribe again immediately.
    const another = await this.sql.listen(channel, () => {})
    await another.unlisten()
  }

  private async check(): Promise<void> {
    if (this.isChecking || performance.now() - this.replacedAt < stallMs || this.outage.stalledMs() < stallMs) return
    this.isChecking = true
    try {
      if (await this.answers()) return
      const old = this.sql
      this.sql = this.connect()
      this.subscribed = new Set()
      this.replacedAt = performance.now()
      await old.close({ timeout: 0 })
    } finally {
      this.isChecking = false
    }
  }

  /** Whether the server answers on a new connection, even if only with an error. */
  private async answers(): Promise<boolean> {
    const probe = new SQL(this.url, { max: 1, connectionTimeout: probeSeconds })
    try {
      return await Promise.race([probe`select 1`.then(() => true), Bun.sleep(2 * probeSeconds * 1000).then(() => false)])
    } catch (error) {
      return (error as { errno?: string }).errno !== undefined
    } finally {
      await probe.close({ timeout: 0 })
    }
  }
}
