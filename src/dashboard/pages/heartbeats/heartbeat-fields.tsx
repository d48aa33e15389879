import type { HeartbeatView } from '../../../features/heartbeats/shapes'
import { ChannelsField } from '../../parts/channels-field'
import { DurationField } from '../../parts/duration-field'
import { AreaField, CheckField, Columns, More, SelectField, TextField, useForm, WordsField, type Values } from '../../parts/form'
import { shownTimezone } from '../../parts/timezone'
import { TimezoneField } from '../../parts/timezone-field'
import { DueTimes } from './due-times'

const untouched = {
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

/** The fields of a form for a new heartbeat, or for one that there is. */
export function heartbeatValues(heartbeat: HeartbeatView | null): Values {
  const own = heartbeat && Object.fromEntries(Object.keys(untouched).map(name => [name, heartbeat[name as keyof HeartbeatView]]))
  const schedule = heartbeat?.schedule ?? { kind: 'period', period_seconds: 86_400, grace_seconds: 3600 }
  const timed = 'expression' in schedule ? schedule : null
  return {
    ...untouched,
    ...own,
    'schedule.kind': schedule.kind,
    'schedule.period_seconds': 'period_seconds' in schedule ? schedule.period_seconds : 86_400,
    'schedule.expression': timed?.expression ?? '',
    'schedule.timezone': timed?.timezone ?? shownTimezone(),
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

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** What of the fields differs from how they were before: what an edit sends, or what a new heartbeat sets. */
export function heartbeatBody(values: Values, before: Values | null): Values {
  const known = before ?? heartbeatValues(null)
  const changed = Object.keys(untouched).filter(
    name => !isSame(values[name], known[name]) || (before === null && name === 'name'),
  )
  const schedule = scheduleOf(values)
  return {
    ...Object.fromEntries(changed.map(name => [name, values[name]])),
    ...((before === null || !isSame(schedule, scheduleOf(before))) && { schedule }),
  }
}

/** Everything of a heartbeat. */
export function HeartbeatFields() {
  const { values } = useForm()
  const kind = values['schedule.kind']
  return (
    <>
      <Columns>
        <TextField name="name" label="Name" placeholder="nightly backup" autoFocus />
        <WordsField name="tags" label="Tags" placeholder="prod, backup" />
      </Columns>
      <SelectField
        name="schedule.kind"
        label="When it runs"
        choices={[
          ['period', 'Every so often'],
          ['cron', 'By a cron expression'],
          ['calendar', 'By systemd calendar events'],
        ]}
      />
      {kind === 'period' ? (
        <DurationField name="schedule.period_seconds" label="Every" hint="Longest time from one ping to the next." />
      ) : (
        <>
          <Columns>
            {kind === 'cron' ? (
              <TextField
                name="schedule.expression"
                label="Cron expression"
                hint="Minute, hour, day, month and weekday."
                placeholder="30 3 * * *"
                mono
              />
            ) : (
              <AreaField
                name="schedule.expression"
                label="Calendar events"
                hint="As in OnCalendar=, one a line; the earliest counts."
                placeholder="Mon..Fri *-*-* 03:30"
                rows={3}
                mono
              />
            )}
            <TimezoneField name="schedule.timezone" />
          </Columns>
          <DueTimes />
        </>
      )}
      <DurationField
        name="schedule.grace_seconds"
        label="Grace time"
        hint="How late a ping may be, and how long a run that told its start may take, before you hear of it."
      />
      <More label="Alerts" names={['severity', 'channel_ids', 'first_ping_within_seconds']}>
        <SelectField
          name="severity"
          label="Severity"
          hint="How grave it is when it is down."
          choices={[
            ['critical', 'critical'],
            ['warning', 'warning'],
            ['info', 'info'],
          ]}
        />
        <ChannelsField />
        <DurationField
          name="first_ping_within_seconds"
          label="Time for the first ping"
          hint="Empty waits for it without an alert."
        />
      </More>
      <More label="How it is pinged" names={['slug', 'methods', 'manual_resume']}>
        <TextField name="slug" label="Slug" mono hint="Its name in addresses by the ping key. Made from the name when empty." />
        <SelectField
          name="methods"
          label="What counts"
          choices={[
            ['any', 'any request'],
            ['POST', 'POST alone, so that a link preview is no ping'],
          ]}
        />
        <CheckField name="manual_resume" label="Stays paused when it is pinged" />
      </More>
      <More label="Notes" names={['description']}>
        <AreaField name="description" label="Notes" hint="For people: what the job does, and what to do when it fails." />
      </More>
    </>
  )
}
