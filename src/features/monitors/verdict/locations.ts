import { nextConfirmation } from '../../../checks/confirmation'
import type { LocationState, MonitorState } from './state'
import type { LocationResult, Rules } from './input'

/** How long a result counts: three intervals, but at least 90 seconds. */
export const freshFor = (intervalMs: number): number => Math.max(3 * intervalMs, 90_000)

/** When the last result of a location stops counting; null if there is none. */
export const freshUntil = ({ lastResultAt }: LocationState, { intervalMs }: Rules): number | null =>
  lastResultAt === null ? null : lastResultAt + freshFor(intervalMs)

/** Applies results. Drops locations the monitor is no longer assigned to. @param now ms UTC */
export function takeResults(
  state: MonitorState,
  rules: Rules,
  results: readonly LocationResult[],
  now: number,
): MonitorState['locations'] {
  const locations: MonitorState['locations'] = {}
  for (const name of rules.locations) if (Object.hasOwn(state.locations, name)) locations[name] = state.locations[name]!
  for (const result of results.toSorted((a, b) => a.at - b.at || (a.location < b.location ? -1 : 1)))
    if (rules.locations.includes(result.location))
      locations[result.location] = takeResult(locations[result.location] ?? null, rules, result, now)
  return locations
}

function takeResult(before: LocationState | null, rules: Rules, result: LocationResult, now: number): LocationState {
  const last = before?.lastResultAt ?? null
  // Ignore results that arrive late. But if the last one is in the future, the clock was set back: accept this one.
  if (before && last !== null && result.at < last && last <= now) return before
  // After a long silence, start over.
  const isSilent = !before || last === null || result.at - last > freshFor(rules.intervalMs)
  const from = isSilent ? unsettled(result.at) : before
  const ok = result.status !== 'down'
  const { status: settled, contradictions: streak } = nextConfirmation(
    { status: from.settled, contradictions: from.streak },
    ok,
    rules,
  )
  const startedAt = from.streakSince ?? result.at
  const isNew = settled !== from.settled
  return {
    settled,
    streak,
    streakSince: streak === 0 ? null : startedAt,
    since: isNew ? startedAt : from.since,
    ...nextDegraded(from, result, rules, settled === 'down'),
    lastResultAt: result.at,
    lastError: result.status === 'up' ? from.lastError : result.error,
  }
}

const unsettled = (at: number): LocationState => ({
  settled: 'new',
  streak: 0,
  streakSince: null,
  since: at,
  degraded: false,
  degradedStreak: 0,
  degradedSince: null,
  lastResultAt: null,
  lastError: null,
})

type Degraded = Pick<LocationState, 'degraded' | 'degradedStreak' | 'degradedSince'>

/**
 * A location becomes degraded after `confirm` consecutive results that are not up, and recovers after `recover` that are. So a degraded
 * location doesn't count as up for a moment before it is confirmed as down. A single result is enough if it is certain.
 */
function nextDegraded(from: LocationState, { at, status, isCertain }: LocationResult, rules: Rules, isDown: boolean): Degraded {
  if (status === 'down' && isDown) return { degraded: false, degradedStreak: 0, degradedSince: null }
  const { status: settled, contradictions: streak } = nextConfirmation(
    { status: from.degraded ? 'down' : 'up', contradictions: from.degradedStreak },
    status === 'up',
    isCertain ? { ...rules, confirm: 1 } : rules,
  )
  const degraded = settled === 'down'
  return { degraded, degradedStreak: streak, degradedSince: degraded || streak > 0 ? (from.degradedSince ?? at) : null }
}
