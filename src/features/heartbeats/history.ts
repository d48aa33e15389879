import { and, eq } from 'drizzle-orm'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { listPage } from '../../core/list'
import type { Listing } from '../../core/listing'
import { timeFilters, wordsFilter } from '../../core/list-filters'
import { notFound } from '../../core/problem'
import { findRow } from '../../core/rows'
import type { Page } from '../../core/shapes'
import { heartbeatRows } from './heartbeats'
import { pingKinds, type FlipView, type PingView } from './shapes'
import { flips, pings } from './tables'

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

/** Lists the pings of a heartbeat, newest first. @throws Problem 404 */
export async function listPings(ctx: Ctx, id: string, query: Record<string, unknown>): Promise<Page<PingView>> {
  await findRow(ctx.hub.read, ctx, heartbeatRows, id)
  return await listPage(ctx, pingListing, query, pingView, id)
}

/** Returns a ping with its body. @throws Problem 404 */
export async function getPing(ctx: Ctx, id: string, n: string): Promise<PingView & { body: string }> {
  await findRow(ctx.hub.read, ctx, heartbeatRows, id)
  const [row] = /^\d{1,15}$/.test(n)
    ? await ctx.hub.read
        .select()
        .from(pings)
        .where(and(eq(pings.heartbeatId, id), eq(pings.n, Number(n))))
    : []
  if (!row) throw notFound('ping')
  return { ...pingView(row), body: row.body ? new TextDecoder().decode(row.body) : '' }
}

/** Lists the status changes of a heartbeat, newest first. @throws Problem 404 */
export async function listFlips(ctx: Ctx, id: string, query: Record<string, unknown>): Promise<Page<FlipView>> {
  await findRow(ctx.hub.read, ctx, heartbeatRows, id)
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
