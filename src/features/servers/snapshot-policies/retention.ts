import type { Keep } from './shapes'

interface Taken {
  id: string
  /** When it was created (ms UTC). */
  at: number
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
// January 5, 1970 was a Monday.
const firstMondayMs = 4 * dayMs

/** Names the period of a time. */
const periods: [rule: Exclude<keyof Keep, 'last'>, of: (at: number) => string][] = [
  ['hourly', at => String(Math.floor(at / hourMs))],
  ['daily', at => String(Math.floor(at / dayMs))],
  ['weekly', at => String(Math.floor((at - firstMondayMs) / (7 * dayMs)))],
  ['monthly', at => new Date(at).toISOString().slice(0, 7)],
]

/**
 * The snapshots of a server that are kept: the newest ones, and the newest of each of the last hours, days, weeks, and months that have
 * one. The newest of all is always kept.
 */
export function retained(snapshots: readonly Taken[], keep: Keep): Set<string> {
  const newestFirst = snapshots.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
  const kept = new Set(newestFirst.slice(0, Math.max(1, keep.last)).map(one => one.id))
  for (const [rule, of] of periods) {
    const seen = new Set<string>()
    for (const { id, at } of newestFirst) {
      if (seen.size >= keep[rule]) break
      if (seen.has(of(at))) continue
      seen.add(of(at))
      kept.add(id)
    }
  }
  return kept
}
