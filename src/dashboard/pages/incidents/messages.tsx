import type { NotificationView } from '../../../features/notifications/notification-shapes'
import type { NotificationChannelView } from '../../../features/notifications/shapes'
import type { IncidentView } from '../../../features/incidents/shapes'
import type { Page as Listing } from '../../client'
import { Card } from '../../parts/page'
import { ResourceLink } from '../../parts/resource'
import { Status, wordsOf } from '../../parts/status'
import { Ago } from '../../parts/time'
import { useList, useOne } from '../../queries'

/** Who was told of an incident, by which channel, and whether it got there. */
export function Messages({ incident }: { incident: IncidentView }) {
  const list = useList<NotificationView>('/notifications', { thread: incident.id, limit: 50 }, { everyMs: 10_000 })
  const channels = useOne<Listing<NotificationChannelView>>('/notification-channels', { limit: 100, fields: 'name' })
  return (
    <Card title="Who was told">
      {!list.isLoading && list.rows.length === 0 && <p className="text-muted">Nobody: no channel takes it.</p>}
      <ul className="flex min-h-8 flex-col gap-3">
        {list.rows.map(one => (
          <li key={one.id}>
            <div className="flex flex-wrap items-center gap-2">
              <ResourceLink
                id={one.channel_id}
                type="channel"
                name={channels.data?.data.find(two => two.id === one.channel_id)?.name ?? null}
              />
              <Status state={one.status} />
            </div>
            <p className="text-[13px] text-muted">
              {one.kind} · <Ago at={one.sent_at ?? one.created_at} />
            </p>
            {(one.last_error?.detail ?? one.reason) && (
              <p className="text-[13px] wrap-anywhere">{one.last_error?.detail ?? wordsOf(one.reason!)}</p>
            )}
          </li>
        ))}
      </ul>
    </Card>
  )
}
