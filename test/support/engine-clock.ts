import type { EngineClock } from '../../src/checks/engine/clock'
import { ManualClock } from './manual-clock'

const stepMs = 25

/** Manually advanced clocks of an engine; wall clock and monotonic time can diverge. */
export class ManualEngineClock implements EngineClock {
  readonly #inner: ManualClock
  #ahead = 0

  constructor(start = Date.parse('2026-11-21T10:00:00.000Z')) {
    this.#inner = new ManualClock(start)
  }

  now = (): number => this.#inner.now() + this.#ahead

  /** From an arbitrary start. */
  monotonic = (): number => this.#inner.now() - 1_700_000_000_000

  after(ms: number, fn: () => void) {
    return this.#inner.after(ms, fn)
  }

  /** Changes the wall clock, forward or back, without time passing. */
  set(aheadMs: number): void {
    this.#ahead += aheadMs
  }

  /** Simulates a blocked event loop: time passes, and due timers fire late. */
  block(ms: number): void {
    this.#inner.jump(ms)
    this.#inner.advance(0)
  }

  /** Advances time in small steps, and lets pending promises run at each. */
  async advance(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      this.#inner.advance(Math.min(stepMs, left))
      await new Promise<void>(resolve => setImmediate(resolve))
    }
  }
}
