import { instant } from '../../core/clock'
import { nextOccurrences, occurrencesBetween, type Occurrence } from './occurrences'
import { editableView, memberView } from '../../core/members'
import { windowMembers, type MaintenanceOccurrenceView, type MaintenanceWindowView } from './shapes'
import type { maintenanceWindows } from './tables'

export type WindowRow = typeof maintenanceWindows.$inferSelect

// Occurrences of a window overlap if its interval is shorter than its duration.
const maxSimultaneous = 100

/** A maintenance window as the API returns it. @param now ms UTC */
export function windowView(row: WindowRow, now: number): MaintenanceWindowView {
  const current = currentOccurrence(row, now)
  const next = nextOccurrences(row, now)
  return {
    id: row.id,
    ...memberView(windowMembers, row),
    status: current ? 'in_progress' : next.length > 0 ? 'scheduled' : 'ended',
    current: current && occurrenceView(current),
    next_occurrences: next.map(occurrenceView),
    ...editableView(row),
  }
}

/** Returns the occurrence that is active at a time (ms UTC), or null. If there are several, returns the one that ends last. */
export function currentOccurrence(row: WindowRow, at: number): Occurrence | null {
  const all = occurrencesBetween(row, at, at + 1, maxSimultaneous)
  return all.length === 0 ? null : all.reduce((last, one) => (one.until > last.until ? one : last))
}

export const occurrenceView = ({ from, until, startedManually }: Occurrence): MaintenanceOccurrenceView => ({
  starts_at: instant(from),
  ends_at: instant(until),
  started_manually: startedManually,
})
