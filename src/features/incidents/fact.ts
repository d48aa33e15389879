import { instant } from '../../core/clock'
import type { EventData } from '../../core/events'
import type { IncidentRow } from './outage'

type Fact = NonNullable<EventData<'monitor.alert'>['incident']>

/** The member `incident` of the events about monitors and heartbeats. */
export const incidentFact = (row: IncidentRow): Fact => ({
  id: row.id,
  status: row.status,
  severity: row.severity,
  cause: row.cause,
  started_at: instant(row.startedAt),
  confirmed_at: instant(row.confirmedAt),
  resolved_at: instant(row.resolvedAt),
})

/** How long it lasted, or lasts until `now`, from its first failure on; what it rested between is left out. Milliseconds. */
export const durationOf = (row: IncidentRow, now: number): number =>
  Math.max(0, (row.resolvedAt ?? now) - row.startedAt - row.restedMs)
