import type { Hub } from '../../../core/hub'

/**
 * The recent attempts to an endpoint in this process. Kept in memory only: it affects how this process schedules its attempts,
 * and is reset on a restart.
 */
interface Recent {
  /** The last attempts, oldest first. */
  attempts: { ms: number; failed: boolean }[]
  /** When each attempt in flight started, in milliseconds of `performance.now`. */
  inFlight: Set<{ startedAt: number }>
}

const maxAttempts = 20
const slowMs = 5_000
const maxTrackedEndpoints = 10_000

const byHub = new WeakMap<Hub, Map<string, Recent>>()

function recentOf(hub: Hub, endpointId: string): Recent {
  let all = byHub.get(hub)
  if (!all) byHub.set(hub, (all = new Map()))
  let recent = all.get(endpointId)
  if (!recent) {
    if (all.size >= maxTrackedEndpoints) all.delete(all.keys().next().value!)
    all.set(endpointId, (recent = { attempts: [], inFlight: new Set() }))
  }
  return recent
}

/**
 * Tracks an attempt. Call the returned function when it ends, with whether the endpoint failed, or without if nothing was sent.
 */
export function trackAttempt(hub: Hub, endpointId: string): (failed?: boolean) => void {
  const recent = recentOf(hub, endpointId)
  const one = { startedAt: performance.now() }
  recent.inFlight.add(one)
  return failed => {
    recent.inFlight.delete(one)
    if (failed === undefined) return
    recent.attempts.push({ ms: performance.now() - one.startedAt, failed })
    if (recent.attempts.length > maxAttempts) recent.attempts.shift()
  }
}

/** Whether the 95th percentile of an endpoint's recent attempts is above 5 s, or one in flight has taken that long. */
export function isSlow(hub: Hub, endpointId: string): boolean {
  const recent = byHub.get(hub)?.get(endpointId)
  if (!recent) return false
  const now = performance.now()
  for (const { startedAt } of recent.inFlight) if (now - startedAt > slowMs) return true
  const slow = recent.attempts.filter(one => one.ms > slowMs).length
  return slow > recent.attempts.length * 0.05
}

/** Whether at least half of an endpoint's last twenty attempts failed. False if there were fewer than twenty. */
export function failsHalf(hub: Hub, endpointId: string): boolean {
  const attempts = byHub.get(hub)?.get(endpointId)?.attempts ?? []
  return attempts.length >= maxAttempts && attempts.filter(one => one.failed).length * 2 >= maxAttempts
}

/** Forgets the outcomes so far, so that they open the breaker only once. */
export function resetRecentAttempts(hub: Hub, endpointId: string): void {
  const recent = byHub.get(hub)?.get(endpointId)
  if (recent) recent.attempts = []
}
