import { createHistogram } from 'node:perf_hooks'

const periodMs = 25
const idlePeriodMs = 1000
const windowSeconds = 60
const moreWorkMs = 2000

/**
 * How long the event loop of this process was blocked at a time, over the last minute. A timer measures by how much it fires late.
 * Blocks shorter than its period may be missed. While no work is expected, it fires only once a second: waking up an idle process
 * 40 times a second would take more CPU time than everything else that it does.
 */
class LoopBlocks {
  /** How late the timer fired each time, in nanoseconds, since the histogram was reset. */
  readonly lag = createHistogram()
  /** The longest block of each second, in milliseconds. */
  readonly #longest = new Float64Array(windowSeconds)
  #second = 0
  #timer: ReturnType<typeof setTimeout> | null = null
  #dueAt = 0
  #isIdle = false
  #busyUntil = 0
  /** Number of pieces of work in progress. */
  #running = 0

  /** Starts measuring, unless it has been started before. The timer doesn't keep the process alive. */
  start(): void {
    if (this.#timer) return
    const now = performance.now()
    this.#second = Math.floor(now / 1000)
    this.#arm(now, periodMs)
  }

  /** To be called when work starts. Cheap, so call it often. */
  expectWork(): void {
    if (!this.#isIdle) return
    clearTimeout(this.#timer!)
    // How long the work takes is measured by the timer that is set now.
    this.#fire(performance.now(), periodMs)
  }

  /** Like `expectWork`, for work that may continue within the next seconds, such as when another server responds. */
  expectMoreWork(now = performance.now()): void {
    this.#busyUntil = now + moreWorkMs
    this.expectWork()
  }

  /** Like `expectWork`, for work that may continue until the returned function is called. */
  expectWorkUntilCalled(): () => void {
    this.#running++
    this.expectWork()
    return () => {
      this.#running--
    }
  }

  /** The longest block of the last minute, in milliseconds. */
  get max(): number {
    return Math.max(...this.#longest)
  }

  #arm(now: number, period: number): void {
    this.#isIdle = period === idlePeriodMs
    this.#dueAt = now + period
    this.#timer = setTimeout(() => {
      const firedAt = performance.now()
      this.#fire(firedAt, this.#running > 0 || firedAt < this.#busyUntil ? periodMs : idlePeriodMs)
    }, period)
    this.#timer.unref()
  }

  #fire(now: number, nextPeriod: number): void {
    this.#add(Math.max(now - this.#dueAt, 0), Math.floor(now / 1000))
    this.#arm(now, nextPeriod)
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
