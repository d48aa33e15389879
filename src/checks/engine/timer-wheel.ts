/** An entry of a timer wheel. `tick` is its position, null while it is not scheduled; only the wheel writes it. */
export interface WheelEntry {
  tick: number | null
}

// About seven minutes of 100 ms ticks. Later entries share slots with earlier ones and are skipped until due.
const slotCount = 4096

/** A hashed timer wheel (Varghese and Lauck, 1987): scheduling, removing and moving take constant time. */
export class TimerWheel<T extends WheelEntry> {
  readonly #slots: (Set<T> | undefined)[] = Array.from({ length: slotCount })

  /** Schedules an entry at a tick (a whole number), or moves it there. */
  schedule(entry: T, tick: number): void {
    this.remove(entry)
    entry.tick = tick
    const slot = (this.#slots[tick % slotCount] ??= new Set())
    slot.add(entry)
  }

  remove(entry: T): void {
    if (entry.tick === null) return
    this.#slots[entry.tick % slotCount]?.delete(entry)
    entry.tick = null
  }

  /** Returns everything due after one tick and up to another, earliest first. */
  take(after: number, upTo: number): T[] {
    const due: T[] = []
    // After a long sleep, one rotation is enough.
    const from = Math.max(after + 1, upTo - slotCount + 1)
    for (let tick = from; tick <= upTo; tick++) {
      const slot = this.#slots[tick % slotCount]
      if (slot) for (const entry of slot) if (entry.tick! <= upTo) due.push(entry)
    }
    if (from !== after + 1) due.sort((a, b) => a.tick! - b.tick!)
    return due
  }
}
