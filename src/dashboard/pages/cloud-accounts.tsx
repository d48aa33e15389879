import { Cloud } from 'lucide-react'
import type { CloudAccountView } from '../../features/servers/accounts/shapes'
import { accountStates, accountStatus } from '../parts/account-check'
import { ListPage, type Column } from '../parts/list'
import { pluralize } from '../parts/plural'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { useCloudKindTitles } from './cloud/accounts'
import { SpendBar } from './cloud/spend-bar'

const columnsOf = (titleOf: (kind: string) => string): readonly Column<CloudAccountView>[] => [
  { title: 'Account', look: 'strong', render: one => one.name },
  { title: 'Kind', width: 'clamp(9rem, 14cqw, 16rem)', showFrom: 'md', onPhone: 'plain', render: one => titleOf(one.kind) },
  { title: 'Status', width: '9rem', render: one => <Status {...accountStatus(one)} /> },
  { title: 'Servers', width: '9rem', onPhone: 'plain', render: one => <Servers account={one} /> },
  { title: 'Monthly spend', width: 'clamp(10rem, 16cqw, 18rem)', onPhone: 'line', render: one => <SpendBar account={one} /> },
  { title: 'Last sync', width: '9rem', showFrom: 'lg', render: one => <RelativeTime at={one.sync.finished_at} /> },
  {
    title: 'Rate limit',
    width: '9rem',
    showFrom: 'xl',
    look: 'muted',
    render: one => one.rate && `${one.rate.remaining.toLocaleString()} of ${one.rate.limit.toLocaleString()} left`,
  },
]

const Servers = ({ account: { counts } }: { account: CloudAccountView }) => (
  <>
    {pluralize(counts.servers, 'server', 'servers')}
    {counts.unclaimed > 0 && <div className="text-muted">{counts.unclaimed.toLocaleString()} not added</div>}
  </>
)

/** Cloud accounts and hypervisors. */
export default function CloudAccounts() {
  const titleOf = useCloudKindTitles()
  return (
    <ListPage
      label="Accounts"
      description="Accounts at clouds, and hypervisors of your own. Their servers are read automatically."
      path="/cloud-accounts"
      page="/cloud-accounts/$id"
      create="/cloud-accounts/new"
      columns={columnsOf(titleOf)}
      query={({ state }) => ({ state, limit: null })}
      refetchMs={30_000}
      filters={[{ name: 'state', label: 'Status', all: 'All statuses', choices: accountStates }]}
      empty={{
        icon: Cloud,
        text: 'Connect a cloud or a hypervisor to see its servers here, control them, and create new ones.',
      }}
    />
  )
}
