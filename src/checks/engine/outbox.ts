import type { Timer } from '../../core/clock'
import type { CheckResult } from '../check'
import type { EngineClock } from './clock'

const collectMs = 250

/** Batches results for the hub: sent after 250 ms, or at the end of this turn of the event loop if one is urgent. */
export class Outbox {
  #results: CheckResult[] = []
  #timer: { timer: Timer; urgent: boolean } | null = null

  constructor(
    private readonly clock: Pick<EngineClock, 'after'>,
    private readonly send: (results: CheckResult[]) => void,
  ) {}

  add(result: CheckResult, urgent: boolean): void {
    this.#results.push(result)
    if (this.#timer && (this.#timer.urgent || !urgent)) return
    this.#timer?.timer.cancel()
    this.#timer = { timer: this.clock.after(urgent ? 0 : collectMs, () => this.flush()), urgent }
  }

  flush(): void {
    this.#timer?.timer.cancel()
    this.#timer = null
    if (this.#results.length === 0) return
    const results = this.#results
    this.#results = []
    this.send(results)
  }
}
