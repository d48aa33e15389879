import type { NotificationChannelKindView, NotificationChannelView } from '../../../features/notifications/shapes'
import { settingsBody } from '../../parts/adapter-settings'
import type { Values } from '../../parts/form'
import { displayTimezone } from '../../parts/timezone'
import { changedFields, flattened, isSame, nested, valuesFor } from '../../parts/values'

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
export const dayLabels = { mon: 'Mon', tue: 'Tue', wed: 'Wed', thu: 'Thu', fri: 'Fri', sat: 'Sat', sun: 'Sun' }

const newQuietHours = () => ({
  timezone: displayTimezone(),
  days: Object.keys(dayLabels),
  from: '22:00',
  to: '07:00',
  except_severity: 'critical',
})

/** Form values for a new or an existing channel. */
export function channelValues(channel: NotificationChannelView | null): Values {
  const quiet = channel?.quiet_hours ?? null
  return {
    ...valuesFor(defaults, channel),
    quiet_hours: quiet !== null,
    ...flattened('quiet_hours', quiet ? { ...quiet, except_severity: quiet.except_severity ?? '' } : newQuietHours()),
  }
}

const quietOf = (values: Values): Values | null =>
  values.quiet_hours ? { ...nested('quiet_hours', values), except_severity: values['quiet_hours.except_severity'] || null } : null

/** The request body: all fields of a new channel, or the fields changed by an edit. */
export function channelBody(kind: NotificationChannelKindView, values: Values, before: Values | null): Values {
  const known = before ?? channelValues(null)
  const quiet = quietOf(values)
  return {
    ...(before === null && { kind: kind.kind, name: values.name }),
    ...settingsBody(kind, values, before),
    ...changedFields(known, values, Object.keys(defaults)),
    ...(!isSame(quiet, quietOf(known)) && { quiet_hours: quiet }),
  }
}
