import { and, asc, eq, gt, inArray, sql } from 'drizzle-orm'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { defaultRecentPings, type RecentPingsView } from '../shapes'
import { heartbeats, pings } from '../tables'

/** Returns the recent pings of several heartbeats in the order of the IDs, skipping IDs that don’t exist. */
export async function listRecentPings(
  ctx: Ctx,
  ids: readonly string[],
  max: number = defaultRecentPings,
): Promise<{ data: RecentPingsView[] }> {
  const rows = await ctx.hub.read
    .select({ id: heartbeats.id, n: pings.n, kind: pings.kind, at: pings.at, durationMs: pings.durationMs })
    .from(heartbeats)
    // Pings are numbered from 1, so the number of the last ping is the ping count.
    .leftJoin(pings, and(eq(pings.heartbeatId, heartbeats.id), gt(pings.n, sql`${heartbeats.pingCount} - ${max}`)))
    .where(and(eq(heartbeats.workspaceId, ctx.workspaceId), inArray(heartbeats.id, [...ids])))
    .orderBy(asc(heartbeats.id), asc(pings.n))
  const found = new Map<string, RecentPingsView['pings']>()
  for (const { id, n, kind, at, durationMs } of rows) {
    const recent = found.get(id) ?? []
    found.set(id, recent)
    if (n !== null)
      recent.push({ n, kind: kind as RecentPingsView['pings'][number]['kind'], at: instant(at!), duration_ms: durationMs })
  }
  return { data: ids.flatMap(id => (found.has(id) ? [{ id, pings: found.get(id)! }] : [])) }
}
