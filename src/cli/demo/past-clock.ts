import type { Clock } from '../../core/clock'

/**
 * A time that is gone, moved on by hand. What is due at once is called; what is due later is not: whoever lives in the past looks
 * again when it is that late.
 */
export class PastClock implements Clock {
  constructor(private time: number) {}

  now = (): number => this.time

  /** @param to ms UTC; a time before is not gone back to */
  moveTo(to: number): void {
    this.time = Math.max(this.time, to)
  }

  after(ms: number, fn: () => void) {
    let cancelled = ms > 0
    queueMicrotask(() => {
      if (!cancelled) fn()
    })
    return { cancel: () => void (cancelled = true) }
  }
}
