import { edenGC, fullGC } from 'bun:jsc'

/**
 * Collects the garbage of a thread that makes much of it, evenly. Left to itself the runtime lets as much lie about as there is in use,
 * and looks once in half a minute where what it has allocated seems to stay the same.
 */
export class Garbage {
  private youngAt = performance.now()
  private allAt = performance.now()

  /** @param each how often that is collected which came since (`youngMs`), and all of it (`allMs`), which takes a millisecond a megabyte */
  constructor(private readonly each: { youngMs: number; allMs: number }) {}

  /** Call it often; it does what has become due. */
  collect(): void {
    const now = performance.now()
    if (now - this.allAt >= this.each.allMs) {
      this.allAt = this.youngAt = now
      fullGC()
    } else if (now - this.youngAt >= this.each.youngMs) {
      this.youngAt = now
      edenGC()
    }
  }
}
