import { Radio } from 'lucide-react'
import type { EventView } from '../../features/events/shapes'
import type { PagePath } from '../pages'
import { CopyableText } from '../parts/code'
import { Json } from '../parts/json'
import { ListPage, type Column } from '../parts/list'
import { Facts } from '../parts/page'
import { ExpandedLink } from '../parts/resource'
import { EventResourcePicker } from '../parts/resource-search'
import { RelativeTime, formatDateTime } from '../parts/time'
import { useEventKinds } from './webhooks/event-kinds'

const Resource = ({ event }: { event: EventView }) => (
  <ExpandedLink {...event.resource} resource={event.expanded?.resource} withType />
)

const columns: readonly Column<EventView>[] = [
  {
    title: 'Event',
    look: 'strong',
    width: 'clamp(12rem, 24cqw, 26rem)',
    render: one => one.kind,
  },
  { title: 'Resource', onPhone: 'line', render: one => <Resource event={one} /> },
  { title: 'Sequence', width: '7rem', showFrom: 'md', alignRight: true, onPhone: 'hidden', render: one => one.sequence },
  { title: 'Time', width: '9rem', onPhone: 'corner', render: one => <RelativeTime at={one.occurred_at} /> },
]

export const eventTabs: readonly PagePath[] = ['/events', '/events/kinds']

/** Lists the events of the workspace. */
export default function Events() {
  const kinds = useEventKinds()
  return (
    <ListPage
      label="Events"
      description="Events of the workspace, newest first. They are also sent to subscribed webhook endpoints."
      tabs={eventTabs}
      path="/events"
      columns={columns}
      details={one => ({ title: one.kind, content: <Details event={one} /> })}
      query={({ kind, resource }) => ({ kind, resource_id: resource, expand: 'resource' })}
      filters={[
        { name: 'resource', label: 'Resource', all: 'All resources', Picker: EventResourcePicker },
        { name: 'kind', label: 'Event', all: 'All events', choices: kinds.map(one => one.kind) },
      ]}
      empty={{
        icon: Radio,
        text: 'Events are recorded when something happens, such as an alert or a changed DNS record.',
      }}
    />
  )
}

const Details = ({ event }: { event: EventView }) => (
  <div className="flex flex-col gap-4">
    <Facts
      rows={[
        ['Time', formatDateTime(event.occurred_at)],
        ['Resource', <Resource event={event} />],
        ['Resource ID', <CopyableText text={event.resource.id} />],
        ['Event ID', <CopyableText text={event.id} />],
        ['Message ID', <CopyableText text={event.message_id} />],
      ]}
    />
    <Json label="data" value={event.data} />
  </div>
)
