import { Plus, Server } from 'lucide-react'
import type { DnsProviderView } from '../../../../features/dns/accounts/shapes'
import { useAddress } from '../../../parts/address'
import { LinkButton } from '../../../parts/button'
import { Empty } from '../../../parts/empty'
import { Choice, Filters } from '../../../parts/filters'
import { Status, Tag } from '../../../parts/status'
import { Table, type Column } from '../../../parts/table'
import { Ago } from '../../../parts/time'
import { useList } from '../../../queries'
import { usePerson } from '../../../session'
import { DnsFrame } from '../dns-frame'
import { stateOf } from './provider-words'

const newProvider = (
  <LinkButton to="/dns/providers/new" kind="main" data-new icon={<Plus className="size-4" aria-hidden />}>
    New provider
  </LinkButton>
)

const columns: readonly Column<DnsProviderView>[] = [
  { name: 'name', title: 'Provider', render: one => <span className="font-medium">{one.name}</span> },
  { name: 'kind', title: 'Kind', width: '9rem', from: 'sm', render: one => <Tag>{one.kind}</Tag> },
  { name: 'state', title: 'State', width: '9rem', render: one => <Status {...stateOf(one)} /> },
  {
    name: 'detail',
    title: 'What was found',
    from: 'md',
    render: one =>
      one.last_error ? (
        <span className="text-bad" title={one.last_error.detail}>
          {one.last_error.detail}
        </span>
      ) : (
        (one.detail ?? <span className="text-muted">–</span>)
      ),
  },
  {
    name: 'checked',
    title: 'Checked',
    width: '9rem',
    from: 'lg',
    render: one => (one.kind === 'builtin' ? <span className="text-muted">–</span> : <Ago at={one.last_checked_at} />),
  },
]

/** Where zones are kept: the hub itself, name servers of one's own, companies. */
export default function Providers() {
  const { mayWrite } = usePerson()
  const [{ state }, set] = useAddress({ state: '' })
  const list = useList<DnsProviderView>('/dns/providers', { state, limit: null })
  return (
    <DnsFrame
      lead="Where zones are kept: the hub’s own name server, servers of yours, accounts at companies."
      actions={mayWrite && newProvider}
    >
      <Filters>
        <Choice
          label="State"
          value={state}
          onChange={value => set({ state: value })}
          choices={[
            ['', 'All states'],
            ['ok', 'Fine'],
            ['failing', 'Failing'],
            ['unknown', 'Not checked'],
          ]}
        />
      </Filters>
      <Table
        label="Providers"
        columns={columns}
        list={list}
        idOf={one => one.id}
        linkOf={one => `/dns/providers/${one.id}`}
        empty={
          <Empty icon={Server} title="No provider is like that" action={mayWrite && newProvider}>
            With an account of yours, zones that are kept elsewhere are changed and watched from here.
          </Empty>
        }
      />
    </DnsFrame>
  )
}
