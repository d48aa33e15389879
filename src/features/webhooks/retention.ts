import { and, asc, eq, inArray, lt } from 'drizzle-orm'
import { pruneByPlan } from '../../access/retention'
import { record } from '../../core/change'
import type { Hub } from '../../core/hub'
import { webhookDeliveries } from './tables'

// A transaction is kept short, since it holds up every other write of the process.
const mostAtOnce = 500

/** Deletes deliveries, with their attempts, that ended longer ago than the plan keeps them. What is held or under way stays. */
export const pruneDeliveries = (hub: Hub): Promise<void> =>
  pruneByPlan(hub, 'delivery_log_days', (workspaceId, before) =>
    record(hub, async tx => {
      const old = await tx
        .select({ id: webhookDeliveries.id })
        .from(webhookDeliveries)
        .where(and(eq(webhookDeliveries.workspaceId, workspaceId), lt(webhookDeliveries.finishedAt, before)))
        .orderBy(asc(webhookDeliveries.id))
        .limit(mostAtOnce)
      if (old.length > 0)
        await tx.delete(webhookDeliveries).where(
          inArray(
            webhookDeliveries.id,
            old.map(row => row.id),
          ),
        )
      return { result: old.length }
    }),
  )
