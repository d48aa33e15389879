import type { NotificationTopicView } from '../../../features/notifications/shapes'
import { DurationField } from '../../parts/duration-field'
import { CheckField, Columns, FieldFrame, inputLook, More, NumberField, SelectField, useForm, WordsField } from '../../parts/form'
import { TimezoneField } from '../../parts/timezone-field'
import { useOne } from '../../queries'

const grave = [
  ['info', 'Everything'],
  ['warning', 'Warnings and what is critical'],
  ['critical', 'What is critical'],
] as const
const quietNames = ['timezone', 'days', 'from', 'to', 'except_severity'].map(name => `quiet_hours.${name}`)

/** What a channel takes, when, and how often it speaks. */
export function TakesFields() {
  const { values } = useForm()
  return (
    <>
      <CheckField
        name="for_everything"
        label="Takes what names no channels of its own"
        hint="Else only monitors, heartbeats and incidents that name this channel are told on it."
      />
      {values.for_everything === true && (
        <>
          <Topics />
          <WordsField
            name="tags"
            label="Only what is tagged"
            placeholder="prod, database"
            hint="With one of these tags. Empty takes all."
          />
        </>
      )}
      <SelectField name="min_severity" label="How grave it must be" choices={grave} />
      <More label="Quiet hours" names={['quiet_hours', ...quietNames]}>
        <CheckField name="quiet_hours" label="Hold messages at some hours" hint="What was held is summed up at their end." />
        {values.quiet_hours === true && <QuietHours />}
      </More>
      <More label="Grouping and reminders" names={['group_seconds', 'remind_every_seconds', 'most_reminders']}>
        <DurationField
          name="group_seconds"
          label="Group what comes within"
          hint="After a message, others wait so long and go out as one. 0 sends each alone."
        />
        <Columns>
          <DurationField
            name="remind_every_seconds"
            label="Remind every"
            hint="Of a problem that is neither over nor acknowledged. Empty does not."
          />
          <NumberField name="most_reminders" label="Reminders of one problem" min={0} max={1000} hint="At most." />
        </Columns>
      </More>
    </>
  )
}

function Topics() {
  const { values, set } = useForm()
  const { data } = useOne<{ data: NotificationTopicView[] }>('/notification-channels/topics')
  const chosen = values.topics as string[]
  const all = data?.data ?? []
  const turn = (topic: string, isOn: boolean) =>
    set({ topics: isOn ? [...chosen, topic] : chosen.filter(other => other !== topic) })
  const box = ({ topic, title, within }: NotificationTopicView) => {
    const isWithin = within !== null && chosen.includes(within)
    return (
      <label key={topic} className="flex items-start gap-2">
        <input
          type="checkbox"
          className="mt-1"
          checked={isWithin || chosen.includes(topic)}
          disabled={isWithin}
          onChange={event => turn(topic, event.target.checked)}
        />
        <span>{title}</span>
      </label>
    )
  }
  return (
    <FieldFrame name="topics" label="What it takes">
      {attributes => (
        <div {...attributes} role="group" aria-label="What it takes" className="flex min-h-20 flex-col gap-1">
          {all.filter(one => one.within === null).map(box)}
          {!chosen.includes('notices') && (
            <div className="grid gap-x-4 gap-y-1 border-l-2 border-line pl-3 sm:grid-cols-2">
              {all.filter(one => one.within === 'notices').map(box)}
            </div>
          )}
        </div>
      )}
    </FieldFrame>
  )
}

const days = [
  ['mon', 'Mon'],
  ['tue', 'Tue'],
  ['wed', 'Wed'],
  ['thu', 'Thu'],
  ['fri', 'Fri'],
  ['sat', 'Sat'],
  ['sun', 'Sun'],
] as const

function QuietHours() {
  return (
    <>
      <Columns>
        <ClockField name="quiet_hours.from" label="From" />
        <ClockField name="quiet_hours.to" label="Until" hint="On the next day where it is not later." />
      </Columns>
      <DaysField name="quiet_hours.days" label="Beginning on" />
      <Columns>
        <TimezoneField name="quiet_hours.timezone" />
        <SelectField
          name="quiet_hours.except_severity"
          label="Sent all the same"
          choices={[
            ['critical', 'What is critical'],
            ['warning', 'Warnings and what is critical'],
            ['', 'Nothing'],
          ]}
        />
      </Columns>
    </>
  )
}

function ClockField({ name, label, hint }: { name: string; label: string; hint?: string }) {
  const { values, set } = useForm()
  return (
    <FieldFrame name={name} label={label} hint={hint}>
      {attributes => (
        <input
          {...attributes}
          type="time"
          value={String(values[name] ?? '')}
          onChange={event => set({ [name]: event.target.value })}
          className={`h-9 max-w-36 ${inputLook}`}
        />
      )}
    </FieldFrame>
  )
}

function DaysField({ name, label }: { name: string; label: string }) {
  const { values, set } = useForm()
  const chosen = values[name] as string[]
  return (
    <FieldFrame name={name} label={label}>
      {attributes => (
        <div {...attributes} role="group" aria-label={label} className="flex flex-wrap gap-3">
          {days.map(([day, words]) => (
            <label key={day} className="flex items-center gap-1.5">
              <input
                type="checkbox"
                checked={chosen.includes(day)}
                onChange={event =>
                  set({ [name]: event.target.checked ? [...chosen, day] : chosen.filter(other => other !== day) })
                }
              />
              {words}
            </label>
          ))}
        </div>
      )}
    </FieldFrame>
  )
}
