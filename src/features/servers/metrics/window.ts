import { tierFor, tiers, type Tier } from '../../../core/db/series/metric-tiers'
import { invalidParameter } from '../../../core/query'
import { maxPoints, type ServerMetricsQuery } from './shapes'

const dayMs = 86_400_000
// Steps for `auto` in seconds: round values for an axis.
const steps = [...[60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 345_600]]

/** A regular grid of times in ms UTC, and the tier to read. */
export interface Window {
  from: number
  to: number
  stepMs: number
  points: number
  tier: Tier
}

/** Resolves window and step. Points are aligned to multiples of the step. @throws Problem 400 */
export function windowOf(query: Pick<ServerMetricsQuery, 'from' | 'to' | 'step'>, now: number): Window {
  const to = query.to === undefined ? now : Math.min(now, Date.parse(query.to))
  const from = query.from === undefined ? to - dayMs : Date.parse(query.from)
  if (from >= to) throw invalidParameter('from', 'must be before `to` and not in the future.')
  const oldest = now - tiers.at(-1)!.keepDays * dayMs
  if (from < oldest) throw invalidParameter('from', 'must not be more than 730 days ago.')
  const stepMs = 1000 * (query.step === undefined || query.step === 'auto' ? autoStep(from, to, now) : Number(query.step))
  const tier = tierFor(stepMs, from, now)
  if (!tier) throw invalidParameter('step', `must be a multiple of ${finestSince(from, now) / 1000} for this window.`)
  const begin = Math.floor(from / stepMs) * stepMs
  const points = Math.ceil((to - begin) / stepMs)
  if (points > maxPoints)
    throw invalidParameter('step', `would return more than ${maxPoints} points for this window. Use a longer step or \`auto\`.`)
  return { from: begin, to, stepMs, points, tier }
}

function autoStep(from: number, to: number, now: number): number {
  const fits = (seconds: number) => (to - from) / (seconds * 1000) <= maxPoints - 1 && tierFor(seconds * 1000, from, now) !== null
  return steps.find(fits) ?? steps.at(-1)!
}

const finestSince = (from: number, now: number): number =>
  (tiers.find(tier => tierFor(tier.stepMs, from, now) !== null) ?? tiers.at(-1)!).stepMs
