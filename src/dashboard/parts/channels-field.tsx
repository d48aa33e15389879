import type { NotificationChannelView } from '../../features/notifications/shapes'
import type { Page } from '../client'
import { useOne } from '../queries'
import { toggled } from './choices'
import { FieldFrame, SelectField, useForm } from './form'
import { Checkbox, Select } from './input'
import { severityLabels } from './severity'

/** How severe the incidents of a resource are, and who is notified of them. */
export const IncidentFields = () => (
  <>
    <SelectField
      name="severity"
      label="Severity"
      hint="Severity of its incidents. Channels can ignore low severities."
      choices={severityLabels}
    />
    <ChannelsField />
  </>
)

/** Selects notification channels. Null means the default channels. */
export function ChannelsField({ hint }: { hint?: string }) {
  const { values, set } = useForm()
  const { data } = useOne<Page<NotificationChannelView>>('/notification-channels', { limit: 100, sort: 'name' })
  const chosen = values.channel_ids as string[] | null
  const channels = data?.data ?? []
  return (
    <FieldFrame name="channel_ids" label="Notification channels" hint={hint}>
      {attributes => (
        <div className="flex flex-col gap-1">
          <Select
            {...attributes}
            value={chosen === null ? 'all' : 'some'}
            onText={text => set({ channel_ids: text === 'all' ? null : [] })}
            choices={{ all: 'Default channels', some: 'Selected channels' }}
          />
          {chosen?.length === 0 && (
            <p className="text-[13px] text-muted">Select at least one channel. Otherwise, no notifications are sent.</p>
          )}
          {chosen !== null &&
            channels.map(one => (
              <Checkbox
                key={one.id}
                checked={chosen.includes(one.id)}
                onCheck={isChosen => set({ channel_ids: toggled(chosen, one.id, isChosen) })}
              >
                {one.name}
              </Checkbox>
            ))}
          {chosen !== null && data && channels.length === 0 && (
            <a href="/channels/new" className="text-accent underline">
              Create channel
            </a>
          )}
        </div>
      )}
    </FieldFrame>
  )
}
