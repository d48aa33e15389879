import { and, asc, eq, inArray, lt, sql } from 'drizzle-orm'
import { pruneByPlan } from '../../access/retention'
import { record } from '../../core/change'
import { events } from '../../core/db/tables'
import type { Hub } from '../../core/hub'
import { isAwaited } from '../webhooks/awaited'

const mostAtOnce = 500

/** Deletes events that are older than the plan keeps them, but none that a delivery still has to send. */
export const pruneEvents = (hub: Hub): Promise<void> =>
  pruneByPlan(hub, 'event_feed_days', (workspaceId, before) =>
    record(hub, async tx => {
      const old = await tx
        .select({ id: events.id })
        .from(events)
        .where(and(eq(events.workspaceId, workspaceId), lt(events.occurredAt, before), sql`not ${isAwaited(tx, events.id)}`))
        .orderBy(asc(events.id))
        .limit(mostAtOnce)
      if (old.length > 0)
        await tx.delete(events).where(
          inArray(
            events.id,
            old.map(row => row.id),
          ),
        )
      return { result: old.length }
    }),
  )
