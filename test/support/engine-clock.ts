import type { EngineClock } from '../../src/checks/engine/clock'
import { ManualClock } from './manual-clock'

const stepMs = 25

/** Time of an engine, moved by hand; the time of day can be set apart from it. */
export class HandClock implements EngineClock {
  readonly #inner: ManualClock
  #ahead = 0

  constructor(start = Date.parse('2026-11-21T10:00:00.000Z')) {
    this.#inner = new ManualClock(start)
  }

  now = (): number => this.#inner.now() + this.#ahead

  /** From another start than the epoch. */
  monotonic = (): number => this.#inner.now() - 1_700_000_000_000

  after(ms: number, fn: () => void) {
    return this.#inner.after(ms, fn)
  }

  /** Sets the time of day forward, or back; no time passes. */
  set(aheadMs: number): void {
    this.#ahead += aheadMs
  }

  /** As if the program had stood still: time passes, and what fell due fires late. */
  block(ms: number): void {
    this.#inner.jump(ms)
    this.#inner.advance(0)
  }

  /** Time passes in small steps, and all that waits for promises has its turn at each. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      this.#inner.advance(Math.min(stepMs, left))
      await new Promise<void>(resolve => setImmediate(resolve))
    }
  }
}
