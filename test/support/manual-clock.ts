import type { Clock } from '../../src/core/clock'

/** A clock that the test controls. `advance` fires timers in order. */
export class ManualClock implements Clock {
  private timers: { at: number; fn: () => void }[] = []
  constructor(private time = Date.parse('2026-11-21T10:00:00.000Z')) {}

  now = (): number => this.time

  after(ms: number, fn: () => void) {
    const timer = { at: this.time + ms, fn }
    this.timers.push(timer)
    return {
      cancel: () => {
        this.timers = this.timers.filter(one => one !== timer)
      },
    }
  }

  /** Advances the clock by `ms` and fires timers that become due. */
  advance(ms: number): void {
    const end = this.time + ms
    for (;;) {
      const due = this.timers.filter(one => one.at <= end).sort((a, b) => a.at - b.at)[0]
      if (!due) break
      this.timers = this.timers.filter(one => one !== due)
      this.time = Math.max(this.time, due.at)
      due.fn()
    }
    this.time = end
  }

  /** Advances the clock by `ms` without firing timers; they fire late. */
  jump(ms: number): void {
    this.time += ms
  }

  /** Sets the clock forward or back by `ms`, like a manual change. Timers keep their remaining time. */
  set(ms: number): void {
    this.time += ms
    for (const timer of this.timers) timer.at += ms
  }
}
