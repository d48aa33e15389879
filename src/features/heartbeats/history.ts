import { and, eq, sql } from 'drizzle-orm'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { listPage, timeFilters, wordsFilter, type Listing } from '../../core/list'
import { notFound } from '../../core/problem'
import type { Page } from '../../core/shapes'
import { pingKinds, type FlipView, type PingView } from './shapes'
import { flips, heartbeats, pings } from './tables'

type PingRow = typeof pings.$inferSelect
type FlipRow = typeof flips.$inferSelect

export const pingListing: Listing<PingRow> = {
  name: 'pings',
  table: pings as never,
  id: pings.n,
  idOf: row => row.n,
  owner: pings.heartbeatId,
  defaultSort: '-id',
  filters: { kind: wordsFilter(pings.kind, pingKinds, 'Only pings of these kinds.'), ...timeFilters('at', pings.at) },
  sorts: {},
}

export const flipListing: Listing<FlipRow> = {
  name: 'flips',
  table: flips as never,
  id: flips.id,
  idOf: row => row.id,
  owner: flips.heartbeatId,
  defaultSort: '-id',
  filters: timeFilters('at', flips.at),
  sorts: {},
}

/** Pings of a heartbeat, newest first. @throws Problem 404 */
export async function listPings(ctx: Ctx, id: string, query: Record<string, unknown>): Promise<Page<PingView>> {
  await requireHeartbeat(ctx, id)
  return await listPage(ctx, pingListing, query, pingView, id)
}

/** One ping with its body. @throws Problem 404 */
export async function getPing(ctx: Ctx, id: string, n: string): Promise<PingView & { body: string }> {
  await requireHeartbeat(ctx, id)
  const [row] = /^\d{1,15}$/.test(n)
    ? await ctx.hub.read
        .select()
        .from(pings)
        .where(and(eq(pings.heartbeatId, id), eq(pings.n, Number(n))))
    : []
  if (!row) throw notFound('ping')
  return { ...pingView(row), body: row.body ? new TextDecoder().decode(row.body) : '' }
}

/** Changes of status of a heartbeat, newest first. @throws Problem 404 */
export async function listFlips(ctx: Ctx, id: string, query: Record<string, unknown>): Promise<Page<FlipView>> {
  await requireHeartbeat(ctx, id)
  return await listPage(
    ctx,
    flipListing,
    query,
    row =>
      ({
        id: row.id,
        at: instant(row.at),
        from: row.from,
        to: row.to,
        reason: row.reason,
      }) as FlipView,
    id,
  )
}

async function requireHeartbeat(ctx: Ctx, id: string): Promise<void> {
  const [row] = await ctx.hub.read
    .select({ one: sql`1` })
    .from(heartbeats)
    .where(and(eq(heartbeats.id, id), eq(heartbeats.workspaceId, ctx.workspaceId)))
  if (!row) throw notFound('heartbeat')
}

function pingView(row: typeof pings.$inferSelect): PingView {
  return {
    n: row.n,
    kind: row.kind as PingView['kind'],
    at: instant(row.at),
    exit_status: row.exitStatus,
    duration_ms: row.durationMs,
    rid: row.rid,
    source: row.source,
    method: row.method,
    user_agent: row.userAgent,
    body_bytes: row.body?.length ?? 0,
  }
}
