import { and, eq, lt } from 'drizzle-orm'
import { pruneByPlan } from '../../access/retention'
import type { Hub } from '../../core/hub'
import { pruneBatch } from '../../core/rows'
import { incidents } from './tables'

/** Deletes incidents and their timelines once they have been resolved for longer than the plan's retention. */
export const pruneIncidents = (hub: Hub): Promise<void> =>
  pruneByPlan(hub, 'incident_days', (workspaceId, before) =>
    pruneBatch(hub, incidents, and(eq(incidents.workspaceId, workspaceId), lt(incidents.resolvedAt, before))),
  )
