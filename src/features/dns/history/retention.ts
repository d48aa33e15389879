import { and, eq, lt, lte, max, sql } from 'drizzle-orm'
import { pruneByPlan } from '../../../access/retention'
import { record } from '../../../core/change'
import type { Hub } from '../../../core/hub'
import { dnsZones } from '../tables'
import { clearHistory } from './clear'
import { dnsChangesets } from './tables'

/**
 * Deletes changesets that are older than the plan keeps them, but for the last of each zone.
 * @param leastKept changesets of a zone that stay, however old they are
 */
export const pruneHistory = (hub: Hub, leastKept = 1000): Promise<void> =>
  pruneByPlan(hub, 'dns_history_days', async (workspaceId, before) => {
    // Read outside of any transaction: it walks all that is as old, for which nobody else who writes has to wait.
    const overdue = await hub.read
      .select({ zoneId: dnsChangesets.zoneId, upTo: max(dnsChangesets.version) })
      .from(dnsChangesets)
      .innerJoin(dnsZones, eq(dnsZones.id, dnsChangesets.zoneId))
      .where(
        and(
          eq(dnsChangesets.workspaceId, workspaceId),
          lt(dnsChangesets.occurredAt, before),
          lte(dnsChangesets.version, sql`${dnsZones.version} - ${leastKept}`),
        ),
      )
      .groupBy(dnsChangesets.zoneId)
      .limit(zonesAtOnce)
    for (const { zoneId, upTo } of overdue)
      while (await record(hub, async tx => ({ result: await clearHistory(tx, zoneId, upTo!) }))) continue
    return overdue.length
  })

const zonesAtOnce = 500
