/** What a wheel holds. `tick` is where, and null outside of it; only the wheel writes it. */
export interface Ticked {
  tick: number | null
}

// Six and a half minutes of tenths of a second. What is due later shares a slot with what is due sooner, and is passed by.
const slotCount = 4096

/** A hashed timer wheel (Varghese and Lauck, 1987): putting in, taking out and moving cost the same however much it holds. */
export class Wheel<T extends Ticked> {
  readonly #slots: (Set<T> | undefined)[] = Array.from({ length: slotCount })

  /** Puts it at a tick, a whole number; what was at another is moved. */
  put(one: T, tick: number): void {
    this.drop(one)
    one.tick = tick
    const slot = (this.#slots[tick % slotCount] ??= new Set())
    slot.add(one)
  }

  drop(one: T): void {
    if (one.tick === null) return
    this.#slots[one.tick % slotCount]?.delete(one)
    one.tick = null
  }

  /** Takes out all that is due after a tick and up to another, the longest due first. */
  take(after: number, upTo: number): T[] {
    const due: T[] = []
    // After a long sleep once round is enough.
    const from = Math.max(after + 1, upTo - slotCount + 1)
    for (let tick = from; tick <= upTo; tick++) {
      const slot = this.#slots[tick % slotCount]
      if (slot) for (const one of slot) if (one.tick! <= upTo) due.push(one)
    }
    if (from !== after + 1) due.sort((a, b) => a.tick! - b.tick!)
    return due
  }
}
