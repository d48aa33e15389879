import { Send } from 'lucide-react'
import type { WebhookDeliveryView } from '../../../features/webhooks/delivery-shapes'
import type { EventKindView } from '../../../features/webhooks/event-kind-shapes'
import type { Page as Listing } from '../../client'
import { useAddress } from '../../parts/address'
import { Empty } from '../../parts/empty'
import { Choice, Filters } from '../../parts/filters'
import { Status } from '../../parts/status'
import { Table, type Column } from '../../parts/table'
import { Ago } from '../../parts/time'
import { useList, useOne } from '../../queries'
import { deliveryMood } from './endpoint-words'

const columns: readonly Column<WebhookDeliveryView>[] = [
  {
    name: 'event',
    title: 'Event',
    render: one => (
      <span className="font-medium">
        {one.event}
        {one.test && <span className="font-normal text-muted"> test</span>}
      </span>
    ),
  },
  {
    name: 'status',
    title: 'Status',
    width: '9rem',
    render: one => <Status state={one.status} mood={deliveryMood[one.status] ?? 'idle'} />,
  },
  {
    name: 'answer',
    title: 'Last answer',
    width: '9rem',
    from: 'md',
    render: one => one.last_status_code ?? one.last_error_class ?? '–',
  },
  { name: 'tries', title: 'Tries', width: '5rem', from: 'md', right: true, render: one => one.attempt_count },
  { name: 'next', title: 'Next try', width: '8rem', from: 'lg', render: one => <Ago at={one.next_attempt_at} never="–" /> },
  { name: 'made', title: 'When', width: '8rem', from: 'sm', sort: 'created_at', render: one => <Ago at={one.created_at} /> },
]

const lookMs = 5000

/** What endpoints were sent, or one of them, newest first. */
export function Deliveries({ endpointId }: { endpointId?: string }) {
  const [{ status, event, sort }, set] = useAddress({ status: '', event: '', sort: '-created_at' })
  const kinds = useOne<Listing<EventKindView>>('/event-kinds')
  const list = useList<WebhookDeliveryView>(
    '/webhook-deliveries',
    { endpoint_id: endpointId, status, event, sort },
    { everyMs: lookMs },
  )
  return (
    <>
      <Filters>
        <Choice
          label="Status"
          value={status}
          onChange={value => set({ status: value })}
          choices={[
            ['', 'All'],
            ['pending,in_flight,retrying', 'Under way'],
            ['delivered', 'Delivered'],
            ['retrying', 'Tried again'],
            ['exhausted,expired', 'Given up'],
            ['held', 'Held'],
            ['cancelled', 'Cancelled'],
          ]}
        />
        <Choice
          label="Event"
          value={event}
          onChange={value => set({ event: value })}
          choices={[['', 'All events'], ...(kinds.data?.data ?? []).map(one => [one.kind, one.kind] as const)]}
        />
      </Filters>
      <Table
        label="Deliveries"
        columns={columns}
        list={list}
        idOf={one => one.id}
        linkOf={one => `/webhooks/deliveries/${one.id}`}
        sort={sort}
        onSort={value => set({ sort: value })}
        empty={
          <Empty icon={Send} title="No deliveries">
            Each event that an endpoint chose is a delivery to it, with every try and what came back.
          </Empty>
        }
      />
    </>
  )
}
