import { Plus, Webhook } from 'lucide-react'
import type { WebhookEndpointView } from '../../../features/webhooks/shapes'
import { useAddress } from '../../parts/address'
import { LinkButton } from '../../parts/button'
import { Empty } from '../../parts/empty'
import { Choice, Filters, SearchField } from '../../parts/filters'
import { Page } from '../../parts/page'
import { Status } from '../../parts/status'
import { Table, type Column } from '../../parts/table'
import { Tabs } from '../../parts/tabs'
import { Ago } from '../../parts/time'
import { useList } from '../../queries'
import { usePerson } from '../../session'
import { stateOf } from './endpoint-words'

const columns: readonly Column<WebhookEndpointView>[] = [
  {
    name: 'url',
    title: 'Endpoint',
    render: one => (
      <>
        <span className="font-medium">{one.description || one.url}</span>
        {one.description && <span className="ml-2 text-muted max-sm:hidden">{one.url}</span>}
      </>
    ),
  },
  { name: 'state', title: 'State', width: '9rem', render: one => <Status {...stateOf(one)} /> },
  {
    name: 'events',
    title: 'Events',
    width: '14rem',
    from: 'lg',
    render: one => (one.events.length === 1 ? one.events[0] : `${one.events.length} kinds`),
  },
  { name: 'made', title: 'Made', width: '9rem', from: 'md', sort: 'created_at', render: one => <Ago at={one.created_at} /> },
]

export const webhookTabs = [
  { to: '/webhooks', label: 'Endpoints', exact: true },
  { to: '/webhooks/deliveries', label: 'Deliveries' },
]

/** URLs that are told what happens. */
export default function Webhooks() {
  const { mayWrite } = usePerson()
  const [{ status, q, sort }, set] = useAddress({ status: '', q: '', sort: '-id' })
  const list = useList<WebhookEndpointView>('/webhook-endpoints', { status, q, sort, include: 'total' })
  const newButton = mayWrite && (
    <LinkButton to="/webhooks/new" kind="main" data-new icon={<Plus className="size-4" aria-hidden />}>
      New endpoint
    </LinkButton>
  )
  return (
    <Page title="Webhooks" lead="URLs that are told what happens, by signed messages." actions={newButton}>
      <Tabs label="Webhooks" tabs={webhookTabs} />
      <Filters>
        <SearchField label="Search endpoints" value={q} onChange={text => set({ q: text })} />
        <Choice
          label="State"
          value={status}
          onChange={value => set({ status: value })}
          choices={[
            ['', 'All'],
            ['enabled', 'Enabled'],
            ['disabled', 'Disabled'],
          ]}
        />
      </Filters>
      <Table
        label="Endpoints"
        columns={columns}
        list={list}
        idOf={one => one.id}
        linkOf={one => `/webhooks/${one.id}`}
        sort={sort}
        onSort={value => set({ sort: value })}
        empty={
          <Empty icon={Webhook} title="No endpoints" action={newButton}>
            Choose kinds of events and a URL of yours: it is told of each, and told again until it answers.
          </Empty>
        }
      />
    </Page>
  )
}
