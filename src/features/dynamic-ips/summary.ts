import { and, count, desc, eq, inArray, isNotNull, or } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import { countsByWord } from '../../core/db/counts'
import { dynamicIpStatuses, type DynamicIpView } from './shapes'
import { dynamicIpHosts, dynamicIps } from './tables'
import { sourceViews } from './view'

interface DynamicIpSummary {
  total: number
  by_status: Record<(typeof dynamicIpStatuses)[number], number>
  /** Sources that are stale or held, or have a host with a problem. */
  failing: DynamicIpView[]
}

/** Counts the sources of the workspace by status, and finds those with issues, newest first. */
export async function dynamicIpSummary({ hub, workspaceId }: Ctx, maxFailing: number): Promise<DynamicIpSummary> {
  const own = eq(dynamicIps.workspaceId, workspaceId)
  const rows = await hub.read
    .select({ word: dynamicIps.status, n: count() })
    .from(dynamicIps)
    .where(own)
    .groupBy(dynamicIps.status)
  const withProblem = hub.read
    .select({ id: dynamicIpHosts.sourceId })
    .from(dynamicIpHosts)
    .innerJoin(dynamicIps, eq(dynamicIps.id, dynamicIpHosts.sourceId))
    .where(and(own, isNotNull(dynamicIpHosts.problem)))
  const failing = await hub.read
    .select()
    .from(dynamicIps)
    .where(and(own, or(inArray(dynamicIps.status, ['stale', 'held']), inArray(dynamicIps.id, withProblem))))
    .orderBy(desc(dynamicIps.id))
    .limit(maxFailing)
  return {
    total: rows.reduce((sum, row) => sum + row.n, 0),
    by_status: countsByWord(dynamicIpStatuses, rows),
    failing: await sourceViews(hub.read, hub, failing),
  }
}
