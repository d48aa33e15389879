import type { monitorStatuses } from '../shapes'

type Status = (typeof monitorStatuses)[number]

/** A period in which a monitor had one status: `from <= t < to` (ms UTC). */
export interface Stretch {
  from: number
  to: number
  status: Status
}

/** The status history of a monitor over a window. */
export interface Timeline {
  /** Changes of status, oldest first. */
  transitions: readonly { at: number; to: Status }[]
  /** The status before the first change. */
  first: Status
  /** Periods without checks. */
  gaps: readonly { from: number; to: number }[]
}

/** Milliseconds spent in each status. `new` counts as unknown. */
export interface StatusTimes {
  up: number
  degraded: number
  down: number
  maintenance: number
  paused: number
  unknown: number
}

/** An outage. It continues through unknown time, and through maintenance if the monitor is still down afterwards. */
interface Outage {
  from: number
  /** Null if it is ongoing at the end of the window. */
  to: number | null
  /** The time in it with status down. */
  downMs: number
}

/** The stretches of a window, without gaps between them. Empty for an empty window. */
export function stretchesOf({ transitions, first, gaps }: Timeline, from: number, to: number): Stretch[] {
  const spans: Stretch[] = []
  let status = first
  let at = from
  for (const next of transitions) {
    if (next.at > at && next.at < to) {
      spans.push({ from: at, to: next.at, status })
      at = next.at
    }
    if (next.at < to) status = next.to
  }
  if (at < to) spans.push({ from: at, to, status })
  return joined(withGaps(spans, merged(gaps)))
}

/** The time in each status between consecutive edges, which must be ascending. */
export function timeByStatus(stretches: readonly Stretch[], edges: readonly number[]): StatusTimes[] {
  const spent: StatusTimes[] = []
  let place = 0
  for (const [index, from] of edges.slice(0, -1).entries()) {
    const to = edges[index + 1]!
    const here = noTime()
    while (place < stretches.length && stretches[place]!.to <= from) place++
    for (let at = place; at < stretches.length && stretches[at]!.from < to; at++) {
      const stretch = stretches[at]!
      here[countedAs(stretch.status)] += Math.min(stretch.to, to) - Math.max(stretch.from, from)
    }
    spent.push(here)
  }
  return spent
}

export const noTime = (): StatusTimes => ({ up: 0, degraded: 0, down: 0, maintenance: 0, paused: 0, unknown: 0 })

export function sumOf(all: readonly StatusTimes[]): StatusTimes {
  const sum = noTime()
  for (const one of all) for (const name of Object.keys(sum) as (keyof StatusTimes)[]) sum[name] += one[name]
  return sum
}

/**
 * Time up or degraded as a percentage of time up, degraded, or down; null if there was none. Rounded down to five decimal places, so
 * that 100 means no downtime at all.
 */
export function uptimePercent({ up, degraded, down }: StatusTimes): number | null {
  const seen = up + degraded + down
  // Floating point would turn 69.2 into 69.19999.
  return seen === 0 ? null : Number((BigInt(up + degraded) * 10_000_000n) / BigInt(seen)) / 1e5
}

/** Converts to seconds. */
export const inSeconds = (spent: StatusTimes): StatusTimes =>
  Object.fromEntries(Object.entries(spent).map(([name, ms]) => [name, ms / 1000])) as unknown as StatusTimes

/** The outages of a window, oldest first. */
export function outagesOf(stretches: readonly Stretch[]): Outage[] {
  const outages: Outage[] = []
  let open: Outage | null = null
  for (const { from, to, status } of stretches) {
    if (status === 'down') {
      if (!open) outages.push((open = { from, to: null, downMs: 0 }))
      open.downMs += to - from
    } else if (open && ends.has(status)) {
      open.to = from
      open = null
    }
  }
  return outages
}

/** The error budget of an objective, in whole milliseconds. @param objective uptime in percent, used with five decimal places */
export function errorBudget(spent: StatusTimes, objective: number): { allowed: number; consumed: number; remaining: number } {
  const seen = spent.up + spent.degraded + spent.down
  // In integers, so that downtime of exactly the allowed time meets the objective.
  const allowed = Number((BigInt(seen) * BigInt(Math.round((100 - objective) * 1e5))) / 10_000_000n)
  return { allowed, consumed: spent.down, remaining: allowed - spent.down }
}

const ends = new Set<Status>(['up', 'degraded', 'paused', 'new'])
const countedAs = (status: Status): keyof StatusTimes => (status === 'new' ? 'unknown' : status)

/** Marks periods without checks as unknown, except in pauses and maintenance. */
function withGaps(spans: readonly Stretch[], gaps: readonly { from: number; to: number }[]): Stretch[] {
  const seen: Stretch[] = []
  let place = 0
  for (const stretch of spans) {
    let at = stretch.from
    while (place < gaps.length && gaps[place]!.to <= at) place++
    for (let next = place; next < gaps.length && gaps[next]!.from < stretch.to; next++) {
      if (stretch.status === 'paused' || stretch.status === 'maintenance') break
      const from = Math.max(gaps[next]!.from, at)
      const to = Math.min(gaps[next]!.to, stretch.to)
      if (from > at) seen.push({ from: at, to: from, status: stretch.status })
      seen.push({ from, to, status: 'unknown' })
      at = to
    }
    if (at < stretch.to) seen.push({ from: at, to: stretch.to, status: stretch.status })
  }
  return seen
}

function merged(gaps: readonly { from: number; to: number }[]): { from: number; to: number }[] {
  const result: { from: number; to: number }[] = []
  for (const { from, to } of gaps.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else if (from < to) result.push({ from, to })
  }
  return result
}

function joined(stretches: readonly Stretch[]): Stretch[] {
  const result: Stretch[] = []
  for (const stretch of stretches) {
    const last = result.at(-1)
    if (last?.status === stretch.status) last.to = stretch.to
    else result.push({ ...stretch })
  }
  return result
}
