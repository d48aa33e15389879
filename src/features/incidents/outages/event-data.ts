import { instant } from '../../../core/clock'
import type { EventData } from '../../../core/event-kinds'
import type { IncidentRow } from './outage'

type EventIncident = NonNullable<EventData<'monitor.alert'>['incident']>

/** The `incident` field of monitor and heartbeat events. */
export const incidentEventData = (row: IncidentRow): EventIncident => ({
  id: row.id,
  status: row.status,
  severity: row.severity,
  cause: row.cause,
  started_at: instant(row.startedAt),
  confirmed_at: instant(row.confirmedAt),
  resolved_at: instant(row.resolvedAt),
})

/** Duration in milliseconds from the first failure until it was resolved, or until `now`. Excludes time it was resolved in between. */
export const durationOf = (row: IncidentRow, now: number): number =>
  Math.max(0, (row.resolvedAt ?? now) - row.startedAt - row.resolvedMs)
