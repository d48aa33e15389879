import { and, asc, eq, inArray, lt } from 'drizzle-orm'
import { pruneByPlan } from '../../../access/retention'
import { record } from '../../../core/change'
import type { Hub } from '../../../core/hub'
import { pruneBatch } from '../../../core/rows'
import type { JobDraft } from '../../../core/jobs/draft'
import { releaseNextOfEach } from '../sending/ordering'
import { lockEndpoint } from '../sending/holds'
import { webhookDeliveries } from './tables'

// Keeps transactions short, because each one blocks all other writes of the process.
const batchSize = 500

/**
 * Expires deliveries that were held for longer than the retention of the plan, and deletes deliveries, with their attempts, that
 * finished longer ago than that. Unfinished deliveries are kept.
 */
export async function pruneDeliveries(hub: Hub): Promise<void> {
  await pruneByPlan(hub, 'delivery_log_days', (workspaceId, before) => expireHeld(hub, workspaceId, before))
  await pruneByPlan(hub, 'delivery_log_days', (workspaceId, before) =>
    pruneBatch(
      hub,
      webhookDeliveries,
      and(eq(webhookDeliveries.workspaceId, workspaceId), lt(webhookDeliveries.finishedAt, before)),
      webhookDeliveries.id,
    ),
  )
}

/**
 * Expires a batch of deliveries held since before a time (ms UTC), and releases those that waited for them. Returns the batch
 * size.
 */
async function expireHeld(hub: Hub, workspaceId: string, before: number): Promise<number> {
  // A held delivery is not updated while its reason stays the same, so `updatedAt` is when it was held.
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
      .limit(batchSize)
    const now = hub.clock.now()
    const jobs: JobDraft[] = []
    // Lock endpoints before their deliveries, in id order, to avoid deadlocks.
    for (const [endpointId, rows] of [...Map.groupBy(old, row => row.endpointId)].sort(([a], [b]) => (a < b ? -1 : 1))) {
      await lockEndpoint(tx, endpointId)
      const ids = rows.map(row => row.id)
      const ended = await tx
        .update(webhookDeliveries)
        .set({ status: 'expired', reason: 'held_too_long', nextAttemptAt: null, finishedAt: now, endedAs: null, updatedAt: now })
        .where(and(tooLong, inArray(webhookDeliveries.id, ids)))
        .returning()
      jobs.push(...(await releaseNextOfEach(tx, ended, now)))
    }
    return { result: old.length, jobs }
  })
}
