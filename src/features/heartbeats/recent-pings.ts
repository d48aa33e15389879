import { and, asc, eq, gt, inArray, sql } from 'drizzle-orm'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { recentPings, type RecentPingsView } from './shapes'
import { heartbeats, pings } from './tables'

/** The last pings of some heartbeats, those that there are, in the order of the ids: what a row of a list shows. */
export async function readRecentPings(ctx: Ctx, ids: readonly string[]): Promise<{ data: RecentPingsView[] }> {
  const rows = await ctx.hub.read
    .select({ id: heartbeats.id, n: pings.n, kind: pings.kind, at: pings.at, durationMs: pings.durationMs })
    .from(heartbeats)
    // Pings are numbered, and the last one has the number of how many there were.
    .leftJoin(pings, and(eq(pings.heartbeatId, heartbeats.id), gt(pings.n, sql`${heartbeats.pingCount} - ${recentPings}`)))
    .where(and(eq(heartbeats.workspaceId, ctx.workspaceId), inArray(heartbeats.id, [...ids])))
    .orderBy(asc(heartbeats.id), asc(pings.n))
  const found = new Map<string, RecentPingsView['pings']>()
  for (const { id, n, kind, at, durationMs } of rows) {
    const own = found.get(id) ?? []
    found.set(id, own)
    if (n !== null)
      own.push({ n, kind: kind as RecentPingsView['pings'][number]['kind'], at: instant(at!), duration_ms: durationMs })
  }
  return { data: ids.flatMap(id => (found.has(id) ? [{ id, pings: found.get(id)! }] : [])) }
}
