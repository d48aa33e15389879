import type { MonitorState, Verdict } from '../state'

/** As Nagios scores flapping: changes among the last 20 checks, later ones weighing more (0.8 to 1.2), as a share of 20. */
const checks = 20
const begins = 0.3
const ends = 0.15
export const mostRecent = 20

/**
 * `recent` with one more verdict, where that is a change among those that say something.
 * @param withinMs what changes again sooner than this after a change is still that change
 */
export function remembered(recent: MonitorState['recent'], verdict: Verdict, at: number, withinMs = 0): MonitorState['recent'] {
  const last = recent.at(-1)
  if (verdict === 'new' || verdict === 'unknown' || last?.verdict === verdict) return recent
  // The first of all is no change.
  if (!last || recent.length === 1 || at - last.at >= withinMs) return [...recent, { at, verdict }].slice(-mostRecent)
  const before = recent.slice(0, -1)
  return before.at(-1)!.verdict === verdict ? before : [...before, { at: last.at, verdict }]
}

/** The score at a time, as a share of 1. @param now ms UTC */
export function flappingScore(recent: MonitorState['recent'], intervalMs: number, now: number): number {
  // The first verdict of all is no change.
  const ages = recent.slice(1).map(({ at }) => Math.max(0, now - at) / intervalMs)
  const weights = ages.filter(age => age < checks).map(age => 1.2 - (0.4 * age) / checks)
  return Math.min(1, weights.reduce((sum, weight) => sum + weight, 0) / checks)
}

/** Whether it flaps: from above 30 % on, until it is below 15 %. */
export const isFlapping = (was: boolean, score: number): boolean => (was ? score >= ends : score > begins)
