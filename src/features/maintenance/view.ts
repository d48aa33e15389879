import { instant } from '../../core/clock'
import { nextOccurrences, occurrencesBetween, type Occurrence } from './occurrences'
import type { MaintenanceOccurrenceView, MaintenanceWindowView } from './shapes'
import type { maintenanceWindows } from './tables'

export type WindowRow = typeof maintenanceWindows.$inferSelect

// Of a window that comes more often than it is long, several are in force at once.
const mostAtOnce = 100

/** A maintenance window as the API shows it. @param now ms UTC */
export function windowView(row: WindowRow, now: number): MaintenanceWindowView {
  const current = currentOf(row, now)
  const next = nextOccurrences(row, now)
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    kind: row.kind,
    starts_at_local: row.startsAtLocal,
    timezone: row.timezone,
    duration_seconds: row.durationSeconds,
    rrule: row.rrule,
    cron: row.cron,
    exdates: row.exdates,
    targets: row.targets,
    status: current ? 'in_progress' : next.length > 0 ? 'scheduled' : 'ended',
    current: current && occurrenceView(current),
    next_occurrences: next.map(occurrenceView),
    version: row.version,
    created_at: instant(row.createdAt),
    updated_at: instant(row.updatedAt),
  }
}

/** The occurrence that is in force at a time (ms UTC), of several the one that ends last; null when there is none. */
export function currentOf(row: WindowRow, at: number): Occurrence | null {
  const all = occurrencesBetween(row, at, at + 1, mostAtOnce)
  return all.length === 0 ? null : all.reduce((last, one) => (one.until > last.until ? one : last))
}

export const occurrenceView = ({ from, until, byHand }: Occurrence): MaintenanceOccurrenceView => ({
  starts_at: instant(from),
  ends_at: instant(until),
  started_by_hand: byHand,
})
