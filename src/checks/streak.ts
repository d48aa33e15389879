import type { Settled } from './check'

/** How one location stands on one monitor, and how many results in a row speak against that. */
export interface Streak {
  settled: Settled
  streak: number
}

/** Consecutive results that it takes: bad ones to be down, good ones to be up again. Whole numbers from 1. */
export interface StreakRule {
  confirm: number
  recover: number
}

export const defaultStreakRule: StreakRule = { confirm: 2, recover: 2 }

/**
 * How a location stands after one more result. `ok`: anything but `down`. From `new` the first good result is `up`, for there is
 * nothing yet that it would have to outweigh. A streak above 0 asks for a check at the pace of retries.
 */
export function nextStreak(before: Streak, ok: boolean, rule: StreakRule): Streak {
  if (ok === (before.settled === 'up') && before.settled !== 'new') return { settled: before.settled, streak: 0 }
  const needed = ok ? (before.settled === 'new' ? 1 : rule.recover) : rule.confirm
  // A `new` location counts bad results alone: the first good one settles it.
  const streak = before.streak + 1
  if (streak < needed) return { settled: before.settled, streak }
  return { settled: ok ? 'up' : 'down', streak: 0 }
}
