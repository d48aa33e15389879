import { Radio } from 'lucide-react'
import type { EventView } from '../../features/events/shapes'
import { Mono } from '../parts/code'
import { Json } from '../parts/json'
import { ListPage, type Column } from '../parts/list'
import { Facts } from '../parts/page'
import { ResourceLink } from '../parts/resource'
import { RelativeTime, formatDateTime } from '../parts/time'
import { useEventKinds } from './webhooks/event-kinds'

const columns: readonly Column<EventView>[] = [
  { title: 'Event', look: 'strong', render: one => one.kind },
  { title: 'Resource', showFrom: 'sm', render: one => <ResourceLink {...one.resource} /> },
  { title: 'Sequence', width: '7rem', showFrom: 'md', alignRight: true, render: one => one.sequence },
  { title: 'Time', width: '9rem', render: one => <RelativeTime at={one.occurred_at} /> },
]

/** Lists the events of the workspace. */
export default function Events() {
  const kinds = useEventKinds()
  return (
    <ListPage
      label="Events"
      description="Events of the workspace, newest first. They are also sent to subscribed webhook endpoints."
      path="/events"
      columns={columns}
      details={one => ({ title: one.kind, content: <Details event={one} /> })}
      query={({ kind, resource }) => ({ kind, resource_id: resource })}
      search={{ name: 'resource', label: 'Resource ID' }}
      filters={[{ name: 'kind', label: 'Event', all: 'All events', choices: kinds.map(one => one.kind) }]}
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
        ['Resource', <ResourceLink {...event.resource} />],
        ['Event ID', <Mono>{event.id}</Mono>],
        ['Message ID', <Mono>{event.message_id}</Mono>],
      ]}
    />
    <Json label="data" value={event.data} />
  </div>
)
