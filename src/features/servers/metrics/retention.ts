import { and, asc, eq, gt, inArray } from 'drizzle-orm'
import { longestRetentionDays, pruneByPlan } from '../../../access/retention'
import type { Hub } from '../../../core/hub'
import { yieldToEventLoop } from '../../../core/time-slices'
import { servers } from '../tables'
import { metricSources, subjectOf } from './names'

const serversAtOnce = 200

/** Drops the tables of metrics that no plan keeps. */
export async function pruneMetrics(hub: Hub): Promise<void> {
  await hub.series.metrics.dropExpired(hub.clock.now(), await longestRetentionDays(hub, 'server_metrics_days'))
}

/** Deletes metrics past the retention of each plan, and those of servers that no longer exist. Runs daily. */
export async function thinMetrics(hub: Hub): Promise<void> {
  await pruneByPlan(hub, 'server_metrics_days', async (workspaceId, before) => {
    for (let after = ''; ;) {
      const rows = await hub.read
        .select({ id: servers.id })
        .from(servers)
        .where(and(eq(servers.workspaceId, workspaceId), gt(servers.id, after)))
        .orderBy(asc(servers.id))
        .limit(serversAtOnce)
      if (rows.length === 0) return 0
      const subjects = rows.flatMap(({ id }) => metricSources.map(source => subjectOf(id, source)))
      await hub.series.metrics.deleteBefore(subjects, before)
      await yieldToEventLoop()
      after = rows.at(-1)!.id
    }
  })
  await deleteOrphans(hub)
}

async function deleteOrphans(hub: Hub): Promise<void> {
  for (let after = -1; ;) {
    const stored = await hub.series.metrics.listSubjects(after, serversAtOnce)
    if (stored.length === 0) return
    const idOf = ({ text }: { text: string }) => text.split(' ')[0]!
    const rows = await hub.read
      .select({ id: servers.id })
      .from(servers)
      .where(inArray(servers.id, stored.map(idOf)))
    const known = new Set(rows.map(row => row.id))
    const orphans = stored.filter(one => !known.has(idOf(one)))
    if (orphans.length > 0) await hub.series.metrics.delete(orphans.map(one => one.text))
    after = stored.at(-1)!.number
  }
}
