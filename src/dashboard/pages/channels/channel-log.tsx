import { labelOf } from '../../parts/labels'
import { Mail } from 'lucide-react'
import type { NotificationView } from '../../../features/notifications/log/shapes'
import { resourcePath } from '../../pages'
import { List, type Column } from '../../parts/list'
import { Facts } from '../../parts/page'
import { ResourceLink } from '../../parts/resource'
import { Status } from '../../parts/status'
import { RelativeTime } from '../../parts/time'

// Notifications are not part of the live stream, so poll.
const pollMs = 10_000

const columns: readonly Column<NotificationView>[] = [
  { title: 'Notification', render: one => one.title },
  { title: 'Status', width: '8rem', render: one => <Status status={one.status} /> },
  { title: 'Attempts', width: '5.5rem', alignRight: true, render: one => one.attempt_count },
  {
    title: 'Reason',
    showFrom: 'md',
    look: 'muted',
    onPhone: 'line',
    render: one => one.last_error?.detail ?? reasonOf(one),
  },
  { title: 'Time', width: '9rem', render: one => <RelativeTime at={one.sent_at ?? one.created_at} /> },
]

const statuses = { pending: 'Pending', held: 'Held', sent: 'Sent', failed: 'Failed', canceled: 'Canceled' }

const reasons: Record<string, string> = {
  recovered: 'Recovered before it was sent',
  problem_not_sent: 'The problem itself was never sent',
  retries_exhausted: 'All attempts failed',
  rejected: 'Rejected by the destination',
}
const reasonOf = ({ reason }: NotificationView) => reason && (reasons[reason] ?? labelOf(reason))

/** Notifications of a channel with their delivery status, newest first. */
export const ChannelLog = ({ id }: { id: string }) => (
  <List
    label="Notifications"
    asSection
    path={`/notification-channels/${id}/notifications`}
    columns={columns}
    details={one => ({ title: one.title, content: <Message message={one} /> })}
    query={({ log }) => ({ status: log })}
    refetchMs={pollMs}
    filters={[{ name: 'log', label: 'Status', all: 'All statuses', choices: statuses }]}
    empty={{
      icon: Mail,
      text: 'Notifications sent through this channel appear here. Send a test message to check that it works.',
    }}
  />
)

const Message = ({ message }: { message: NotificationView }) => (
  <div className="flex flex-col gap-4">
    {message.text !== '' && <p className="whitespace-pre-wrap">{message.text}</p>}
    <Facts rows={message.facts.map(one => [one.name, one.value] as const)} />
    <Facts
      rows={[
        ['Status', <Status status={message.status} />],
        ['Reason', reasonOf(message)],
        ['Attempts', message.attempt_count],
        ['Error', message.last_error?.detail],
        ['Response', message.response],
        ['Resource', message.resource && <ResourceLink {...message.resource} />],
        [
          'Incident',
          resourcePath(message.thread) === null || message.thread === message.resource?.id ? null : (
            <ResourceLink id={message.thread} type="incident" />
          ),
        ],
        ['Created', <RelativeTime at={message.created_at} />],
        ['Sent', message.sent_at === null ? null : <RelativeTime at={message.sent_at} />],
        ['Scheduled', message.due_at === null ? null : <RelativeTime at={message.due_at} />],
      ]}
    />
  </div>
)
