import type { monitorStatuses } from '../tables'

export type Status = (typeof monitorStatuses)[number]

/** A stretch of time in which a monitor was shown as one status: `from <= t < to` (ms UTC). */
export interface Stretch {
  from: number
  to: number
  status: Status
}

/** What a monitor was shown as over a window of time. */
export interface Timeline {
  /** Changes of status, oldest first. */
  transitions: readonly { at: number; to: Status }[]
  /** What it was before the first of them. */
  first: Status
  /** Times in which nobody checked. */
  gaps: readonly { from: number; to: number }[]
}

/** Milliseconds by what a monitor was found to be. New monitors are not known yet. */
export interface Spent {
  up: number
  degraded: number
  down: number
  maintenance: number
  paused: number
  unknown: number
}

/** Time in which a target did not serve: one outage goes on through what nobody saw, and through maintenance that ends in it. */
export interface Outage {
  from: number
  /** Null when it is still going on at the end of the window. */
  to: number | null
  /** Of it, in which it was seen to be down. */
  downMs: number
}

/** The stretches of a window, without a hole between them. Empty for a window that is. */
export function stretchesOf({ transitions, first, gaps }: Timeline, from: number, to: number): Stretch[] {
  const shown: Stretch[] = []
  let status = first
  let at = from
  for (const next of transitions) {
    if (next.at > at && next.at < to) {
      shown.push({ from: at, to: next.at, status })
      at = next.at
    }
    if (next.at < to) status = next.to
  }
  if (at < to) shown.push({ from: at, to, status })
  return joined(withGaps(shown, merged(gaps)))
}

/** How long each status was shown between each two of the edges, which grow. */
export function spentBetween(stretches: readonly Stretch[], edges: readonly number[]): Spent[] {
  const spent: Spent[] = []
  let place = 0
  for (const [index, from] of edges.slice(0, -1).entries()) {
    const to = edges[index + 1]!
    const here = nothing()
    while (place < stretches.length && stretches[place]!.to <= from) place++
    for (let at = place; at < stretches.length && stretches[at]!.from < to; at++) {
      const stretch = stretches[at]!
      here[countedAs(stretch.status)] += Math.min(stretch.to, to) - Math.max(stretch.from, from)
    }
    spent.push(here)
  }
  return spent
}

export const nothing = (): Spent => ({ up: 0, degraded: 0, down: 0, maintenance: 0, paused: 0, unknown: 0 })

export function added(all: readonly Spent[]): Spent {
  const sum = nothing()
  for (const one of all) for (const name of Object.keys(sum) as (keyof Spent)[]) sum[name] += one[name]
  return sum
}

/**
 * Up and degraded over up, degraded and down, in percent; null where nothing of these was. Never shown better than it was: rounded down
 * to five places, so that 100 means that there was no down at all.
 */
export function uptimePercent({ up, degraded, down }: Spent): number | null {
  const seen = up + degraded + down
  // Numbers with a point would make 69.2 of a hundred 69.19999.
  return seen === 0 ? null : Number((BigInt(up + degraded) * 10_000_000n) / BigInt(seen)) / 1e5
}

/** Seconds, to the millisecond. */
export const inSeconds = (spent: Spent): Spent =>
  Object.fromEntries(Object.entries(spent).map(([name, ms]) => [name, ms / 1000])) as unknown as Spent

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

/** How much of what an objective allows is used up. Milliseconds. @param objective percent of uptime */
export function errorBudget(spent: Spent, objective: number): { allowed: number; spent: number; left: number } {
  const seen = spent.up + spent.degraded + spent.down
  const allowed = (seen * (100 - objective)) / 100
  return { allowed, spent: spent.down, left: allowed - spent.down }
}

const ends = new Set<Status>(['up', 'degraded', 'paused', 'new'])
const countedAs = (status: Status): keyof Spent => (status === 'new' ? 'unknown' : status)

/** Where nobody checked nothing is known, but of what was switched off on purpose. */
function withGaps(shown: readonly Stretch[], gaps: readonly { from: number; to: number }[]): Stretch[] {
  const seen: Stretch[] = []
  let place = 0
  for (const stretch of shown) {
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
  const whole: { from: number; to: number }[] = []
  for (const { from, to } of gaps.toSorted((a, b) => a.from - b.from)) {
    const last = whole.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else if (from < to) whole.push({ from, to })
  }
  return whole
}

function joined(stretches: readonly Stretch[]): Stretch[] {
  const whole: Stretch[] = []
  for (const stretch of stretches) {
    const last = whole.at(-1)
    if (last?.status === stretch.status) last.to = stretch.to
    else whole.push({ ...stretch })
  }
  return whole
}
