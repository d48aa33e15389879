import { and, asc, count, eq, inArray, lte } from 'drizzle-orm'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { countRows, countsByWord } from '../../core/db/counts'
import { latestOf } from './live/latest'
import { monitorStatuses } from './shapes'
import { monitors } from './tables'

type Status = (typeof monitorStatuses)[number]

/** The number of monitors of a workspace, by status. */
export async function monitorCounts({ hub, workspaceId }: Ctx): Promise<{ total: number; by_status: Record<Status, number> }> {
  const rows = await hub.read
    .select({ word: monitors.status, n: count() })
    .from(monitors)
    .where(eq(monitors.workspaceId, workspaceId))
    .groupBy(monitors.status)
  return { total: rows.reduce((sum, row) => sum + row.n, 0), by_status: countsByWord(monitorStatuses, rows) }
}

/**
 * The monitors with the slowest last check, slowest first, out of those that are up or degraded. Includes only monitors this hub has
 * checked since it started.
 */
export async function slowestMonitors(
  { hub, workspaceId }: Ctx,
  max: number,
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
    .slice(0, max)
    .map(({ id, name, result, spent }) => ({ id, name, latency_ms: Math.round(spent), checked_at: instant(result.at) }))
}

/** The certificate a check last saw. */
interface ExpiringCertificate {
  monitor_id: string
  name: string
  target: string
  expires_at: string
}

/**
 * The certificates last seen by checks that expire before a time (ms UTC), including expired ones: the first to expire, and the total,
 * counted up to 10,000.
 */
export async function expiringCertificates(
  { hub, workspaceId }: Ctx,
  before: number,
  max: number,
): Promise<{ total: number; data: ExpiringCertificate[] }> {
  const { id, name, target, certificateExpiresAt: end } = monitors
  const ending = and(eq(monitors.workspaceId, workspaceId), lte(end, before))
  const rows = await hub.read.select({ id, name, target, end }).from(monitors).where(ending).orderBy(asc(end), asc(id)).limit(max)
  return {
    total: rows.length < max ? rows.length : await countRows(hub.read, hub.read.select({ id }).from(monitors).where(ending)),
    data: rows.map(row => ({ monitor_id: row.id, name: row.name, target: row.target, expires_at: instant(row.end!) })),
  }
}
