import type { HeartbeatView } from '../../../features/heartbeats/shapes'
import { Advanced, Group } from '../../parts/advanced'
import { IncidentFields } from '../../parts/channels-field'
import { DurationField } from '../../parts/duration-field'
import { TextareaField, CheckboxField, Columns, SelectField, TextField, useForm, ListField, type Values } from '../../parts/form'
import { displayTimezone } from '../../parts/timezone'
import { TimezoneField } from '../../parts/timezone-field'
import { changedFields, isSame, valuesFor } from '../../parts/values'
import { SchedulePreview } from './schedule-preview'

const defaults = {
  name: '',
  tags: [],
  description: '',
  slug: '',
  methods: 'any',
  manual_resume: false,
  first_ping_within_seconds: null,
  severity: 'critical',
  channel_ids: null,
}

/** Form values for a new or an existing heartbeat. */
export function heartbeatValues(heartbeat: HeartbeatView | null): Values {
  const schedule = heartbeat?.schedule ?? { kind: 'period', period_seconds: 86_400, grace_seconds: 3600 }
  const timed = 'expression' in schedule ? schedule : null
  return {
    ...valuesFor(defaults, heartbeat),
    'schedule.kind': schedule.kind,
    'schedule.period_seconds': 'period_seconds' in schedule ? schedule.period_seconds : 86_400,
    'schedule.expression': timed?.expression ?? '',
    'schedule.timezone': timed?.timezone ?? displayTimezone(),
    'schedule.grace_seconds': schedule.grace_seconds,
  }
}

const scheduleOf = (values: Values): Values => ({
  kind: values['schedule.kind'],
  ...(values['schedule.kind'] === 'period'
    ? { period_seconds: values['schedule.period_seconds'] }
    : { expression: values['schedule.expression'], timezone: values['schedule.timezone'] }),
  grace_seconds: values['schedule.grace_seconds'],
})

/** The request body: the fields that differ from the previous values, or from the defaults for a new heartbeat. */
export function heartbeatBody(values: Values, before: Values | null): Values {
  const base = before ?? heartbeatValues(null)
  const schedule = scheduleOf(values)
  return {
    ...(before === null && { name: values.name }),
    ...changedFields(base, values, Object.keys(defaults)),
    ...((before === null || !isSame(schedule, scheduleOf(before))) && { schedule }),
  }
}

/** The form fields of a heartbeat. */
export function HeartbeatFields({ isNew = false }: { isNew?: boolean }) {
  const { values } = useForm()
  const kind = values['schedule.kind']
  return (
    <>
      <TextField name="name" label="Name" placeholder="e.g. Nightly backup" autoFocus />
      <SelectField
        name="schedule.kind"
        label="Schedule"
        choices={{ period: 'Fixed period', cron: 'Cron expression', calendar: 'systemd calendar events' }}
      />
      {kind === 'period' ? (
        <DurationField name="schedule.period_seconds" label="Period" hint="Expected time between two pings." />
      ) : (
        <>
          <Columns>
            {kind === 'cron' ? (
              <TextField
                name="schedule.expression"
                label="Cron expression"
                hint="Minute, hour, day, month, and weekday."
                placeholder="e.g. 30 3 * * *"
                mono
              />
            ) : (
              <TextareaField
                name="schedule.expression"
                label="Calendar events"
                hint="OnCalendar= expressions, one per line. The next ping is expected at the earliest match."
                placeholder="e.g. Mon..Fri *-*-* 03:30"
                rows={3}
                mono
              />
            )}
            <TimezoneField name="schedule.timezone" />
          </Columns>
          <SchedulePreview />
        </>
      )}
      <DurationField
        name="schedule.grace_seconds"
        label="Grace period"
        hint="How late a ping can be before you get an alert. If the job also pings when it starts, with /start at the end of the ping URL, this is also how long a run can take."
      />
      <Advanced>
        <Group label="Alerts">
          <IncidentFields />
          <DurationField
            name="first_ping_within_seconds"
            label="First ping within"
            hint="Alerts if the job hasn’t pinged within this time after you create the heartbeat. Leave empty for no alert before the first ping."
          />
        </Group>
        <Group label="Ping settings">
          <TextField
            name="slug"
            label="Slug"
            mono
            hint={`Identifies the heartbeat in URLs with the ping key. ${isNew ? 'Leave empty to derive it from the name.' : 'Without a slug, only the URL with the UUID works.'}`}
          />
          <SelectField
            name="methods"
            label="HTTP methods"
            hint="With “POST only”, other requests are recorded but ignored. Use it if link previews might open the ping URL."
            choices={{ any: 'Any method', POST: 'POST only' }}
          />
          <CheckboxField
            name="manual_resume"
            label="Stay paused until resumed manually"
            hint="Otherwise, the next ping resumes a paused heartbeat."
          />
        </Group>
        <Group label="Organization">
          <ListField name="tags" label="Tags" placeholder="e.g. prod, backup" />
          <TextareaField name="description" label="Notes" hint="What the job does, and what to do if it fails." />
        </Group>
      </Advanced>
    </>
  )
}
