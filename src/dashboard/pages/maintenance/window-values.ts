import type { MaintenanceWindowView } from '../../../features/maintenance/shapes'
import type { Values } from '../../parts/form'
import { localText, shownTimezone } from '../../parts/timezone'
import { weeklyOf, weeklyRule } from './rules'

/** The next full hour, as a field for local times has it. */
export const nextHour = (now: number): string => `${localText(now + 3_600_000).slice(0, 13)}:00`

/** The fields of a form for a new window, or for one that there is. `picked` is how it comes: `weekly` is a rule that is made. */
export function windowValues(window: MaintenanceWindowView | null, starts: string): Values {
  const weekly = window?.rrule ? weeklyOf(window.rrule) : null
  return {
    name: window?.name ?? '',
    description: window?.description ?? '',
    picked: window === null ? 'once' : weekly ? 'weekly' : window.kind,
    starts_at_local: window ? (window.starts_at_local?.slice(0, 16) ?? '') : starts,
    timezone: window?.timezone ?? shownTimezone(),
    duration_seconds: window?.duration_seconds ?? 3600,
    days: weekly?.days ?? [],
    every: weekly?.every ?? 1,
    rrule: window?.rrule ?? '',
    cron: window?.cron ?? '',
    exdates: window?.exdates ?? [],
    'targets.all': window?.targets.all ?? false,
    'targets.monitors': window?.targets.monitors ?? [],
    'targets.heartbeats': window?.targets.heartbeats ?? [],
    'targets.groups': window?.targets.groups ?? [],
    'targets.tags': window?.targets.tags ?? [],
  }
}

/** When the window comes, as the API has it. */
export function timingFrom(values: Values): Values {
  const picked = values.picked as string
  const kind = picked === 'weekly' ? 'rrule' : picked
  const rule =
    picked === 'weekly' ? weeklyRule({ days: values.days as string[], every: Number(values.every ?? 1) }) : values.rrule
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

const targetsFrom = (values: Values): Values =>
  Object.fromEntries(['all', 'monitors', 'heartbeats', 'groups', 'tags'].map(name => [name, values[`targets.${name}`]]))

/** All that a window is. */
export const windowBody = (values: Values): Values => ({
  name: values.name,
  description: values.description,
  ...timingFrom(values),
  targets: targetsFrom(values),
})
