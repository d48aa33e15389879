import { createHistogram } from 'node:perf_hooks'

const periodMs = 25
const windowSeconds = 60

/**
 * How long the event loop of this process was blocked at a time, over the last minute. A timer measures by how much it fires late.
 * Blocks shorter than its period may be missed.
 */
class LoopBlocks {
  /** How late the timer fired each time, in nanoseconds, since the histogram was reset. */
  readonly lag = createHistogram()
  /** The longest block of each second, in milliseconds. */
  readonly #longest = new Float64Array(windowSeconds)
  #second = 0
  #timer: ReturnType<typeof setInterval> | null = null

  /** Starts measuring, unless it has been started before. The timer doesn't keep the process alive. */
  start(): void {
    if (this.#timer) return
    let firedAt = performance.now()
    this.#second = Math.floor(firedAt / 1000)
    this.#timer = setInterval(() => {
      const now = performance.now()
      this.#add(Math.max(now - firedAt - periodMs, 0), Math.floor(now / 1000))
      firedAt = now
    }, periodMs)
    this.#timer.unref()
  }

  /** The longest block of the last minute, in milliseconds. */
  get max(): number {
    return Math.max(...this.#longest)
  }

  #add(ms: number, second: number): void {
    this.lag.record(Math.max(Math.round(ms * 1e6), 1))
    // Seconds without a tick were part of this block.
    if (second - this.#second >= windowSeconds) this.#longest.fill(0)
    else for (let passed = this.#second + 1; passed <= second; passed++) this.#longest[passed % windowSeconds] = 0
    this.#second = second
    this.#longest[second % windowSeconds] = Math.max(this.#longest[second % windowSeconds]!, ms)
  }
}

/** One for the process, because all its hubs share the event loop. */
export const loopBlocks = new LoopBlocks()
