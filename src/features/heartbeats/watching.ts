import { and, eq, inArray } from 'drizzle-orm'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import type { Hub } from '../../core/hub'
import { accessCondition } from '../../core/resource-access'
import type { HeartbeatView } from './shapes'
import { isStarted, statusAt } from './status/state'
import { heartbeats } from './tables'

/** A heartbeat after a ping, for live updates. */
type WatchedHeartbeat = Pick<
  HeartbeatView,
  'id' | 'status' | 'started' | 'ping_count' | 'last_ping_at' | 'last_duration_ms' | 'expected_at'
>

/** Woken when this hub stores a ping of the heartbeat. */
export const pingTopic = (id: string): string => `ping:${id}`

/** Returns the given heartbeats that the caller has access to. */
export async function heartbeatsToWatch(ctx: Ctx, ids: readonly string[]): Promise<string[]> {
  const rows = await ctx.hub.read
    .select({ id: heartbeats.id })
    .from(heartbeats)
    .where(
      and(eq(heartbeats.workspaceId, ctx.workspaceId), inArray(heartbeats.id, [...ids]), accessCondition(ctx, heartbeats.id)),
    )
  return rows.map(row => row.id)
}

/** Returns the current status of the given heartbeats. */
export async function pingsToWatch(hub: Hub, ids: readonly string[]): Promise<WatchedHeartbeat[]> {
  const rows = await hub.read
    .select()
    .from(heartbeats)
    .where(inArray(heartbeats.id, [...ids]))
  const now = hub.clock.now()
  // Remember the counts, so that pingedElsewhere does not report these pings again.
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

const batchSize = 500

/** Returns the given heartbeats that were pinged through any hub since the last call. */
export async function pingedElsewhere(hub: Hub, ids: readonly string[]): Promise<string[]> {
  const counts = countsOf(hub)
  const pinged: string[] = []
  for (let at = 0; at < ids.length; at += batchSize) {
    const rows = await hub.read
      .select({ id: heartbeats.id, count: heartbeats.pingCount })
      .from(heartbeats)
      .where(inArray(heartbeats.id, ids.slice(at, at + batchSize)))
    for (const { id, count } of rows) {
      if (counts.has(id) && counts.get(id) !== count) pinged.push(id)
      counts.set(id, count)
    }
  }
  return pinged
}

/** The last seen ping counts of watched heartbeats. */
function countsOf(hub: Hub): Map<string, number> {
  let counts = ofHub.get(hub)
  if (!counts) ofHub.set(hub, (counts = new Map()))
  if (counts.size > maxCounts) counts.clear()
  return counts
}
const maxCounts = 50_000
const ofHub = new WeakMap<Hub, Map<string, number>>()
