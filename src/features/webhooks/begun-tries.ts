/** Tries by the second in which they began: [seconds since 1970, how many], ascending. */
export type Begun = [second: number, count: number][]

const windowMs = 60_000

/** When the last try of a second has left the window (ms UTC). */
const leavesAt = (second: number): number => (second + 1) * 1_000 + windowMs

/** The tries that count at `now` (ms UTC): all that began in the minute before, and what else began in its first second. */
export const stillCounted = (begun: Begun, now: number): Begun => begun.filter(([second]) => leavesAt(second) > now)

/** How many there are. */
export const sumOf = (begun: Begun): number => begun.reduce((sum, [, count]) => sum + count, 0)

/** Adds tries that begin at `now` (ms UTC), and leaves out what counts no more. */
export function withMore(begun: Begun, count: number, now: number): Begun {
  const counted = stillCounted(begun, now)
  const last = counted.at(-1)
  // Never before the last: another hub's clock may be ahead.
  const second = Math.max(Math.floor(now / 1_000), last?.[0] ?? 0)
  if (last?.[0] !== second) return [...counted, [second, count]]
  return [...counted.slice(0, -1), [second, last[1] + count]]
}

/** How many more may begin at `now` (ms UTC) so that no minute sees more than `perMinute`; where none may, when the next one may. */
export function leftOf(begun: Begun, perMinute: number, now: number): { left: number; until: number } {
  const counted = stillCounted(begun, now)
  let used = sumOf(counted)
  if (used < perMinute) return { left: perMinute - used, until: now }
  for (const [second, count] of counted) {
    used -= count
    if (used < perMinute) return { left: 0, until: leavesAt(second) }
  }
  // A limit of none at all: it may be raised.
  return { left: 0, until: now + windowMs }
}

/** When none of them counts any more (ms UTC). */
export const allLeftAt = (begun: Begun): number | undefined => {
  const last = begun.at(-1)
  return last && leavesAt(last[0])
}
