/** Seconds between attempts. The first attempt is immediate, the last 2 h 42 min 40 s later. */
const retrySeconds = [10, 30, 120, 600, 1_800, 7_200] as const

/** How long after it was due a message is retried, in milliseconds. The next failure after that is final. */
export const retryWindowMs = retrySeconds.reduce((sum, seconds) => sum + seconds, 0) * 1_000

// On a failing channel, new messages are attempted this long after the last attempt at the latest.
const maxNewMessageDelayMs = 600_000

/**
 * Delay in milliseconds after the nth consecutive failure of a channel. Up to 10 % jitter, so that channels that failed together don't
 * retry together.
 * @param random from 0 up to 1, like `Math.random`
 */
export const retryDelay = (failures: number, random: number): number =>
  Math.round(retrySeconds[Math.min(failures, retrySeconds.length) - 1]! * 1_000 * (1 + random / 10))

/** What determines when a channel may send. Times in ms UTC. */
export interface Pacing {
  paceMs: number
  groupSeconds: number
  consecutiveFailures: number
  lastTriedAt: number | null
  lastSentAt: number | null
  retryAt: number | null
  notBefore: number | null
}

/**
 * When to attempt to send the pending notifications of a channel (ms UTC); null if there are none. Everything due is sent together.
 * @param pending due time and number of attempts of each
 */
export function nextAttemptAt(
  channel: Pacing,
  pending: readonly { dueAt: number; attemptCount: number }[],
  now: number,
): number | null {
  if (pending.length === 0) return null
  const { retryAt, notBefore, consecutiveFailures } = channel
  // A time in the future means the clock was set back: ignore it.
  const ifPast = (at: number | null) => (at === null || at > now ? 0 : at)
  const lastAttemptAt = ifPast(channel.lastTriedAt)
  const newMessagesAt =
    consecutiveFailures > 0 && retryAt !== null
      ? Math.min(retryAt, lastAttemptAt + maxNewMessageDelayMs)
      : ifPast(channel.lastSentAt) + channel.groupSeconds * 1_000
  const each = pending.map(one => Math.max(one.dueAt, one.attemptCount > 0 ? (retryAt ?? 0) : newMessagesAt))
  return Math.max(Math.min(...each), notBefore ?? 0, lastAttemptAt + channel.paceMs)
}

/** When a new notification is due (ms UTC): slightly later, so that simultaneous ones are sent together. */
export const dueAt = (groupSeconds: number, now: number): number => now + Math.min(groupSeconds, 1) * 1_000
