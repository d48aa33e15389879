import type { MonitorState, Verdict } from './state'

/** Scores flapping like Nagios: the weighted share of changes in the last 20 checks, with weights from 0.8 (oldest) to 1.2 (newest). */
const checks = 20
const begins = 0.3
const ends = 0.15
const maxRecent = 20

/**
 * Appends a verdict to `recent` if it is a change. `new` and `unknown` don't count.
 * @param withinMs changes that follow one another within this time count as one
 */
export function remembered(recent: MonitorState['recent'], verdict: Verdict, at: number, withinMs = 0): MonitorState['recent'] {
  const last = recent.at(-1)
  if (verdict === 'new' || verdict === 'unknown' || last?.verdict === verdict) return recent
  // The first verdict is not a change.
  if (!last || recent.length === 1 || at - last.at >= withinMs) return [...recent, { at, verdict }].slice(-maxRecent)
  const before = recent.slice(0, -1)
  return before.at(-1)!.verdict === verdict ? before : [...before, { at: last.at, verdict }]
}

/** The score from 0 to 1. @param now ms UTC */
export function flappingScore(recent: MonitorState['recent'], intervalMs: number, now: number): number {
  // The first verdict is not a change.
  const ages = recent.slice(1).map(({ at }) => Math.max(0, now - at) / intervalMs)
  const weights = ages.filter(age => age < checks).map(age => 1.2 - (0.4 * age) / checks)
  return Math.min(1, weights.reduce((sum, weight) => sum + weight, 0) / checks)
}

/** Flapping starts above 30% and stops below 15%. */
export const isFlapping = (was: boolean, score: number): boolean => (was ? score >= ends : score > begins)
