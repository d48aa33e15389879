import { nextStreak } from '../../../checks/streak'
import type { LocationState, MonitorState } from '../state'
import type { LocationResult, Rules } from './input'

/** For how long a result counts: three intervals, and at least 90 seconds. */
export const freshFor = (intervalMs: number): number => Math.max(3 * intervalMs, 90_000)

/** When the last result of a location ceases to count; null where there is none. */
export const freshUntil = ({ lastResultAt }: LocationState, { intervalMs }: Rules): number | null =>
  lastResultAt === null ? null : lastResultAt + freshFor(intervalMs)

/** The locations after more results. Those that the monitor is not assigned to any more are gone. @param now ms UTC */
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
  // Come late: what came after it has been judged. Where the last one is of the future, the clock was put back.
  if (before && last !== null && result.at < last && last <= now) return before
  // What it knew before it fell silent says nothing about now.
  const isSilent = !before || last === null || result.at - last > freshFor(rules.intervalMs)
  const from = isSilent ? unsettled(result.at) : before
  const ok = result.status !== 'down'
  const { settled, streak } = nextStreak(from, ok, rules)
  const began = from.streakSince ?? result.at
  const isNew = settled !== from.settled
  return {
    settled,
    streak,
    streakSince: streak === 0 ? null : began,
    since: isNew ? began : from.since,
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
 * `confirm` results in a row that are not up make a location degraded, and `recover` that are end it. So one that is degraded is not
 * well for a moment while it is found to be down.
 */
function nextDegraded(from: LocationState, { at, status }: LocationResult, rules: Rules, isDown: boolean): Degraded {
  if (status === 'down' && isDown) return { degraded: false, degradedStreak: 0, degradedSince: null }
  const { settled, streak } = nextStreak(
    { settled: from.degraded ? 'down' : 'up', streak: from.degradedStreak },
    status === 'up',
    rules,
  )
  const degraded = settled === 'down'
  return { degraded, degradedStreak: streak, degradedSince: degraded || streak > 0 ? (from.degradedSince ?? at) : null }
}
