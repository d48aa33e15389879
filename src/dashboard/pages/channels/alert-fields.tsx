import type { NotificationTopicView } from '../../../features/notifications/shapes'
import { Advanced, Group } from '../../parts/advanced'
import { SettingsGroups, type SettingsFieldsProps } from '../../parts/adapter-settings'
import { DurationField } from '../../parts/duration-field'
import {
  CheckboxField,
  Columns,
  FieldFrame,
  NumberField,
  SelectField,
  useForm,
  ListField,
  CheckboxesField,
  TextField,
} from '../../parts/form'
import { toggled } from '../../parts/choices'
import { Checkbox } from '../../parts/input'
import { severityLabels } from '../../parts/severity'
import { TimezoneField } from '../../parts/timezone-field'
import { useOne } from '../../queries'
import { dayLabels } from './channel-values'

/** The advanced settings of a channel: those of its kind, what it notifies about, quiet hours, grouping and reminders. */
export function AlertFields(settings: SettingsFieldsProps) {
  const { values } = useForm()
  return (
    <Advanced>
      <SettingsGroups {...settings} />
      <Group label="What to send">
        <CheckboxField
          name="is_default"
          label="Default channel"
          hint="Receives notices, and alerts about resources that don’t select channels. If this is off, only resources that select this channel use it."
        />
        {values.is_default === true && (
          <>
            <Topics />
            <ListField
              name="tags"
              label="Tags"
              placeholder="e.g. prod, database"
              hint="Only notify about resources with one of these tags. Notices have no tags, so a channel with tags receives none. Leave empty for everything."
            />
          </>
        )}
        <SelectField
          name="min_severity"
          label="Minimum severity"
          hint="Notifications with a lower severity are not sent."
          choices={severityLabels}
        />
      </Group>
      <Group label="Quiet hours">
        <CheckboxField
          name="quiet_hours"
          label="Enable quiet hours"
          hint="Notifications are held, and sent as one summary when quiet hours end."
        />
        {values.quiet_hours === true && <QuietHours />}
      </Group>
      <Group label="Grouping and reminders">
        <DurationField
          name="group_seconds"
          label="Group notifications within"
          hint="Notifications that follow another one within this time are combined into one message. At most 1 hour; 0 sends each separately."
        />
        <Columns>
          <DurationField
            name="remind_every_seconds"
            label="Reminder interval"
            hint="From 1 minute to 7 days, until the problem is acknowledged or resolved. Leave empty for no reminders."
          />
          <NumberField name="max_reminders" label="Maximum reminders" min={0} max={1000} hint="For each problem, up to 1,000." />
        </Columns>
      </Group>
    </Advanced>
  )
}

export const useTopics = () => useOne<{ data: NotificationTopicView[] }>('/notification-channels/topics')

function Topics() {
  const { values, set } = useForm()
  const { data } = useTopics()
  const selected = values.topics as string[]
  const all = data?.data ?? []
  const checkbox = ({ topic, title, parent }: NotificationTopicView) => {
    const isWithin = parent !== null && selected.includes(parent)
    return (
      <Checkbox
        key={topic}
        multiline
        checked={isWithin || selected.includes(topic)}
        disabled={isWithin}
        onCheck={isOn => set({ topics: toggled(selected, topic, isOn) })}
      >
        {title}
      </Checkbox>
    )
  }
  return (
    <FieldFrame name="topics" label="Topics">
      {attributes => (
        <div {...attributes} role="group" aria-label="Topics" className={`flex flex-col gap-1 ${data ? '' : 'min-h-20'}`}>
          {all.filter(one => one.parent === null).map(checkbox)}
          {!selected.includes('notices') && (
            <div className="grid gap-x-4 gap-y-1 border-l-2 border-line pl-3 sm:grid-cols-2">
              {all.filter(one => one.parent === 'notices').map(checkbox)}
            </div>
          )}
        </div>
      )}
    </FieldFrame>
  )
}

const QuietHours = () => (
  <>
    <Columns>
      <TextField type="time" name="quiet_hours.from" label="From" />
      <TextField
        type="time"
        name="quiet_hours.to"
        label="To"
        hint="If this isn’t later than “From”, quiet hours end the next day."
      />
    </Columns>
    <CheckboxesField name="quiet_hours.days" label="Start days" choices={dayLabels} />
    <Columns>
      <TimezoneField name="quiet_hours.timezone" />
      <SelectField
        name="quiet_hours.except_severity"
        label="Send immediately"
        choices={{ critical: 'Critical notifications', warning: 'Warnings and critical notifications', '': 'None' }}
      />
    </Columns>
  </>
)
