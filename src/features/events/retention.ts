import { and, asc, eq, inArray, lt, sql, type SQL } from 'drizzle-orm'
import { pruneByPlan } from '../../access/retention'
import { record } from '../../core/change'
import { counters, events } from '../../core/db/tables'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'

const batchSize = 500

/** Name of the counter that stores the highest feed position of a workspace at which an event was deleted. */
export const prunedCounter = (workspaceId: string): string => `feed-pruned:${workspaceId}`

/**
 * Deletes events that exceed the retention of the plan, except those that are still needed.
 * @param isNeeded SQL condition on the id of an event
 */
export const pruneEvents = (hub: Hub, isNeeded: (tx: Tx, eventId: typeof events.id) => SQL): Promise<void> =>
  pruneByPlan(hub, 'event_feed_days', (workspaceId, before) =>
    record(hub, async tx => {
      const old = await tx
        .select({ id: events.id, position: events.position })
        .from(events)
        .where(and(eq(events.workspaceId, workspaceId), lt(events.occurredAt, before), sql`not ${isNeeded(tx, events.id)}`))
        .orderBy(asc(events.id))
        .limit(batchSize)
      if (old.length > 0) {
        await tx.delete(events).where(
          inArray(
            events.id,
            old.map(row => row.id),
          ),
        )
        const last = Math.max(...old.map(row => row.position))
        await tx
          .insert(counters)
          .values({ name: prunedCounter(workspaceId), value: last })
          .onConflictDoUpdate({
            target: counters.name,
            set: { value: sql`case when ${counters.value} < excluded.value then excluded.value else ${counters.value} end` },
          })
      }
      return { result: old.length }
    }),
  )
