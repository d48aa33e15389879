import type { Ctx } from '../../core/ctx'
import { everyWindow } from './every'
import { currentOf, occurrenceView } from './view'
import { nextOccurrences } from './occurrences'
import type { MaintenanceOccurrenceView } from './shapes'

/** A window by one of its occurrences. */
export type WindowSpan = { id: string; name: string } & MaintenanceOccurrenceView

/** The windows of a workspace that are in force, the first to end in front, and those that come next. @param most of the latter */
export async function maintenanceOutline(ctx: Ctx, most: number): Promise<{ in_force: WindowSpan[]; next: WindowSpan[] }> {
  const now = ctx.hub.clock.now()
  const rows = await everyWindow(ctx.hub.read, ctx.workspaceId)
  const spans = (of: (row: (typeof rows)[number]) => ReturnType<typeof currentOf>, member: 'starts_at' | 'ends_at') =>
    rows
      .flatMap(row => {
        const one = of(row)
        return one ? [{ id: row.id, name: row.name, ...occurrenceView(one) }] : []
      })
      .sort((a, b) => (a[member] < b[member] ? -1 : 1))
  return {
    in_force: spans(row => currentOf(row, now), 'ends_at'),
    next: spans(row => nextOccurrences(row, now)[0] ?? null, 'starts_at').slice(0, most),
  }
}
