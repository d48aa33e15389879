import { DurationField } from '../../parts/duration-field'
import {
  AreaField,
  CheckField,
  Columns,
  FieldFrame,
  More,
  NumberField,
  SelectField,
  TextField,
  useForm,
  WordsField,
} from '../../parts/form'
import { PickField } from '../../parts/pick-field'
import { TimezoneField } from '../../parts/timezone-field'
import { NextOccurrences } from './next-occurrences'
import { ruleDays } from './rules'

/** Everything of a maintenance window. */
export function WindowFields() {
  const { values } = useForm()
  const picked = values.picked as string
  return (
    <>
      <TextField name="name" label="What is being done" placeholder="Database upgrades" autoFocus />
      <SelectField
        name="picked"
        label="How often"
        choices={[
          ['once', 'Once'],
          ['weekly', 'On days of the week'],
          ['rrule', 'By a recurrence rule'],
          ['cron', 'By a cron expression'],
        ]}
      />
      {picked === 'weekly' && <WeeklyFields />}
      {picked === 'rrule' && (
        <TextField
          name="rrule"
          label="Recurrence rule"
          placeholder="FREQ=MONTHLY;BYDAY=1SA"
          hint="By RFC 5545, of days, weeks, months or years."
          mono
        />
      )}
      {picked === 'cron' && (
        <TextField
          name="cron"
          label="Cron expression"
          placeholder="0 3 * * 0"
          hint="Minute, hour, day, month and weekday."
          mono
        />
      )}
      <Columns>
        <TextField
          name="starts_at_local"
          type="datetime-local"
          label={picked === 'once' ? 'Begins' : 'First begins'}
          hint={picked === 'cron' ? 'In the time zone. Empty begins at once.' : 'In the time zone beside it.'}
        />
        <TimezoneField />
      </Columns>
      <DurationField name="duration_seconds" label="Lasts" />
      <NextOccurrences />
      <Scope />
      {picked !== 'once' && (
        <More label="Left out" names={['exdates']}>
          <WordsField
            name="exdates"
            label="Occurrences that do not take place"
            placeholder="2026-12-26"
            hint="By their day, or by the local time at which they begin."
          />
        </More>
      )}
      <More label="Notes" names={['description']}>
        <AreaField name="description" label="Notes" hint="For people." />
      </More>
    </>
  )
}

function WeeklyFields() {
  const { values, set } = useForm()
  const chosen = values.days as string[]
  return (
    <Columns>
      <FieldFrame name="rrule" label="On" hint="None is the weekday on which it first begins.">
        {attributes => (
          <div {...attributes} role="group" aria-label="On" className="flex min-h-9 flex-wrap items-center gap-3">
            {ruleDays.map(([day, words]) => (
              <label key={day} className="flex items-center gap-1.5">
                <input
                  type="checkbox"
                  checked={chosen.includes(day)}
                  onChange={event => set({ days: event.target.checked ? [...chosen, day] : chosen.filter(one => one !== day) })}
                />
                {words}
              </label>
            ))}
          </div>
        )}
      </FieldFrame>
      <NumberField name="every" label="Every" unit={values.every === 1 ? 'week' : 'weeks'} min={1} max={1000} />
    </Columns>
  )
}

function Scope() {
  const { values } = useForm()
  return (
    <fieldset className="flex flex-col gap-4 rounded-md border border-line p-3">
      <legend className="px-1 font-medium">What it is for</legend>
      <CheckField name="targets.all" label="Everything in the workspace" />
      {values['targets.all'] !== true && (
        <>
          <WordsField
            name="targets.tags"
            label="Tags"
            placeholder="database, prod"
            hint="Monitors and heartbeats that have one of these."
          />
          <PickField of="/monitors" name="targets.monitors" label="Monitors" />
          <PickField
            of="/monitors"
            only={{ type: 'group' }}
            name="targets.groups"
            label="Groups"
            hint="They and everything in them."
          />
          <PickField of="/heartbeats" name="targets.heartbeats" label="Heartbeats" />
        </>
      )}
      <TargetsProblem />
    </fieldset>
  )
}

/** That nothing was chosen is wrong with no field alone. */
function TargetsProblem() {
  const { errorOf } = useForm()
  const problem = errorOf('targets')
  const isBeside = ['all', 'tags', 'monitors', 'groups', 'heartbeats'].some(name => errorOf(`targets.${name}`) !== null)
  return (
    <div data-field="targets" className="empty:hidden">
      {problem && !isBeside && <p className="text-bad">What it is for {problem}</p>}
    </div>
  )
}
