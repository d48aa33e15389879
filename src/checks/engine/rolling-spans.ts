// Bounds of steps in milliseconds: by 1 up to 100, by 10 up to a second, by 100 up to 10 seconds.
const bounds = [
  ...Array.from({ length: 100 }, (_, n) => n + 1),
  ...Array.from({ length: 90 }, (_, n) => 110 + n * 10),
  ...Array.from({ length: 90 }, (_, n) => 1100 + n * 100),
  Infinity,
]
const keptSeconds = 60

/** Spans of time of the last minute, kept as counts: what a percentile of them costs does not grow with how many there are. */
export class RollingSpans {
  readonly #seconds = Array.from({ length: keptSeconds }, () => new Uint32Array(bounds.length))
  readonly #longest = new Float64Array(keptSeconds)
  readonly #sum = new Float64Array(bounds.length)
  #at = 0
  #count = 0

  /** @param ms from 0 */
  add(ms: number): void {
    const step = stepOf(ms)
    this.#seconds[this.#at]![step]!++
    this.#sum[step]!++
    this.#count++
    this.#longest[this.#at] = Math.max(this.#longest[this.#at]!, ms)
  }

  /** To be called each second: what came a minute ago is forgotten. */
  turn(): void {
    this.#at = (this.#at + 1) % keptSeconds
    const oldest = this.#seconds[this.#at]!
    for (let step = 0; step < oldest.length; step++) {
      this.#sum[step]! -= oldest[step]!
      this.#count -= oldest[step]!
    }
    oldest.fill(0)
    this.#longest[this.#at] = 0
  }

  /** The span that this part of all (0 to 1) does not exceed, rounded up to the end of its step; 0 where there are none. */
  percentile(part: number): number {
    let left = Math.ceil(this.#count * part)
    if (left === 0) return 0
    for (let step = 0; step < bounds.length - 1; step++) {
      left -= this.#sum[step]!
      if (left <= 0) return Math.min(bounds[step]!, this.longest)
    }
    return this.longest
  }

  get longest(): number {
    return Math.max(...this.#longest)
  }
}

function stepOf(ms: number): number {
  if (ms < 100) return Math.floor(ms)
  if (ms < 1000) return 90 + Math.floor(ms / 10)
  if (ms < 10_000) return 180 + Math.floor(ms / 100)
  return bounds.length - 1
}
