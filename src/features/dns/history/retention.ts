import { and, eq, lt, lte, max, sql } from 'drizzle-orm'
import { pruneByPlan } from '../../../access/retention'
import { record } from '../../../core/change'
import type { Hub } from '../../../core/hub'
import { dnsZones } from '../zones/tables'
import { clearHistory } from './clear-history'
import { dnsChangesets } from './tables'

/**
 * Deletes changesets that exceed the retention of the plan, except the most recent ones of each zone.
 * @param minKept changesets to keep per zone, regardless of age
 */
export const pruneHistory = (hub: Hub, minKept = 1000): Promise<void> =>
  pruneByPlan(hub, 'dns_history_days', async (workspaceId, before) => {
    // Read outside a transaction: the scan covers all old changesets and must not block writes.
    const overdue = await hub.read
      .select({ zoneId: dnsChangesets.zoneId, upTo: max(dnsChangesets.version) })
      .from(dnsChangesets)
      .innerJoin(dnsZones, eq(dnsZones.id, dnsChangesets.zoneId))
      .where(
        and(
          eq(dnsChangesets.workspaceId, workspaceId),
          lt(dnsChangesets.occurredAt, before),
          lte(dnsChangesets.version, sql`${dnsZones.version} - ${minKept}`),
        ),
      )
      .groupBy(dnsChangesets.zoneId)
      .limit(batchSize)
    for (const { zoneId, upTo } of overdue)
      while (await record(hub, async tx => ({ result: await clearHistory(tx, zoneId, upTo!) }))) continue
    return overdue.length
  })

const batchSize = 500
