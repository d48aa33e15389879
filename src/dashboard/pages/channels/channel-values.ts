import type { NotificationChannelKindView, NotificationChannelView } from '../../../features/notifications/shapes'
import { settingsBody } from '../../parts/adapter-settings'
import type { Values } from '../../parts/form'
import { displayTimezone } from '../../parts/timezone'

const defaults: Values = {
  name: '',
  is_default: true,
  topics: ['incidents', 'notices'],
  min_severity: 'info',
  tags: [],
  remind_every_seconds: null,
  max_reminders: 10,
  group_seconds: 10,
}
const everyDay = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

/** Form values for a new or an existing channel. */
export function channelValues(channel: NotificationChannelView | null): Values {
  const own =
    channel && Object.fromEntries(Object.keys(defaults).map(name => [name, channel[name as keyof NotificationChannelView]]))
  const quiet = channel?.quiet_hours ?? null
  return {
    ...defaults,
    ...own,
    quiet_hours: quiet !== null,
    'quiet_hours.timezone': quiet?.timezone ?? displayTimezone(),
    'quiet_hours.days': quiet?.days ?? everyDay,
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

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** The request body: all fields of a new channel, or the fields changed by an edit. */
export function channelBody(kind: NotificationChannelKindView, values: Values, before: Values | null): Values {
  const known = before ?? channelValues(null)
  const changed = Object.keys(defaults).filter(name => !isSame(values[name], known[name]))
  const quiet = quietOf(values)
  return {
    ...(before === null && { kind: kind.kind, name: values.name }),
    ...settingsBody(kind, values, before),
    ...Object.fromEntries(changed.map(name => [name, values[name]])),
    ...(!isSame(quiet, quietOf(known)) && { quiet_hours: quiet }),
  }
}
