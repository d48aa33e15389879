import type { Quorum } from '../quorum'
import type { LocationState, MonitorState, Verdict } from '../state'
import type { JudgeInput } from './input'
import { freshUntil } from './locations'

/** What the locations say together. */
export interface Count {
  /** Locations that have a say: fresh, trusted, and settled. */
  voters: string[]
  downs: string[]
  /** So many of them must find it down. */
  need: number
  isDown: boolean
  /** What it is when it is not down; null while that cannot be told yet, and what it was stands. */
  otherwise: Exclude<Verdict, 'new' | 'down'> | null
  /** Those that find it degraded, or down where too few do. */
  worse: string[]
  /** First failures by which the quorum was reached, and by which it was first worse than up. Ms UTC. */
  downSince: number | null
  worseSince: number | null
}

/**
 * How many of `voters` must find a monitor down. A majority is more than half: of two, both. A number is as it stands: while fewer have
 * a say, it is not down.
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
    otherwise: otherwise(voting, trusted.length, down, worse),
    worse: worse.map(([name]) => name).sort(),
    downSince: isDown ? (down.map(([, { since }]) => since).sort((a, b) => a - b)[need - 1] ?? null) : null,
    worseSince:
      worse.length === 0
        ? null
        : Math.min(...worse.map(([, one]) => (one.settled === 'down' ? one.since : (one.degradedSince ?? now)))),
  }
}

type Named = [string, LocationState]

function otherwise(voting: Named[], trusted: number, down: Named[], worse: Named[]): Count['otherwise'] {
  // Locations that have said something, but not enough yet to settle, leave it as it is.
  if (voting.length === 0) return trusted > 0 ? null : 'unknown'
  if (worse.length === 0) return 'up'
  if (down.length === 0) return 'degraded'
  const firstFailure = Math.min(...down.map(([, { since }]) => since))
  // Where one finds it down, the others are waited for: they are asked at once, and may be about to find the same.
  const isOpen = voting.some(([, one]) => one.settled === 'up' && (one.streak > 0 || (one.lastResultAt ?? 0) < firstFailure))
  return isOpen ? null : 'degraded'
}
