import { and, eq, inArray } from 'drizzle-orm'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import type { Hub } from '../../core/hub'
import { reachable } from '../../core/narrowing'
import type { HeartbeatView } from './shapes'
import { isStarted, statusAt } from './state'
import { heartbeats } from './tables'

/** How a heartbeat stands after a ping, for who watches it. */
export type WatchedHeartbeat = Pick<
  HeartbeatView,
  'id' | 'status' | 'started' | 'ping_count' | 'last_ping_at' | 'last_duration_ms' | 'expected_at'
>

/** Woken when a ping of the heartbeat was written here. */
export const pingTopic = (id: string): string => `ping:${id}`

/** Those of some heartbeats that are the caller's. */
export async function heartbeatsToWatch(ctx: Ctx, ids: readonly string[]): Promise<string[]> {
  const rows = await ctx.hub.read
    .select({ id: heartbeats.id })
    .from(heartbeats)
    .where(and(eq(heartbeats.workspaceId, ctx.workspaceId), inArray(heartbeats.id, [...ids]), reachable(ctx, heartbeats.id)))
  return rows.map(row => row.id)
}

/** How some heartbeats stand. */
export async function pingsToWatch(hub: Hub, ids: readonly string[]): Promise<WatchedHeartbeat[]> {
  const rows = await hub.read
    .select()
    .from(heartbeats)
    .where(inArray(heartbeats.id, [...ids]))
  const now = hub.clock.now()
  // Told here: who looks for what came elsewhere need not tell it again.
  for (const row of rows) countsOf(hub).set(row.id, row.pingCount)
  return rows.map(row => ({
    id: row.id,
    status: statusAt(row, now),
    started: isStarted(row),
    ping_count: row.pingCount,
    last_ping_at: instant(row.lastPingAt),
    last_duration_ms: row.lastDurationMs,
    expected_at: instant(row.expectedAt),
  }))
}

const heartbeatsAtOnce = 500

/** Those of some heartbeats that were pinged since it was last asked, at whichever hub. */
export async function pingedElsewhere(hub: Hub, ids: readonly string[]): Promise<string[]> {
  const counts = countsOf(hub)
  const fresh: string[] = []
  for (let at = 0; at < ids.length; at += heartbeatsAtOnce) {
    const rows = await hub.read
      .select({ id: heartbeats.id, count: heartbeats.pingCount })
      .from(heartbeats)
      .where(inArray(heartbeats.id, ids.slice(at, at + heartbeatsAtOnce)))
    for (const { id, count } of rows) {
      if (counts.has(id) && counts.get(id) !== count) fresh.push(id)
      counts.set(id, count)
    }
  }
  return fresh
}

/** How many pings watched heartbeats had when it was last looked. */
function countsOf(hub: Hub): Map<string, number> {
  let counts = ofHub.get(hub)
  if (!counts) ofHub.set(hub, (counts = new Map()))
  if (counts.size > mostCounts) counts.clear()
  return counts
}
const mostCounts = 50_000
const ofHub = new WeakMap<Hub, Map<string, number>>()
