import { and, asc, eq, gt, inArray, isNull } from 'drizzle-orm'
import { longestRetentionDays, pruneByPlan } from '../../../access/retention'
import type { Hub } from '../../../core/hub'
import { yieldToEventLoop } from '../../../core/time-slices'
import { firewallAttachments, firewalls } from '../firewalls/tables'
import { servers } from '../tables'
import { volumes } from '../volumes/tables'
import { metricSources, packetsSubject, subjectOf } from './names'

const measured = [servers, volumes, firewalls] as const
const rowsAtOnce = 200

/** Drops the tables of metrics that no plan keeps. */
export async function pruneMetrics(hub: Hub): Promise<void> {
  await hub.series.metrics.dropExpired(hub.clock.now(), await longestRetentionDays(hub, 'server_metrics_days'))
}

/** Deletes metrics past the retention of each plan, and those of servers and volumes that no longer exist. Runs daily. */
export async function thinMetrics(hub: Hub): Promise<void> {
  await pruneByPlan(hub, 'server_metrics_days', async (workspaceId, before) => {
    for (const table of measured)
      for (let after = ''; ;) {
        const rows = await hub.read
          .select({ id: table.id })
          .from(table)
          .where(and(eq(table.workspaceId, workspaceId), gt(table.id, after)))
          .orderBy(asc(table.id))
          .limit(rowsAtOnce)
        if (rows.length === 0) break
        const subjects = rows.flatMap(({ id }) => metricSources.map(source => subjectOf(id, source)))
        const hosts = await hub.read
          .select({ firewallId: firewallAttachments.firewallId, serverId: firewallAttachments.serverId })
          .from(firewallAttachments)
          .where(
            and(
              inArray(
                firewallAttachments.firewallId,
                rows.map(row => row.id),
              ),
              isNull(firewallAttachments.accountId),
            ),
          )
        const ofHosts = hosts.map(one => packetsSubject(one.firewallId, one.serverId))
        await hub.series.metrics.deleteBefore([...subjects, ...ofHosts], before)
        await yieldToEventLoop()
        after = rows.at(-1)!.id
      }
    return 0
  })
  await deleteOrphans(hub)
}

async function deleteOrphans(hub: Hub): Promise<void> {
  for (let after = -1; ;) {
    const stored = await hub.series.metrics.listSubjects(after, rowsAtOnce)
    if (stored.length === 0) return
    const idOf = ({ text }: { text: string }) => text.split(' ')[0]!
    const known = new Set<string>()
    for (const table of measured) {
      const rows = await hub.read
        .select({ id: table.id })
        .from(table)
        .where(inArray(table.id, stored.map(idOf)))
      for (const { id } of rows) known.add(id)
    }
    const orphans = stored.filter(one => !known.has(idOf(one)))
    if (orphans.length > 0) await hub.series.metrics.delete(orphans.map(one => one.text))
    after = stored.at(-1)!.number
  }
}
