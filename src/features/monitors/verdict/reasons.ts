import type { MonitorState, Verdict } from './state'
import type { JudgeInput } from './input'
import type { Count } from './votes'

/** The reason for a verdict, as a sentence. */
export function reasonOf(
  verdict: Verdict,
  locations: MonitorState['locations'],
  count: Count,
  { rules, group, impaired }: JudgeInput,
): string {
  if (group) return group.reason
  switch (verdict) {
    case 'new':
      return 'Not checked yet.'
    case 'up':
      return upReason(locations, count)
    case 'unknown':
      return rules.locations.some(name => impaired?.includes(name))
        ? 'The locations have connectivity problems of their own.'
        : 'No recent results from any location.'
    case 'down':
      return failureReason(count.downs, 'down', locations, count)
    case 'degraded':
      return count.downs.length > 0
        ? failureReason(count.downs, 'down', locations, count)
        : failureReason(count.worse, 'degraded', locations, count)
  }
}

/** A first degraded result leaves it up until confirmed. */
function upReason(locations: MonitorState['locations'], { voters }: Count): string {
  const unconfirmed = voters.map(name => locations[name]!).find(one => !one.degraded && one.degradedStreak > 0)
  if (unconfirmed?.lastError) return `Up, but degraded: ${unconfirmed.lastError.message}`
  return voters.length > 1 ? `Up from ${voters.length} locations.` : 'Checks are passing.'
}

function failureReason(names: readonly string[], word: string, locations: MonitorState['locations'], { voters }: Count): string {
  const message =
    names.map(name => locations[name]?.lastError?.message).find(text => text !== undefined) ?? `The monitor is ${word}.`
  if (voters.length < 2) return message
  return `${names.length} of ${voters.length} locations ${names.length === 1 ? 'reports' : 'report'} it as ${word}: ${message}`
}
