// Upper bounds of the buckets in milliseconds: by 1 up to 100, by 10 up to a second, by 100 up to 10 seconds.
const bounds = [
  ...Array.from({ length: 100 }, (_, n) => n + 1),
  ...Array.from({ length: 90 }, (_, n) => 110 + n * 10),
  ...Array.from({ length: 90 }, (_, n) => 1100 + n * 100),
  Infinity,
]
const windowSeconds = 60

/** A histogram of the durations of the last minute. The cost of a percentile does not depend on their number. */
export class RollingHistogram {
  readonly #seconds = Array.from({ length: windowSeconds }, () => new Uint32Array(bounds.length))
  readonly #max = new Float64Array(windowSeconds)
  readonly #sum = new Float64Array(bounds.length)
  #at = 0
  #count = 0

  /** @param ms not negative */
  add(ms: number): void {
    const bucket = bucketOf(ms)
    this.#seconds[this.#at]![bucket]!++
    this.#sum[bucket]!++
    this.#count++
    this.#max[this.#at] = Math.max(this.#max[this.#at]!, ms)
  }

  /** Must be called every second: drops what is a minute old. */
  advance(): void {
    this.#at = (this.#at + 1) % windowSeconds
    const oldest = this.#seconds[this.#at]!
    for (let bucket = 0; bucket < oldest.length; bucket++) {
      this.#sum[bucket]! -= oldest[bucket]!
      this.#count -= oldest[bucket]!
    }
    oldest.fill(0)
    this.#max[this.#at] = 0
  }

  /** The duration that this fraction (0 to 1) does not exceed, rounded up to the bound of its bucket; 0 if there are none. */
  percentile(fraction: number): number {
    let left = Math.ceil(this.#count * fraction)
    if (left === 0) return 0
    for (let bucket = 0; bucket < bounds.length - 1; bucket++) {
      left -= this.#sum[bucket]!
      if (left <= 0) return Math.min(bounds[bucket]!, this.max)
    }
    return this.max
  }

  get max(): number {
    return Math.max(...this.#max)
  }
}

function bucketOf(ms: number): number {
  if (ms < 100) return Math.floor(ms)
  if (ms < 1000) return 90 + Math.floor(ms / 10)
  if (ms < 10_000) return 180 + Math.floor(ms / 100)
  return bounds.length - 1
}
