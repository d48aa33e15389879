import type { Hub } from '../core/hub'
import { Problem } from '../core/problem'
import type { Caller } from './callers'

const counts = new WeakMap<Hub, Map<string, number>>()

/** How many requests with a token are under way in this process. */
export const underWay = (hub: Hub, tokenId: string): number => counts.get(hub)?.get(tokenId) ?? 0

/**
 * Counts a request with a token as under way. Each hub of one database counts for itself.
 * @returns what ends it, or null where nothing is counted: for sessions, and on plans without this limit
 * @throws Problem 429 when as many are under way as the plan allows
 */
export function enter(hub: Hub, caller: Caller): (() => void) | null {
  const most = caller.limits.concurrent_requests_per_token
  const id = caller.token?.id
  if (id === undefined || most === null || most === undefined) return null
  let running = counts.get(hub)
  if (!running) counts.set(hub, (running = new Map()))
  const now = running.get(id) ?? 0
  if (now >= most) {
    throw new Problem(
      'rate_limited',
      `With this token ${now} requests are under way, as many as the plan allows. Try again shortly.`,
      {
        headers: { 'Retry-After': '1' },
        members: { 'violated-policies': ['concurrent-requests'] },
      },
    )
  }
  running.set(id, now + 1)
  return () => {
    const left = running.get(id)! - 1
    if (left > 0) running.set(id, left)
    else running.delete(id)
  }
}
