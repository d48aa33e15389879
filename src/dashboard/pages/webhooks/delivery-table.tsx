import { labelOf } from '../../parts/option-fields'
import { Send } from 'lucide-react'
import type { WebhookDeliveryView } from '../../../features/webhooks/deliveries/shapes'
import type { ListProps } from '../../parts/list'
import { Status } from '../../parts/status'
import type { Column } from '../../parts/table'
import { RelativeTime } from '../../parts/time'
import { useEventKinds } from './event-kinds'

const columns: readonly Column<WebhookDeliveryView>[] = [
  {
    title: 'Event',
    render: one => (
      <span className="font-medium">
        {one.event}
        {one.test && <span className="font-normal text-muted"> test</span>}
      </span>
    ),
  },
  { title: 'Status', width: '9rem', render: one => <Status status={one.status} /> },
  {
    title: 'Last response',
    width: '9rem',
    showFrom: 'md',
    render: one => one.last_status_code ?? labelOf(one.last_error_class ?? '–'),
  },
  { title: 'Attempts', width: '6rem', showFrom: 'md', alignRight: true, render: one => one.attempt_count },
  { title: 'Next attempt', width: '8rem', showFrom: 'lg', render: one => <RelativeTime at={one.next_attempt_at} fallback="–" /> },
  { title: 'Created', width: '8rem', showFrom: 'sm', sort: 'created_at', render: one => <RelativeTime at={one.created_at} /> },
]

const statuses = {
  'pending,in_flight,retrying': 'In progress',
  delivered: 'Delivered',
  retrying: 'Retrying',
  'exhausted,expired': 'Failed',
  held: 'Held',
  canceled: 'Canceled',
}

/** The list of deliveries of one endpoint, or of all, newest first. */
export function useDeliveryList(endpointId?: string): ListProps<WebhookDeliveryView> {
  const kinds = useEventKinds()
  return {
    label: 'Deliveries',
    path: '/webhook-deliveries',
    page: '/webhooks/deliveries/$id',
    columns,
    sort: '-created_at',
    refetchMs: 5000,
    query: state => ({ endpoint_id: endpointId, ...state }),
    filters: [
      { name: 'status', label: 'Status', all: 'All statuses', choices: statuses },
      { name: 'event', label: 'Event', all: 'All events', choices: kinds.map(one => one.kind) },
    ],
    empty: {
      icon: Send,
      title: 'No deliveries',
      text: 'Messages sent to endpoints appear here, with each attempt and its response.',
    },
  }
}
