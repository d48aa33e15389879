import type { Clock } from '../../src/core/clock'

/** Time moved by hand. Timers fire in order when `advance` passes them. */
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

  /** Moves time on by `ms`, firing what falls due on the way. */
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

  /** Moves time on by `ms` without firing anything: what falls due meanwhile fires late. */
  jump(ms: number): void {
    this.time += ms
  }

  /** Is set forward or back by `ms`, as by hand: what waits goes on waiting for as long as before. */
  set(ms: number): void {
    this.time += ms
    for (const timer of this.timers) timer.at += ms
  }
}
