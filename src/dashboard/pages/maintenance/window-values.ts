import type { MaintenanceWindowView } from '../../../features/maintenance/shapes'
import type { Values } from '../../parts/form'
import { toLocalInput, displayTimezone } from '../../parts/timezone'
import { flattened, nested } from '../../parts/values'
import { weeklyOf, weeklyRule } from './recurrence-text'

/** The next full hour as the value of a local time input. */
export const nextHour = (now: number): string => `${toLocalInput(now + 3_600_000).slice(0, 13)}:00`

/** Form values for a new or an existing window. `frequency` is the kind, or `weekly` for rules that the weekday form can represent. */
export function windowValues(window: MaintenanceWindowView | null, starts: string): Values {
  const weekly = window?.rrule ? weeklyOf(window.rrule) : null
  return {
    name: window?.name ?? '',
    description: window?.description ?? '',
    frequency: window === null ? 'once' : weekly ? 'weekly' : window.kind,
    starts_at_local: window ? (window.starts_at_local?.slice(0, 16) ?? '') : starts,
    timezone: window?.timezone ?? displayTimezone(),
    duration_seconds: window?.duration_seconds ?? 3600,
    days: weekly?.days ?? [],
    every: weekly?.every ?? 1,
    rrule: window?.rrule ?? '',
    cron: window?.cron ?? '',
    exdates: window?.exdates ?? [],
    ...flattened('targets', window?.targets ?? { all: false, monitors: [], heartbeats: [], groups: [], tags: [] }),
  }
}

/** Converts form values to the schedule fields of the API. */
export function timingFrom(values: Values): Values {
  const frequency = values.frequency as string
  const kind = frequency === 'weekly' ? 'rrule' : frequency
  const rule =
    frequency === 'weekly' ? weeklyRule({ days: values.days as string[], every: Number(values.every ?? 1) }) : values.rrule
  return {
    kind,
    starts_at_local: values.starts_at_local === '' ? null : values.starts_at_local,
    timezone: values.timezone,
    duration_seconds: values.duration_seconds,
    rrule: kind === 'rrule' ? rule : null,
    cron: kind === 'cron' ? values.cron : null,
    exdates: kind === 'once' ? [] : values.exdates,
  }
}

/** The request body for a window. */
export const windowBody = (values: Values): Values => ({
  name: values.name,
  description: values.description,
  ...timingFrom(values),
  targets: nested('targets', values),
})
