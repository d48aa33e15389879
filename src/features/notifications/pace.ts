/** Seconds between the tries of a message: the first at once, the last 2 h 42 min 40 s after it. */
const retrySeconds = [10, 30, 120, 600, 1_800, 7_200] as const

/** How long after it was due a message is given up at the next failure, in milliseconds. */
export const tryForMs = retrySeconds.reduce((sum, seconds) => sum + seconds, 0) * 1_000

// However long a channel fails, what is new is tried this soon after the last try.
const longestForNewsMs = 600_000

/**
 * Milliseconds after failure number `failures` in a row (1 is the first) until a channel is tried again: longer by up to a tenth, so
 * that what failed together does not return together.
 * @param random from 0 up to 1, as `Math.random` gives
 */
export const retryPause = (failures: number, random: number): number =>
  Math.round(retrySeconds[Math.min(failures, retrySeconds.length) - 1]! * 1_000 * (1 + random / 10))

/** What of a channel says when it may be tried. All times are ms UTC. */
export interface Pace {
  paceMs: number
  groupSeconds: number
  failuresInARow: number
  lastTriedAt: number | null
  lastSentAt: number | null
  retryAt: number | null
  notBefore: number | null
}

/**
 * When a channel is to be tried next for what waits (ms UTC); null when nothing waits. Once it is, all that is due goes along.
 * @param waiting when each is due, and whether it was tried before
 */
export function nextTryAt(
  channel: Pace,
  waiting: readonly { dueAt: number; attemptCount: number }[],
  now: number,
): number | null {
  if (waiting.length === 0) return null
  const { retryAt, notBefore, failuresInARow } = channel
  // Of a clock that was set back since: it holds up nobody.
  const past = (at: number | null) => (at === null || at > now ? 0 : at)
  const tried = past(channel.lastTriedAt)
  const news =
    failuresInARow > 0 && retryAt !== null
      ? Math.min(retryAt, tried + longestForNewsMs)
      : past(channel.lastSentAt) + channel.groupSeconds * 1_000
  const each = waiting.map(one => Math.max(one.dueAt, one.attemptCount > 0 ? (retryAt ?? 0) : news))
  return Math.max(Math.min(...each), notBefore ?? 0, tried + channel.paceMs)
}

/** When a message that is told now is due (ms UTC): a moment later, so that what is told together goes together. */
export const dueAt = (groupSeconds: number, now: number): number => now + Math.min(groupSeconds, 1) * 1_000
