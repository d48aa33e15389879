import { Webhook } from 'lucide-react'
import type { WebhookEndpointView } from '../../features/webhooks/endpoints/shapes'
import type { PagePath } from '../pages'
import { BulkButton, BulkDelete, type Selection } from '../parts/bulk'
import { ListPage, type Column } from '../parts/list'
import { RelativeTime } from '../parts/time'
import { usePerson } from '../session'
import { EndpointStatus, endpointStatuses, statusQueries } from './webhooks/endpoint-status'

const maxListed = 4

const columns: readonly Column<WebhookEndpointView>[] = [
  {
    title: 'Endpoint',
    render: one => (
      <span className="flex flex-wrap gap-x-3">
        <span className="font-medium">{one.description || one.url}</span>
        {one.description && <span className="text-muted">{one.url}</span>}
      </span>
    ),
  },
  { title: 'Status', width: '12rem', render: one => <EndpointStatus endpoint={one} /> },
  {
    title: 'Events',
    width: 'clamp(14rem, 40cqw, 48rem)',
    showFrom: 'lg',
    look: 'muted',
    onPhone: 'plain',
    render: one => (one.events.length > maxListed ? `${one.events.length} events` : one.events.join(', ')),
  },
  { title: 'Created', width: '9rem', showFrom: 'md', sort: 'created_at', render: one => <RelativeTime at={one.created_at} /> },
]

export const webhookTabs: readonly PagePath[] = ['/webhooks', '/webhooks/deliveries']

/** Lists the webhook endpoints. */
export default function Webhooks() {
  const { canWrite } = usePerson()
  return (
    <ListPage
      label="Endpoints"
      description="An endpoint is a URL that receives a signed message for each event it is subscribed to."
      tabs={webhookTabs}
      path="/webhook-endpoints"
      page="/webhooks/$id"
      create="/webhooks/new"
      columns={columns}
      sort="-id"
      search
      counted
      query={({ status = '', ...rest }) => ({ ...rest, ...statusQueries[status] })}
      filters={[{ name: 'status', label: 'Status', all: 'All statuses', choices: endpointStatuses }]}
      bulk={canWrite ? (rows, onSuccess) => <BulkActions of={{ ...selection, rows, onSuccess }} /> : undefined}
      empty={{
        icon: Webhook,
        text: 'Create an endpoint to receive events at a URL. Failed deliveries are retried automatically.',
      }}
    />
  )
}

const selection = {
  path: '/webhook-endpoints/bulk',
  nouns: ['endpoint', 'endpoints'],
  invalidates: ['/webhook-endpoints', '/webhook-deliveries', '/overview'],
} as const

const activation = (active: boolean) => ({ op: 'update', body: { active } })
const before = (row: WebhookEndpointView) => activation(row.active)

// Activating doesn’t enable endpoints that were disabled automatically.
const BulkActions = ({ of }: { of: Selection<WebhookEndpointView> }) => {
  const enabled = of.rows.filter(one => one.status !== 'disabled')
  return (
    <>
      {enabled.length > 0 && (
        <BulkButton of={{ ...of, rows: enabled }} label="Activate" done="activated" operation={activation(true)} undo={before} />
      )}
      <BulkButton of={of} label="Deactivate" done="deactivated" operation={activation(false)} undo={before} />
      <BulkDelete
        of={of}
        text="Events are no longer sent to these URLs, and unfinished deliveries are canceled. This can’t be undone."
      />
    </>
  )
}
