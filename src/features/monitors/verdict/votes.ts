import type { Quorum } from './quorum'
import type { LocationState, MonitorState, Verdict } from './state'
import type { JudgeInput } from './input'
import { freshUntil } from './locations'

/** The combined result of all locations. */
export interface Count {
  /** Locations that vote: with a recent result, not impaired, and settled. */
  voters: string[]
  downs: string[]
  /** How many of them must report it as down. */
  need: number
  isDown: boolean
  /** The verdict if it is not down; null if undecided, which leaves the verdict as it is. */
  otherVerdict: Exclude<Verdict, 'new' | 'down'> | null
  /** Locations that report it as degraded or down. */
  worse: string[]
  /** The first failure that reached the quorum, and the first result worse than up. Ms UTC. */
  downSince: number | null
  worseSince: number | null
}

/**
 * How many of `voters` must report a monitor as down. A majority is more than half, so both of two. A fixed number applies as it is:
 * with fewer voters, it can't be down.
 */
export function needOf(quorum: Quorum, voters: number): number {
  if (quorum === 'majority') return Math.floor(voters / 2) + 1
  if (quorum === 'any') return 1
  return quorum === 'all' ? voters : quorum
}

/** @param now ms UTC */
export function countVotes(locations: MonitorState['locations'], { rules, impaired = [] }: JudgeInput, now: number): Count {
  const trusted = Object.entries(locations)
    .filter(([name, location]) => !impaired.includes(name) && (freshUntil(location, rules) ?? 0) >= now)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const voting = trusted.filter(([, location]) => location.settled !== 'new')
  const down = voting.filter(([, location]) => location.settled === 'down')
  const slow = voting.filter(([, { settled, degraded }]) => settled === 'up' && degraded)
  const need = needOf(rules.quorum, voting.length)
  const isDown = voting.length > 0 && down.length >= need
  const worse = down.length + slow.length >= need || down.length > 0 ? [...down, ...slow] : []
  return {
    voters: voting.map(([name]) => name),
    downs: down.map(([name]) => name),
    need,
    isDown,
    otherVerdict: otherVerdict(voting, trusted.length, down, worse),
    worse: worse.map(([name]) => name).sort(),
    downSince: isDown ? (down.map(([, { since }]) => since).sort((a, b) => a - b)[need - 1] ?? null) : null,
    worseSince:
      worse.length === 0
        ? null
        : Math.min(...worse.map(([, one]) => (one.settled === 'down' ? one.since : (one.degradedSince ?? now)))),
  }
}

type Named = [string, LocationState]

function otherVerdict(voting: Named[], trusted: number, down: Named[], worse: Named[]): Count['otherVerdict'] {
  // Locations with results, but not enough to settle, leave the verdict as it is.
  if (voting.length === 0) return trusted > 0 ? null : 'unknown'
  if (worse.length === 0) return 'up'
  if (down.length === 0) return 'degraded'
  const firstFailure = Math.min(...down.map(([, { since }]) => since))
  // If one location reports it as down, wait for the others: they are checked immediately and may report the same.
  const isOpen = voting.some(([, one]) => one.settled === 'up' && (one.streak > 0 || (one.lastResultAt ?? 0) < firstFailure))
  return isOpen ? null : 'degraded'
}
