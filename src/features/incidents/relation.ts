import { and, eq, inArray } from 'drizzle-orm'
import { accessCondition } from '../../core/resource-access'
import type { Relations } from '../../core/relation'
import { incidents } from './tables'
import { incidentViews } from './view'

/** Lets monitors and heartbeats embed their unresolved incident. */
export const subjectRelations: Relations = {
  incident: {
    idOf: ((subject: { id: string }) => subject.id) as never,
    permission: 'monitoring.read',
    async load(ctx, ids) {
      if (ids.length === 0) return new Map()
      const own = and(eq(incidents.workspaceId, ctx.workspaceId), accessCondition(ctx, incidents.subjectId))
      const rows = await ctx.hub.read
        .select()
        .from(incidents)
        .where(and(inArray(incidents.openSubject, [...ids]), own))
      const views = await incidentViews(ctx.hub.read, rows, ctx.hub.clock.now())
      return new Map(rows.map((row, index) => [row.openSubject!, views[index]!]))
    },
  },
}
