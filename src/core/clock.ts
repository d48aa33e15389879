/** A pending call that can be called off. */
export interface Timer {
  cancel(): void
}

/** Where time comes from: the machine in production, a hand in tests. Nothing else reads the time of day. */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC. */
  now(): number
  /** Calls `fn` once, `ms` milliseconds from now; a span beyond 24 days is waited for in pieces. */
  after(ms: number, fn: () => void): Timer
}

// setTimeout counts in a signed 32-bit integer of milliseconds; a longer span would fire at once.
const longestTimer = 2 ** 31 - 1

/** The machine's clock. Its timers do not keep a process alive that has nothing else to do. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, fn) {
    let handle: ReturnType<typeof setTimeout>
    const arm = (left: number) => {
      handle = setTimeout(
        () => (left > longestTimer ? arm(left - longestTimer) : fn()),
        Math.min(Math.max(left, 0), longestTimer),
      )
      handle.unref?.()
    }
    arm(ms)
    return { cancel: () => clearTimeout(handle) }
  },
}

/** RFC 3339 in UTC with milliseconds, as every `_at` member shows it; null stays null. */
export function instant(ms: number): string
export function instant(ms: number | null): string | null
export function instant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

/** A time as sentences for people tell it: `2026-11-27 04:43 UTC`. */
export const minuteText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
