import { Megaphone } from 'lucide-react'
import { useMemo } from 'react'
import type { NotificationChannelKindView, NotificationChannelView } from '../../features/notifications/shapes'
import { ListPage, type Column } from '../parts/list'
import { RelativeTime } from '../parts/time'
import { useOne } from '../queries'
import { useTopicTitles } from './channels/channel-details'
import { ChannelStatus } from './channels/channel-status'

/** List of notification channels. */
export default function Channels() {
  const kinds = useOne<{ data: NotificationChannelKindView[] }>('/notification-channels/kinds')
  const titles = useMemo(() => new Map(kinds.data?.data.map(one => [one.kind as string, one.title])), [kinds.data])
  const topicTitle = useTopicTitles()
  const columns: readonly Column<NotificationChannelView>[] = [
    { title: 'Name', sort: 'name', look: 'strong', render: one => one.name },
    { title: 'Type', width: '7rem', onPhone: 'plain', render: one => titles.get(one.kind) },
    { title: 'Status', width: '10.5rem', render: one => <ChannelStatus channel={one} /> },
    { title: 'Notifications', showFrom: 'md', look: 'muted', onPhone: 'line', render: one => rulesOf(one, topicTitle) },
    { title: 'Last sent', width: '9rem', render: one => <RelativeTime at={one.last_sent_at} /> },
    {
      title: 'Last error',
      showFrom: 'lg',
      look: 'muted',
      onPhone: 'line',
      render: one => one.disabled_reason ?? one.last_error?.detail ?? '',
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
      filters={[{ name: 'kind', label: 'Type', all: 'All types', choices: [...titles] }]}
      empty={{ icon: Megaphone, text: 'Create a channel to get alerts when something fails and when it recovers.' }}
    />
  )
}

/** Summary of what a channel notifies about. */
function rulesOf(
  { is_default: isDefault, topics, tags, min_severity: minSeverity }: NotificationChannelView,
  topicTitle: (topic: string) => string,
): string {
  if (!isDefault) return 'Only for resources that select this channel'
  const topicText =
    topics.length === 0 ? 'No topics' : topics.length > 2 ? `${topics.length} topics` : topics.map(topicTitle).join(', ')
  const severity = minSeverity === 'info' ? '' : ` (${minSeverity}${minSeverity === 'warning' ? ' and higher' : ' only'})`
  return `${topicText}${severity}${tags.length > 0 ? `, tagged ${tags.join(' or ')}` : ''}`
}
