import type { NotificationChannelKindView, NotificationChannelView } from '../../../features/notifications/shapes'
import type { Values } from '../../parts/form'
import { schemasOf } from '../../parts/option-fields'
import { fieldsOf, mergePatch, optionsFrom } from '../../parts/option-values'
import { shownTimezone } from '../../parts/timezone'

const untouched: Values = {
  name: '',
  for_everything: true,
  topics: ['incidents', 'notices'],
  min_severity: 'info',
  tags: [],
  remind_every_seconds: null,
  most_reminders: 10,
  group_seconds: 10,
}
const workdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

/** The fields of the settings of a kind, with what a channel has set. */
export const settingValues = (kind: NotificationChannelKindView, settings: Record<string, unknown> = {}): Values =>
  Object.assign(
    {},
    ...Object.entries(schemasOf(kind.settings)).map(([name, schema]) => fieldsOf(`settings.${name}`, schema, settings[name])),
  )

/** The fields of a form for a new channel, or for one that there is. */
export function channelValues(channel: NotificationChannelView | null): Values {
  const own =
    channel && Object.fromEntries(Object.keys(untouched).map(name => [name, channel[name as keyof NotificationChannelView]]))
  const quiet = channel?.quiet_hours ?? null
  return {
    ...untouched,
    ...own,
    quiet_hours: quiet !== null,
    'quiet_hours.timezone': quiet?.timezone ?? shownTimezone(),
    'quiet_hours.days': quiet?.days ?? workdays,
    'quiet_hours.from': quiet?.from ?? '22:00',
    'quiet_hours.to': quiet?.to ?? '07:00',
    'quiet_hours.except_severity': quiet ? (quiet.except_severity ?? '') : 'critical',
  }
}

const quietOf = (values: Values): Values | null =>
  values.quiet_hours
    ? {
        timezone: values['quiet_hours.timezone'],
        days: values['quiet_hours.days'],
        from: values['quiet_hours.from'],
        to: values['quiet_hours.to'],
        except_severity: values['quiet_hours.except_severity'] || null,
      }
    : null

/** The settings that a form stands for. */
export const settingsOf = (kind: NotificationChannelKindView, values: Values): Values =>
  optionsFrom(schemasOf(kind.settings), values, 'settings')

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** What the fields make: all that a new channel sets, or what an edit changes of how they were before. */
export function channelBody(kind: NotificationChannelKindView, values: Values, before: Values | null): Values {
  const known = before ?? channelValues(null)
  const changed = Object.keys(untouched).filter(name => !isSame(values[name], known[name]))
  const quiet = quietOf(values)
  const settings = settingsOf(kind, values)
  const changedSettings = before === null ? settings : mergePatch(settingsOf(kind, before), settings)
  return {
    ...(before === null && { kind: kind.kind, name: values.name }),
    ...(changedSettings && { settings: changedSettings }),
    ...Object.fromEntries(changed.map(name => [name, values[name]])),
    ...(!isSame(quiet, quietOf(known)) && { quiet_hours: quiet }),
  }
}
