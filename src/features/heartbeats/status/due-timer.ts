import type { Timer } from '../../../core/clock'
import type { Hub } from '../../../core/hub'

/** A timer that fires at the earliest time it was set to. */
export class DueTimer {
  private timer: Timer | null = null
  private at = Infinity
  constructor(
    private readonly hub: Hub,
    private readonly onDue: () => void,
  ) {
    dueTimers.set(hub, this)
  }

  /** Fires no later than `at` (ms UTC). */
  set(at: number): void {
    if (at >= this.at) return
    this.timer?.cancel()
    this.at = at
    this.timer = this.hub.clock.after(Math.max(0, at - this.hub.clock.now()), () => {
      this.timer = null
      this.at = Infinity
      this.onDue()
    })
  }

  stop(): void {
    this.timer?.cancel()
    dueTimers.delete(this.hub)
  }
}

const dueTimers = new WeakMap<Hub, DueTimer>()

/** Sets the timer of this process to `downAt` (ms UTC). Null: nothing is due. */
export function scheduleDueCheck(hub: Hub, downAt: number | null): void {
  if (downAt !== null) dueTimers.get(hub)?.set(downAt)
}
