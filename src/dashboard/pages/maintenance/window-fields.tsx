import { Advanced, Group } from '../../parts/advanced'
import { DurationField } from '../../parts/duration-field'
import {
  TextareaField,
  CheckboxField,
  Columns,
  NumberField,
  SelectField,
  TextField,
  FieldError,
  useField,
  useForm,
  ListField,
  CheckboxesField,
} from '../../parts/form'
import { PickField } from '../../parts/pick-field'
import { TimezoneField } from '../../parts/timezone-field'
import { OccurrencePreview } from './occurrence-preview'
import { ruleDays } from './recurrence-text'

/** The form fields of a maintenance window. */
export function WindowFields() {
  const { values } = useForm()
  const frequency = values.frequency as string
  return (
    <>
      <TextField name="name" label="Name" placeholder="e.g. Database upgrades" autoFocus />
      <SelectField
        name="frequency"
        label="Schedule"
        choices={{ once: 'Once', weekly: 'Weekly', rrule: 'Recurrence rule', cron: 'Cron expression' }}
      />
      {frequency === 'weekly' && <WeeklyFields />}
      {frequency === 'rrule' && (
        <TextField
          name="rrule"
          label="Recurrence rule"
          placeholder="e.g. FREQ=MONTHLY;BYDAY=1SA"
          hint="An iCalendar recurrence rule (RFC 5545): daily, weekly, monthly, or yearly."
          mono
        />
      )}
      {frequency === 'cron' && (
        <TextField
          name="cron"
          label="Cron expression"
          placeholder="e.g. 0 3 * * 0"
          hint="Minute, hour, day, month, and weekday."
          mono
        />
      )}
      <Columns>
        <TextField
          name="starts_at_local"
          type="datetime-local"
          label={frequency === 'once' ? 'Start' : frequency === 'cron' ? 'Not before' : 'First start'}
          hint={frequency === 'cron' ? 'In the selected time zone. Optional.' : 'In the selected time zone.'}
        />
        <TimezoneField />
      </Columns>
      <DurationField name="duration_seconds" label="Duration" hint="From 1 minute to 30 days." />
      <OccurrencePreview />
      <TargetFields />
      <Advanced>
        {frequency !== 'once' && (
          <Group label="Exceptions">
            <ListField
              name="exdates"
              label="Skipped occurrences"
              placeholder="e.g. 2026-12-26"
              hint="Dates, such as 2026-12-26, or start times in the time zone of the window, such as 2026-12-26T22:00."
            />
          </Group>
        )}
        <Group label="Organization">
          <TextareaField name="description" label="Notes" />
        </Group>
      </Advanced>
    </>
  )
}

function WeeklyFields() {
  const { values } = useForm()
  return (
    <Columns>
      <CheckboxesField
        name="rrule"
        value="days"
        label="Repeat on"
        hint="If none is selected, the weekday of the first start is used."
        choices={ruleDays}
      />
      <NumberField name="every" label="Repeat every" unit={values.every === 1 ? 'week' : 'weeks'} min={1} max={1000} />
    </Columns>
  )
}

function TargetFields() {
  const { values } = useForm()
  return (
    <fieldset className="flex flex-col gap-4 rounded-md border border-line p-3">
      <legend className="px-1 font-medium">Targets</legend>
      <CheckboxField name="targets.all" label="Everything in the workspace" />
      {values['targets.all'] !== true && (
        <>
          <ListField
            name="targets.tags"
            label="Tags"
            placeholder="e.g. database, prod"
            hint="Monitors and heartbeats with any of these tags."
          />
          <PickField
            list="/monitors"
            name="targets.monitors"
            label="Monitors"
            hint="To include the members of a group, select it under Groups instead."
          />
          <PickField
            list="/monitors"
            filter={{ type: 'group' }}
            name="targets.groups"
            label="Groups"
            hint="The selected groups and all their members."
          />
          <PickField list="/heartbeats" name="targets.heartbeats" label="Heartbeats" />
        </>
      )}
      <TargetsProblem />
    </fieldset>
  )
}

/** The error if no target is selected, which belongs to no single field. */
function TargetsProblem() {
  const error = useField({ name: 'targets', label: 'Targets' })
  return <FieldError error={error} />
}
