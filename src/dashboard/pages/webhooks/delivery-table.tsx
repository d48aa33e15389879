import { labelOf } from '../../parts/labels'
import { Send } from 'lucide-react'
import type { WebhookDeliveryView } from '../../../features/webhooks/deliveries/shapes'
import type { ListProps } from '../../parts/list'
import { Status } from '../../parts/status'
import { ExpandedLink } from '../../parts/resource'
import { EventResourcePicker, resourcePicker } from '../../parts/resource-search'
import type { Column, TableColumns } from '../../parts/table'
import { RelativeTime } from '../../parts/time'
import { useEventKinds } from './event-kinds'

const EndpointPicker = resourcePicker(one => one.prefix === 'whe')

const endpointColumn: Column<WebhookDeliveryView> = {
  title: 'Endpoint',
  showFrom: 'md',
  render: one => <ExpandedLink id={one.endpoint_id} type="webhook_endpoint" resource={one.expanded?.endpoint} />,
}

const columnsWith = (endpoint: Column<WebhookDeliveryView> | false): TableColumns<WebhookDeliveryView> => [
  {
    title: 'Event',
    width: 'clamp(11rem, 18cqw, 22rem)',
    render: one => (
      <span className="font-medium">
        {one.event}
        {one.test && <span className="font-normal text-muted"> test</span>}
      </span>
    ),
  },
  endpoint,
  {
    title: 'Resource',
    onPhone: 'line',
    render: one => one.resource && <ExpandedLink {...one.resource} resource={one.expanded?.resource} withType />,
  },
  { title: 'Status', width: '8rem', render: one => <Status status={one.status} /> },
  {
    title: 'Last response',
    width: '8rem',
    showFrom: 'lg',
    render: one => one.last_status_code ?? (one.last_error_class && labelOf(one.last_error_class)),
  },
  { title: 'Attempts', width: '6rem', showFrom: '2xl', alignRight: true, render: one => one.attempt_count },
  {
    title: 'Next attempt',
    width: '8rem',
    showFrom: '2xl',
    render: one => one.next_attempt_at && <RelativeTime at={one.next_attempt_at} />,
  },
  { title: 'Created', width: '8rem', onPhone: 'plain', sort: 'created_at', render: one => <RelativeTime at={one.created_at} /> },
]

const statuses = {
  pending: 'Pending',
  in_flight: 'In flight',
  retrying: 'Retrying',
  delivered: 'Delivered',
  'exhausted,expired': 'Failed or expired',
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
    columns: columnsWith(endpointId === undefined && endpointColumn),
    sort: '-created_at',
    refetchMs: 5000,
    query: ({ endpoint, resource, ...state }) => ({
      ...state,
      endpoint_id: endpointId ?? endpoint,
      resource_id: resource,
      expand: endpointId === undefined ? 'endpoint,resource' : 'resource',
    }),
    filters: [
      endpointId === undefined && { name: 'endpoint', label: 'Endpoint', all: 'All endpoints', Picker: EndpointPicker },
      { name: 'resource', label: 'Resource', all: 'All resources', Picker: EventResourcePicker },
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
