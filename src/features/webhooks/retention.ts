import { and, asc, eq, inArray, lt } from 'drizzle-orm'
import { pruneByPlan } from '../../access/retention'
import { record } from '../../core/change'
import type { Hub } from '../../core/hub'
import type { JobDraft } from '../../core/jobs/queue'
import { moveUpAll } from './line'
import { heldStill } from './standing'
import { webhookDeliveries } from './tables'

// A transaction is kept short, since it holds up every other write of the process.
const mostAtOnce = 500

/**
 * Ends deliveries that were held for as long as the plan keeps the log, and deletes those, with their attempts, that ended longer
 * ago than that. What is under way stays.
 */
export async function pruneDeliveries(hub: Hub): Promise<void> {
  await pruneByPlan(hub, 'delivery_log_days', (workspaceId, before) => expireHeld(hub, workspaceId, before))
  await pruneByPlan(hub, 'delivery_log_days', (workspaceId, before) =>
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
}

/** Ends some of what is held since before a time (ms UTC), and lets go what stood behind it in its line. Returns how many it looked at. */
async function expireHeld(hub: Hub, workspaceId: string, before: number): Promise<number> {
  // Nothing else is written to a delivery while it is held for the same reason, so that this is since when it is.
  const tooLong = and(
    eq(webhookDeliveries.workspaceId, workspaceId),
    eq(webhookDeliveries.status, 'held'),
    lt(webhookDeliveries.updatedAt, before),
  )
  return await record(hub, async tx => {
    const old = await tx
      .select({ id: webhookDeliveries.id, endpointId: webhookDeliveries.endpointId })
      .from(webhookDeliveries)
      .where(tooLong)
      .orderBy(asc(webhookDeliveries.id))
      .limit(mostAtOnce)
    const now = hub.clock.now()
    const jobs: JobDraft[] = []
    // The endpoints before their deliveries and in one order, as everywhere: two that lock in different orders wait for each other.
    for (const [endpointId, rows] of [...Map.groupBy(old, row => row.endpointId)].sort(([a], [b]) => (a < b ? -1 : 1))) {
      await heldStill(tx, endpointId)
      const ids = rows.map(row => row.id)
      const ended = await tx
        .update(webhookDeliveries)
        .set({ status: 'expired', reason: 'held_too_long', nextAttemptAt: null, finishedAt: now, endedAs: null, updatedAt: now })
        .where(and(tooLong, inArray(webhookDeliveries.id, ids)))
        .returning()
      jobs.push(...(await moveUpAll(tx, ended, now)))
    }
    return { result: old.length, jobs }
  })
}
