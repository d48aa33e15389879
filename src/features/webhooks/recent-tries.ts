import type { Hub } from '../../core/hub'

/**
 * How the last tries to each endpoint went, as this process saw them. Kept in memory: it shapes how the process spends its runs, and
 * a restart begins with an open mind.
 */
interface Recent {
  /** The last tries, oldest first. */
  tries: { ms: number; refused: boolean }[]
  /** When each try that is under way began, in milliseconds of `performance.now`. */
  underWay: Set<{ began: number }>
}

const kept = 20
const slowMs = 5_000
const mostEndpoints = 10_000

const byHub = new WeakMap<Hub, Map<string, Recent>>()

function recentOf(hub: Hub, endpointId: string): Recent {
  let all = byHub.get(hub)
  if (!all) byHub.set(hub, (all = new Map()))
  let recent = all.get(endpointId)
  if (!recent) {
    if (all.size >= mostEndpoints) all.delete(all.keys().next().value!)
    all.set(endpointId, (recent = { tries: [], underWay: new Set() }))
  }
  return recent
}

/** Notes that a try begins; the returned function is told how it ended: whether the endpoint refused it, if it came to an answer. */
export function beginTry(hub: Hub, endpointId: string): (refused?: boolean) => void {
  const recent = recentOf(hub, endpointId)
  const one = { began: performance.now() }
  recent.underWay.add(one)
  return refused => {
    recent.underWay.delete(one)
    if (refused === undefined) return
    recent.tries.push({ ms: performance.now() - one.began, refused })
    if (recent.tries.length > kept) recent.tries.shift()
  }
}

/** Whether the 95th percentile of an endpoint's last tries is above 5 s, or one that is under way has lasted that long. */
export function isSlow(hub: Hub, endpointId: string): boolean {
  const recent = byHub.get(hub)?.get(endpointId)
  if (!recent) return false
  const now = performance.now()
  for (const { began } of recent.underWay) if (now - began > slowMs) return true
  const slow = recent.tries.filter(one => one.ms > slowMs).length
  return slow > recent.tries.length * 0.05
}

/** Whether half or more of an endpoint's last twenty tries were refused; never before there were twenty. */
export function refusesHalf(hub: Hub, endpointId: string): boolean {
  const tries = byHub.get(hub)?.get(endpointId)?.tries ?? []
  return tries.length >= kept && tries.filter(one => one.refused).length * 2 >= kept
}

/** Forgets the outcomes so far, so that they are held against the endpoint once. */
export function forgetTries(hub: Hub, endpointId: string): void {
  const recent = byHub.get(hub)?.get(endpointId)
  if (recent) recent.tries = []
}
