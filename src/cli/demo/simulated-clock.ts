import type { Clock } from '../../core/clock'

/**
 * A clock that is advanced manually. Timers without delay run immediately. Other timers never fire: the simulation runs what is
 * due each time it advances the clock.
 */
export class SimulatedClock implements Clock {
  constructor(private time: number) {}

  now = (): number => this.time

  /** @param to ms UTC, rounded; an earlier time is ignored */
  advanceTo(to: number): void {
    this.time = Math.max(this.time, Math.round(to))
  }

  after(ms: number, fn: () => void) {
    let canceled = ms > 0
    queueMicrotask(() => {
      if (!canceled) fn()
    })
    return { cancel: () => void (canceled = true) }
  }
}
