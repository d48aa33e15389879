import { edenGC, fullGC } from 'bun:jsc'

/**
 * Collects garbage regularly in a thread that allocates a lot. By default the runtime lets the heap grow to twice the memory in
 * use, and if its size seems stable, it checks only every 30 seconds. Not for the main thread of a hub: the thread is blocked until a
 * collection is done, which takes 100 to 200 ms for a heap of 60 MB. The runtime collects in other threads meanwhile.
 */
export class GarbageCollector {
  private lastYoungAt = performance.now()
  private lastFullAt = performance.now()

  /**
   * @param intervals of collections of young objects and of full collections; the latter take about a millisecond per megabyte
   */
  constructor(private readonly intervals: { youngMs: number; fullMs: number }) {}

  /** Collects if it is time to. Cheap, so call it often. */
  collect(): void {
    const now = performance.now()
    if (now - this.lastFullAt >= this.intervals.fullMs) {
      this.lastFullAt = this.lastYoungAt = now
      fullGC()
    } else if (now - this.lastYoungAt >= this.intervals.youngMs) {
      this.lastYoungAt = now
      edenGC()
    }
  }
}
