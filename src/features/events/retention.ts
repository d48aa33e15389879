import { and, asc, eq, inArray, lt, sql } from 'drizzle-orm'
import { pruneByPlan } from '../../access/retention'
import { record } from '../../core/change'
import { counters, events } from '../../core/db/tables'
import type { Hub } from '../../core/hub'
import { isAwaited } from '../webhooks/awaited'

const mostAtOnce = 500

/** Name of the counter that holds the last position of a workspace's feed at which an event was deleted. */
export const prunedCounter = (workspaceId: string): string => `feed-pruned:${workspaceId}`

/** Deletes events that are older than the plan keeps them, but none that a delivery still has to send. */
export const pruneEvents = (hub: Hub): Promise<void> =>
  pruneByPlan(hub, 'event_feed_days', (workspaceId, before) =>
    record(hub, async tx => {
      const old = await tx
        .select({ id: events.id, position: events.position })
        .from(events)
        .where(and(eq(events.workspaceId, workspaceId), lt(events.occurredAt, before), sql`not ${isAwaited(tx, events.id)}`))
        .orderBy(asc(events.id))
        .limit(mostAtOnce)
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
