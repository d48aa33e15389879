import type { Ctx } from '../../core/ctx'
import { allWindows } from './all-windows'
import { currentOccurrence, occurrenceView } from './view'
import { nextOccurrences } from './occurrences'
import type { MaintenanceOccurrenceView } from './shapes'

/** An occurrence with its window. */
type WindowOccurrence = { id: string; name: string } & MaintenanceOccurrenceView

/** Returns the active windows of the workspace, ordered by end, and up to `maxUpcoming` upcoming ones, ordered by start. */
export async function maintenanceSummary(
  ctx: Ctx,
  maxUpcoming: number,
): Promise<{ active: WindowOccurrence[]; upcoming: WindowOccurrence[] }> {
  const now = ctx.hub.clock.now()
  const rows = await allWindows(ctx.hub.read, ctx.workspaceId)
  const occurrences = (
    of: (row: (typeof rows)[number]) => ReturnType<typeof currentOccurrence>,
    sortBy: 'starts_at' | 'ends_at',
  ) =>
    rows
      .flatMap(row => {
        const one = of(row)
        return one ? [{ id: row.id, name: row.name, ...occurrenceView(one) }] : []
      })
      .sort((a, b) => (a[sortBy] < b[sortBy] ? -1 : 1))
  return {
    active: occurrences(row => currentOccurrence(row, now), 'ends_at'),
    upcoming: occurrences(row => nextOccurrences(row, now)[0] ?? null, 'starts_at').slice(0, maxUpcoming),
  }
}
