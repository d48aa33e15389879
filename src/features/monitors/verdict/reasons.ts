import type { MonitorState, Verdict } from '../state'
import type { JudgeInput } from './input'
import type { Count } from './votes'

/** Why it is what it is, in a sentence for people. */
export function reasonOf(
  verdict: Verdict,
  locations: MonitorState['locations'],
  count: Count,
  { rules, group, impaired }: JudgeInput,
): string {
  if (group) return group.reason
  switch (verdict) {
    case 'new':
      return 'It has not been checked yet.'
    case 'up':
      return toldUp(locations, count)
    case 'unknown':
      return rules.locations.some(name => impaired?.includes(name))
        ? 'What the locations say cannot be trusted at present.'
        : 'No location has said anything for some time.'
    case 'down':
      return told(count.downs, 'down', locations, count)
    case 'degraded':
      return count.downs.length > 0
        ? told(count.downs, 'down', locations, count)
        : told(count.worse, 'degraded', locations, count)
  }
}

/** One that is not well for the first time is up until that is confirmed. */
function toldUp(locations: MonitorState['locations'], { voters }: Count): string {
  const doubted = voters.map(name => locations[name]!).find(one => !one.degraded && one.degradedStreak > 0)
  if (doubted?.lastError) return `It answers, though not well: ${doubted.lastError.message}`
  return voters.length > 1 ? `${voters.length} locations find it well.` : 'It answers as it should.'
}

function told(names: readonly string[], word: string, locations: MonitorState['locations'], { voters }: Count): string {
  const message = names.map(name => locations[name]?.lastError?.message).find(text => text !== undefined) ?? `It is ${word}.`
  if (voters.length < 2) return message
  return `${names.length} of ${voters.length} locations ${names.length === 1 ? 'finds' : 'find'} it ${word}: ${message}`
}
