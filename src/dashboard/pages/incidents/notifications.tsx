import { labelOf } from '../../parts/labels'
import type { NotificationView } from '../../../features/notifications/log/shapes'
import type { NotificationChannelView } from '../../../features/notifications/shapes'
import type { IncidentView } from '../../../features/incidents/shapes'
import type { Page as Listing } from '../../client'
import { Card } from '../../parts/page'
import { ResourceLink } from '../../parts/resource'
import { Status, capitalize, humanize } from '../../parts/status'
import { RelativeTime } from '../../parts/time'
import { useList, useOne } from '../../queries'

/** The channels of an incident, and the notifications sent about it, with their delivery status. */
export function Notifications({ incident }: { incident: IncidentView }) {
  const list = useList<NotificationView>('/notifications', { thread: incident.id, limit: 50 }, { refetchMs: 10_000 })
  const channels = useOne<Listing<NotificationChannelView>>('/notification-channels', { limit: 100, fields: 'name' })
  const nameOf = (id: string) => channels.data?.data.find(one => one.id === id)?.name ?? null
  const { channel_ids: selected } = incident
  return (
    <Card title="Notifications">
      <p className="mb-3 wrap-anywhere">
        {selected === null
          ? 'Notifies the default channels.'
          : selected.length === 0
            ? 'Notifies no channels.'
            : `Notifies ${selected.map(id => nameOf(id) ?? id).join(', ')}.`}
      </p>
      {!list.isLoading && list.rows.length === 0 && <p className="text-muted">No notifications were sent.</p>}
      <ul className="flex min-h-8 flex-col gap-3">
        {list.rows.map(one => (
          <li key={one.id}>
            <div className="flex flex-wrap items-center gap-2">
              <ResourceLink id={one.channel_id} type="channel" name={nameOf(one.channel_id)} />
              <Status status={one.status} />
            </div>
            <p className="text-[13px] text-muted">
              {capitalize(humanize(one.kind.replace('.', ' ')))} · <RelativeTime at={one.sent_at ?? one.created_at} />
            </p>
            {(one.last_error?.detail ?? one.reason) && (
              <p className="text-[13px] wrap-anywhere">{one.last_error?.detail ?? labelOf(one.reason!)}</p>
            )}
          </li>
        ))}
      </ul>
    </Card>
  )
}
