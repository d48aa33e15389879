import type { CheckResult } from '../../../checks/check'
import type { Hub } from '../../../core/hub'
import { newUuid4 } from '../../../core/ids'

interface PendingRun {
  waiting: Set<string>
  results: CheckResult[]
  done(): void
}

// The payload of NOTIFY in PostgreSQL is limited to 8,000 bytes.
const maxAnnouncementBytes = 7_000
const channel = 'bailiwick_checks'

type Announcement =
  | { from: string; kind: 'run'; nonce: string; monitors: string[] }
  | { from: string; kind: 'result'; nonce: string; monitor: string; result: CheckResult | null }

/** Immediate checks on request, on whichever hub runs the monitors. */
export class Runs {
  private readonly pending = new Map<string, PendingRun>()
  private readonly ofOthers = new Map<string, number>()

  /** @param run starts checks of the monitors this hub runs, and returns which those are */
  constructor(
    private readonly hub: Hub,
    private readonly run: (monitors: readonly string[], nonce: string) => readonly string[],
  ) {}

  /** Starts listening for requests from other hubs. */
  async listen(): Promise<void> {
    await this.hub.store.listen(channel, text => this.receive(JSON.parse(text) as Announcement))
  }

  /** Runs checks and returns the results that arrive in time, in order of completion. */
  async runAndWait(monitors: readonly string[], waitMs: number): Promise<CheckResult[]> {
    const nonce = newUuid4()
    const { promise, resolve: done } = Promise.withResolvers<void>()
    const pending: PendingRun = { waiting: new Set(monitors), results: [], done }
    this.pending.set(nonce, pending)
    const timer = this.hub.clock.after(waitMs, done)
    try {
      await this.begin(monitors, nonce)
      if (pending.waiting.size > 0 && waitMs > 0) await promise
      return pending.results
    } finally {
      timer.cancel()
      this.pending.delete(nonce)
    }
  }

  /** Runs checks without waiting. The results arrive like those of scheduled checks. */
  request(monitors: readonly string[]): void {
    if (monitors.length > 0) void this.begin(monitors, newUuid4())
  }

  /** Handles the result of a request. @param result null if there is none to wait for */
  finished(nonce: string, monitor: string, result: CheckResult | null): void {
    const pending = this.pending.get(nonce)
    if (pending) this.settle(pending, monitor, result)
    else if (this.ofOthers.has(nonce)) {
      const left = this.ofOthers.get(nonce)! - 1
      if (left > 0) this.ofOthers.set(nonce, left)
      else this.ofOthers.delete(nonce)
      void this.announce({ from: this.hub.id, kind: 'result', nonce, monitor, result: result && { ...result, evidence: null } })
    }
  }

  private async begin(monitors: readonly string[], nonce: string): Promise<void> {
    const own = new Set(this.run(monitors, nonce))
    const others = monitors.filter(id => !own.has(id))
    for (let at = 0; at < others.length; at += 100)
      await this.announce({ from: this.hub.id, kind: 'run', nonce, monitors: others.slice(at, at + 100) })
  }

  private settle(pending: PendingRun, monitor: string, result: CheckResult | null): void {
    if (!pending.waiting.delete(monitor)) return
    if (result) pending.results.push(result)
    if (pending.waiting.size === 0) pending.done()
  }

  private receive(message: Announcement): void {
    if (message.from === this.hub.id) return
    if (message.kind === 'result') {
      const pending = this.pending.get(message.nonce)
      if (pending) this.settle(pending, message.monitor, message.result)
      return
    }
    const own = this.run(message.monitors, message.nonce)
    if (own.length === 0) return
    // Runs can get lost with a worker thread, so bound the map by dropping the oldest.
    if (this.ofOthers.size >= 1_000) this.ofOthers.delete(this.ofOthers.keys().next().value!)
    this.ofOthers.set(message.nonce, own.length)
  }

  private async announce(message: Announcement): Promise<void> {
    try {
      let text = JSON.stringify(message)
      if (message.kind === 'result' && message.result && Buffer.byteLength(text) > maxAnnouncementBytes)
        text = JSON.stringify({ ...message, result: { ...message.result, certificate: null, conditions: [] } })
      await this.hub.store.notify(channel, text)
    } catch (error) {
      this.hub.log.warn({ err: error }, 'could not request a check from another hub')
    }
  }
}
