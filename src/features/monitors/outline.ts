import { and, asc, count, eq, inArray, lte } from 'drizzle-orm'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { countRows, numbersOf } from '../../core/db/counts'
import { latestOf } from './latest'
import { monitors, monitorStatuses } from './tables'

export { monitorStatuses }
type Status = (typeof monitorStatuses)[number]

/** How many monitors a workspace has, by status. */
export async function monitorsOutline({ hub, workspaceId }: Ctx): Promise<{ total: number; by_status: Record<Status, number> }> {
  const rows = await hub.read
    .select({ word: monitors.status, n: count() })
    .from(monitors)
    .where(eq(monitors.workspaceId, workspaceId))
    .groupBy(monitors.status)
  return { total: rows.reduce((sum, row) => sum + row.n, 0), by_status: numbersOf(monitorStatuses, rows) }
}

/**
 * The monitors up or degraded whose last check took longest, slowest first, as far as this hub makes their checks. Those it has not
 * checked since it started are left out.
 */
export async function slowestMonitors(
  { hub, workspaceId }: Ctx,
  most: number,
): Promise<{ id: string; name: string; latency_ms: number; checked_at: string }[]> {
  const latest = latestOf(hub)
  if (latest.size === 0) return []
  const rows = await hub.read
    .select({ id: monitors.id, name: monitors.name })
    .from(monitors)
    .where(and(eq(monitors.workspaceId, workspaceId), inArray(monitors.status, ['up', 'degraded'])))
  return rows
    .flatMap(row => {
      const result = latest.get(row.id)?.result
      return result && result.phases.total !== null ? [{ ...row, result, spent: result.phases.total }] : []
    })
    .sort((a, b) => b.spent - a.spent)
    .slice(0, most)
    .map(({ id, name, result, spent }) => ({ id, name, latency_ms: Math.round(spent), checked_at: instant(result.at) }))
}

/** A certificate that a check saw, by the monitor. */
export interface EndingCertificate {
  monitor_id: string
  name: string
  target: string
  expires_at: string
}

/**
 * The certificates that checks saw last and that end before a time (ms UTC), those that have ended among them: the first ones, and how
 * many they are, counted up to 10,000.
 */
export async function endingCertificates(
  { hub, workspaceId }: Ctx,
  before: number,
  most: number,
): Promise<{ total: number; data: EndingCertificate[] }> {
  const { id, name, target, certificateExpiresAt: end } = monitors
  const ending = and(eq(monitors.workspaceId, workspaceId), lte(end, before))
  const rows = await hub.read
    .select({ id, name, target, end })
    .from(monitors)
    .where(ending)
    .orderBy(asc(end), asc(id))
    .limit(most)
  return {
    total: rows.length < most ? rows.length : await countRows(hub.read, hub.read.select({ id }).from(monitors).where(ending)),
    data: rows.map(row => ({ monitor_id: row.id, name: row.name, target: row.target, expires_at: instant(row.end!) })),
  }
}
