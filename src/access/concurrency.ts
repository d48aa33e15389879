import type { Hub } from '../core/hub'
import { Problem } from '../core/problem'
import type { Caller } from './callers'

const inFlight = new WeakMap<Hub, Map<string, number>>()

/** How many requests with a token are in progress in this process. */
export const requestsInFlight = (hub: Hub, tokenId: string): number => inFlight.get(hub)?.get(tokenId) ?? 0

/**
 * Counts a request with a token as in progress. Each hub on one database counts separately.
 * @returns a function that ends it, or null if nothing is counted: for sessions, and on plans without this limit
 * @throws Problem 429 if the plan's limit of concurrent requests is reached
 */
export function enterRequest(hub: Hub, caller: Caller): (() => void) | null {
  const max = caller.limits.concurrent_requests_per_token
  const id = caller.token?.id
  if (id === undefined || max === null || max === undefined) return null
  let running = inFlight.get(hub)
  if (!running) inFlight.set(hub, (running = new Map()))
  const current = running.get(id) ?? 0
  if (current >= max) {
    throw new Problem(
      'rate_limited',
      `${current} requests with this token are already in progress, which is the maximum of the plan. Try again when one has finished.`,
      {
        headers: { 'Retry-After': '1' },
        fields: { 'violated-policies': ['concurrent-requests'] },
      },
    )
  }
  running.set(id, current + 1)
  return () => {
    const remaining = running.get(id)! - 1
    if (remaining > 0) running.set(id, remaining)
    else running.delete(id)
  }
}
