/** A pending call that can be canceled. */
export interface Timer {
  cancel(): void
}

/** The source of time: the system clock in production, a manual clock in tests. All other code uses this instead of Date. */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC. */
  now(): number
  /** Calls `fn` once, `ms` milliseconds from now. Supports delays longer than 24 days. */
  after(ms: number, fn: () => void): Timer
}

// setTimeout stores milliseconds in a signed 32-bit integer; a longer delay would fire immediately.
const maxDelayMs = 2 ** 31 - 1

/** The system clock. Its timers don't keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, fn) {
    let handle: ReturnType<typeof setTimeout>
    const arm = (left: number) => {
      handle = setTimeout(() => (left > maxDelayMs ? arm(left - maxDelayMs) : fn()), Math.min(Math.max(left, 0), maxDelayMs))
      handle.unref?.()
    }
    arm(ms)
    return { cancel: () => clearTimeout(handle) }
  },
}

/** RFC 3339 in UTC with milliseconds, as in all `_at` fields. Null stays null. */
export function instant(ms: number): string
export function instant(ms: number | null): string | null
export function instant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

/** Formats a time for messages: `2026-11-27 04:43 UTC`. */
export const formatUtcMinute = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** Formats a time to the second for messages: `2026-11-27 04:43:10 UTC`. Null stays null. */
export function formatUtcSecond(ms: number): string
export function formatUtcSecond(ms: number | null): string | null
export function formatUtcSecond(ms: number | null): string | null {
  return ms === null ? null : `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
