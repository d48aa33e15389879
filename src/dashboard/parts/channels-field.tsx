import type { NotificationChannelView } from '../../features/notifications/shapes'
import type { Page } from '../client'
import { useOne } from '../queries'
import { FieldFrame, useForm } from './form'

/** Selects notification channels. Null means the default channels. */
export function ChannelsField() {
  const { values, set } = useForm()
  const { data } = useOne<Page<NotificationChannelView>>('/notification-channels', { limit: 100, sort: 'name' })
  const chosen = values.channel_ids as string[] | null
  const channels = data?.data ?? []
  return (
    <FieldFrame name="channel_ids" label="Notification channels">
      {attributes => (
        <div className="flex flex-col gap-1">
          <select
            {...attributes}
            value={chosen === null ? 'all' : 'some'}
            onChange={event => set({ channel_ids: event.target.value === 'all' ? null : [] })}
            className="h-9 w-full rounded-md border border-strong-line bg-surface px-2.5"
          >
            <option value="all">Default channels</option>
            <option value="some">Selected channels</option>
          </select>
          {chosen?.length === 0 && <p className="text-[13px] text-muted">No channels selected. No notifications will be sent.</p>}
          {chosen !== null &&
            channels.map(one => (
              <label key={one.id} className="flex items-center gap-2">
                <input
                  type="checkbox"
                  checked={chosen.includes(one.id)}
                  onChange={event =>
                    set({ channel_ids: event.target.checked ? [...chosen, one.id] : chosen.filter(other => other !== one.id) })
                  }
                />
                {one.name}
              </label>
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
