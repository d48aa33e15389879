import { and, eq, inArray, lt } from 'drizzle-orm'
import { pruneByPlan } from '../../access/retention'
import { record } from '../../core/change'
import type { Hub } from '../../core/hub'
import { incidents } from './tables'

// A transaction is kept short, since it holds up every other write of the process.
const mostAtOnce = 200

/** Deletes incidents that were resolved longer ago than the plan keeps them, with their timelines. Unresolved ones stay. */
export const pruneIncidents = (hub: Hub): Promise<void> =>
  pruneByPlan(hub, 'incident_days', (workspaceId, before) =>
    record(hub, async tx => {
      const old = await tx
        .select({ id: incidents.id })
        .from(incidents)
        .where(and(eq(incidents.workspaceId, workspaceId), lt(incidents.resolvedAt, before)))
        .limit(mostAtOnce)
      if (old.length > 0)
        await tx.delete(incidents).where(
          inArray(
            incidents.id,
            old.map(row => row.id),
          ),
        )
      return { result: old.length }
    }),
  )
