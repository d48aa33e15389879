/** Attempts by the second in which they started: [seconds since 1970, count], ascending. */
export type AttemptWindow = [second: number, count: number][]

const windowMs = 60_000

/** When the last attempt of a second leaves the window (ms UTC). */
const leavesAt = (second: number): number => (second + 1) * 1_000 + windowMs

/** The attempts that count at `now` (ms UTC): those of the last minute, rounded up to whole seconds. */
export const inWindow = (window: AttemptWindow, now: number): AttemptWindow => window.filter(([second]) => leavesAt(second) > now)

/** The total number of attempts. */
export const totalOf = (window: AttemptWindow): number => window.reduce((sum, [, count]) => sum + count, 0)

/** Adds attempts that start at `now` (ms UTC), and drops those that have left the window. */
export function addAttempts(window: AttemptWindow, count: number, now: number): AttemptWindow {
  const counted = inWindow(window, now)
  const last = counted.at(-1)
  // Never before the last: another hub's clock may be ahead.
  const second = Math.max(Math.floor(now / 1_000), last?.[0] ?? 0)
  if (last?.[0] !== second) return [...counted, [second, count]]
  return [...counted.slice(0, -1), [second, last[1] + count]]
}

/** How many more attempts may start at `now` (ms UTC) without exceeding `perMinute`; if none, when the next one may start. */
export function remainingIn(window: AttemptWindow, perMinute: number, now: number): { left: number; until: number } {
  const counted = inWindow(window, now)
  let used = totalOf(counted)
  if (used < perMinute) return { left: perMinute - used, until: now }
  for (const [second, count] of counted) {
    used -= count
    if (used < perMinute) return { left: 0, until: leavesAt(second) }
  }
  // The limit is 0. It may be raised.
  return { left: 0, until: now + windowMs }
}

/** When all attempts have left the window (ms UTC). */
export const windowEndsAt = (window: AttemptWindow): number | undefined => {
  const last = window.at(-1)
  return last && leavesAt(last[0])
}
