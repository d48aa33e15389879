import type { Timer } from '../../core/clock'
import type { Hub } from '../../core/hub'

/** One timer, set to the earliest of the times it was told. */
export class Alarm {
  private timer: Timer | null = null
  private at = Infinity
  constructor(
    private readonly hub: Hub,
    private readonly ring: () => void,
  ) {
    alarms.set(hub, this)
  }

  /** Rings no later than `at` (ms UTC). */
  set(at: number): void {
    if (at >= this.at) return
    this.timer?.cancel()
    this.at = at
    this.timer = this.hub.clock.after(Math.max(0, at - this.hub.clock.now()), () => {
      this.timer = null
      this.at = Infinity
      this.ring()
    })
  }

  off(): void {
    this.timer?.cancel()
    alarms.delete(this.hub)
  }
}

const alarms = new WeakMap<Hub, Alarm>()

/** Tells the alarm of this process that something is due at `downAt` (ms UTC), or that nothing is (null). */
export function dueChanged(hub: Hub, downAt: number | null): void {
  if (downAt !== null) alarms.get(hub)?.set(downAt)
}
