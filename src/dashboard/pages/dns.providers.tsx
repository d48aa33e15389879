import { Server } from 'lucide-react'
import type { DnsProviderView } from '../../features/dns/accounts/shapes'
import { accountStates, accountStatus } from '../parts/account-check'
import { ListPage, type Column } from '../parts/list'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { dnsTabs } from './dns/dns-tabs'
import { useProviderKindTitles } from './dns/provider-names'

const columnsOf = (titleOf: (kind: string) => string): readonly Column<DnsProviderView>[] => [
  { title: 'Provider', look: 'strong', render: one => one.name },
  { title: 'Type', width: 'clamp(12rem, 22cqw, 26rem)', onPhone: 'plain', render: one => titleOf(one.kind) },
  { title: 'Status', width: '9rem', render: one => <Status {...accountStatus(one)} /> },
  {
    title: 'Details',
    showFrom: 'md',
    onPhone: 'line',
    render: one => (one.last_error ? <span className="text-bad">{one.last_error.detail}</span> : one.detail),
  },
  {
    title: 'Last checked',
    width: '9rem',
    showFrom: 'lg',
    render: one => one.kind !== 'builtin' && <RelativeTime at={one.last_checked_at} />,
  },
]

/** DNS providers: the built-in name server, other name servers, and accounts. */
export default function Providers() {
  const titleOf = useProviderKindTitles()
  return (
    <ListPage
      label="Providers"
      description="Where your zones are hosted: the built-in name server, your own servers, or accounts at DNS providers."
      tabs={dnsTabs}
      path="/dns/providers"
      page="/dns/providers/$id"
      create="/dns/providers/new"
      columns={columnsOf(titleOf)}
      query={({ state }) => ({ state, limit: null })}
      filters={[{ name: 'state', label: 'Status', all: 'All statuses', choices: accountStates }]}
      empty={{
        icon: Server,
        title: 'No matches',
        text: 'Add a server or account to manage zones that are hosted elsewhere.',
      }}
    />
  )
}
