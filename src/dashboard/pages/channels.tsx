import { Megaphone } from 'lucide-react'
import { useMemo } from 'react'
import type { NotificationChannelKindView, NotificationChannelView } from '../../features/notifications/shapes'
import { ListPage, type Column } from '../parts/list'
import { RelativeTime } from '../parts/time'
import { useOne } from '../queries'
import { ChannelStatus } from './channels/channel-status'

/** List of notification channels. */
export default function Channels() {
  const kinds = useOne<{ data: NotificationChannelKindView[] }>('/notification-channels/kinds')
  const titles = useMemo(() => new Map(kinds.data?.data.map(one => [one.kind as string, one.title])), [kinds.data])
  const columns: readonly Column<NotificationChannelView>[] = [
    { title: 'Name', sort: 'name', render: one => <span className="font-medium">{one.name}</span> },
    { title: 'Kind', width: '7rem', showFrom: 'sm', render: one => titles.get(one.kind) ?? one.kind },
    { title: 'Status', width: '10.5rem', render: one => <ChannelStatus channel={one} /> },
    { title: 'Scope', showFrom: 'md', render: one => <span className="text-muted">{rulesOf(one)}</span> },
    { title: 'Last message', width: '9rem', showFrom: 'sm', render: one => <RelativeTime at={one.last_sent_at} /> },
    {
      title: 'Last error',
      showFrom: 'lg',
      render: one => <span className="text-muted">{one.disabled_reason ?? one.last_error?.detail ?? ''}</span>,
    },
  ]
  return (
    <ListPage
      label="Channels"
      description="Send alerts by email, chat, or push. To send events to other systems, use webhooks."
      path="/notification-channels"
      page="/channels/$id"
      create="/channels/new"
      columns={columns}
      sort="name"
      search
      counted
      filters={[{ name: 'kind', label: 'Kind', all: 'All kinds', choices: [...titles] }]}
      empty={{ icon: Megaphone, text: 'Create a channel to get alerts when something fails and when it recovers.' }}
    />
  )
}

/** Summary of what a channel notifies about. */
function rulesOf({ is_default: isDefault, topics, tags, min_severity: minSeverity }: NotificationChannelView): string {
  if (!isDefault) return 'Only resources that select it'
  const topicText = topics.length === 0 ? 'no topics' : topics.length > 2 ? `${topics.length} topics` : topics.join(', ')
  const severity = minSeverity === 'info' ? '' : `, ${minSeverity}${minSeverity === 'warning' ? ' and higher' : ' only'}`
  return `${topicText}${severity}${tags.length > 0 ? `, tagged ${tags.join(' or ')}` : ''}`
}
