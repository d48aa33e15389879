import type { CheckResult } from '../../../checks/check'
import type { Hub } from '../../../core/hub'
import { newUuid4 } from '../../../core/ids'

interface Asked {
  waiting: Set<string>
  results: CheckResult[]
  done(): void
}

// What a notification of PostgreSQL may carry at most is 8,000 octets (NOTIFY); names of many octets take more than they look.
const longestAnnouncement = 7_000
const channel = 'bailiwick_checks'

type Announced =
  | { from: string; kind: 'run'; nonce: string; monitors: string[] }
  | { from: string; kind: 'result'; nonce: string; result: CheckResult }

/** Runs that somebody asked for by name and waits for, whichever hub has the monitors. */
export class Runs {
  private readonly asked = new Map<string, Asked>()
  private readonly ofOthers = new Map<string, number>()

  /** @param run lets the engine run those that this hub has, and returns which ones those are */
  constructor(
    private readonly hub: Hub,
    private readonly run: (monitors: readonly string[], nonce: string) => readonly string[],
  ) {}

  /** Hears what other hubs ask for. */
  async listen(): Promise<void> {
    await this.hub.store.listen(channel, text => this.heard(JSON.parse(text) as Announced))
  }

  /** Results of the runs that ended in time, in the order in which they did. */
  async now(monitors: readonly string[], waitMs: number): Promise<CheckResult[]> {
    const nonce = newUuid4()
    const { promise, resolve: done } = Promise.withResolvers<void>()
    const asked: Asked = { waiting: new Set(monitors), results: [], done }
    this.asked.set(nonce, asked)
    const timer = this.hub.clock.after(waitMs, done)
    try {
      await this.begin(monitors, nonce)
      if (asked.waiting.size > 0 && waitMs > 0) await promise
      return asked.results
    } finally {
      timer.cancel()
      this.asked.delete(nonce)
    }
  }

  /** The same without waiting: the results come as all others do. */
  ask(monitors: readonly string[]): void {
    if (monitors.length > 0) void this.begin(monitors, newUuid4())
  }

  /** Takes a result that carries a nonce. */
  ended(result: CheckResult): void {
    const nonce = result.nonce!
    const asked = this.asked.get(nonce)
    if (asked) this.settle(asked, result)
    else if (this.ofOthers.has(nonce)) {
      const left = this.ofOthers.get(nonce)! - 1
      if (left > 0) this.ofOthers.set(nonce, left)
      else this.ofOthers.delete(nonce)
      void this.announce({ from: this.hub.id, kind: 'result', nonce, result: { ...result, evidence: null } })
    }
  }

  private async begin(monitors: readonly string[], nonce: string): Promise<void> {
    const own = new Set(this.run(monitors, nonce))
    const others = monitors.filter(id => !own.has(id))
    for (let at = 0; at < others.length; at += 100)
      await this.announce({ from: this.hub.id, kind: 'run', nonce, monitors: others.slice(at, at + 100) })
  }

  private settle(asked: Asked, result: CheckResult): void {
    if (!asked.waiting.delete(result.monitor)) return
    asked.results.push(result)
    if (asked.waiting.size === 0) asked.done()
  }

  private heard(told: Announced): void {
    if (told.from === this.hub.id) return
    if (told.kind === 'result') {
      const asked = this.asked.get(told.nonce)
      if (asked) this.settle(asked, told.result)
      return
    }
    const own = this.run(told.monitors, told.nonce)
    if (own.length === 0) return
    // An engine may lose a run with its thread: what nobody waits for any more goes with the next one.
    if (this.ofOthers.size >= 1_000) this.ofOthers.delete(this.ofOthers.keys().next().value!)
    this.ofOthers.set(told.nonce, own.length)
  }

  private async announce(told: Announced): Promise<void> {
    try {
      let text = JSON.stringify(told)
      if (told.kind === 'result' && Buffer.byteLength(text) > longestAnnouncement)
        text = JSON.stringify({ ...told, result: { ...told.result, certificate: null, conditions: [] } })
      await this.hub.store.announce(channel, text)
    } catch (error) {
      this.hub.log.warn({ err: error }, 'a check that another hub has was not asked for')
    }
  }
}
