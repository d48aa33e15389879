import { Server } from 'lucide-react'
import { useState } from 'react'
import type { ServerLatestView } from '../../features/servers/metrics/shapes'
import type { ServerView } from '../../features/servers/shapes'
import { Button, LinkButton } from '../parts/button'
import { UrlSearch } from '../parts/filters'
import { ListPage, type Column } from '../parts/list'
import { Meter } from '../parts/meter'
import { Tag } from '../parts/status'
import { useUrlState } from '../parts/url-state'
import { usePerson } from '../session'
import { useAccountNames, useAccounts } from './cloud/accounts'
import { addServer } from './cloud/add-server'
import { describeResources, formatAmount } from './cloud/amounts'
import { BulkPower } from './cloud/bulk-power'
import { useLatest } from './cloud/latest'
import { ServerHealth, ServerPower, ServerStatus } from './cloud/server-status'
import { kindTitles, originTitles } from './cloud/server-text'

const healths = { up: 'Up', down: 'Down', unknown: 'Unknown' }
const powers = { on: 'On', off: 'Off', unknown: 'Unknown' }
const agentStates = { reporting: 'Reporting', silent: 'Silent', stopped: 'Stopped', none: 'No agent' }
const statuses = {
  running: 'Running',
  off: 'Off',
  draft: 'Draft',
  'provisioning,starting,stopping,rebooting,rebuilding,resizing,restoring,migrating,deleting': 'Changing',
  suspended: 'Suspended',
  error: 'Error',
  missing: 'Missing',
  unknown: 'Unknown',
}

/** The servers of the workspace: at clouds, on hypervisors, and others. */
export default function Servers() {
  const { canWrite } = usePerson()
  const [, set] = useUrlState({ location: '' })
  const accountName = useAccountNames()
  const { data: found } = useAccounts()
  const accounts = found?.data ?? []
  // While they load, the page has the layout that it usually has then.
  const hasAccounts = !found || accounts.length > 0
  const [visible, setVisible] = useState<readonly string[]>([])
  const latest = useLatest(visible)
  const columns = (
    [
      { title: 'Name', sort: 'name', look: 'strong', width: 'clamp(9rem, 16cqw, 22rem)', render: one => one.name },
      { title: 'Status', width: '8.5rem', render: one => <ServerStatus server={one} /> },
      { title: 'Health', width: '7rem', onPhone: 'plain', render: one => <ServerHealth server={one} /> },
      { title: 'Power', width: '4rem', showFrom: '2xl', render: one => one.power !== 'unknown' && <ServerPower server={one} /> },
      {
        title: 'Address',
        width: '9.5rem',
        look: 'mono',
        onPhone: 'line',
        showFrom: 'md',
        render: one => <Addresses server={one} />,
      },
      {
        title: 'Location',
        width: '6rem',
        showFrom: 'lg',
        onPhone: 'plain',
        render: one =>
          one.location && (
            <button
              type="button"
              className="flex min-w-0"
              aria-label={`Filter by location ${one.location}`}
              onClick={() => set({ location: one.location! })}
            >
              <Tag>{one.location}</Tag>
            </button>
          ),
      },
      { title: 'Size', width: '6rem', showFrom: '2xl', onPhone: 'plain', render: sizeOf },
      {
        title: 'Load (1 h)',
        width: '6.5rem',
        showFrom: 'lg',
        onPhone: 'hidden',
        render: one => <Load of={latest.get(one.id)} />,
      },
      {
        title: 'Memory',
        width: '5rem',
        showFrom: 'xl',
        onPhone: 'hidden',
        render: one => <Share label="Used memory" percent={latest.get(one.id)?.memory_used_percent} />,
      },
      {
        title: 'Disk',
        width: '5rem',
        showFrom: 'xl',
        onPhone: 'hidden',
        render: one => (
          <Share
            label="Fullest file system"
            percent={latest.get(one.id)?.disk_used_percent}
            title={latest.get(one.id)?.disk_path}
          />
        ),
      },
      accounts.length > 1 && {
        title: 'Account',
        width: 'clamp(8rem, 12cqw, 16rem)',
        showFrom: 'xl',
        look: 'muted',
        onPhone: 'hidden',
        render: one => one.account_id && accountName(one.account_id),
      },
      {
        title: 'Price',
        width: '5.5rem',
        showFrom: 'md',
        alignRight: true,
        render: one => one.price.monthly && formatAmount(one.price.monthly, one.price.currency),
      },
    ] satisfies (Column<ServerView> | false)[]
  ).filter(one => one !== false)
  return (
    <ListPage
      label="Servers"
      description="Machines at clouds, on your hypervisors, and in your own racks. Prices are per month."
      path="/servers"
      page="/servers/$id"
      create={hasAccounts && '/servers/new'}
      actions={canWrite && hasAccounts && <Button onClick={addServer}>Add server</Button>}
      columns={columns}
      onVisibleRows={setVisible}
      sort="name"
      search
      counted
      params={{ label_selector: '' }}
      filters={[
        { name: 'status', label: 'Status', all: 'All statuses', choices: statuses },
        { name: 'health', label: 'Health', all: 'All health states', choices: healths },
        { name: 'power', label: 'Power', all: 'All power states', choices: powers },
        { name: 'agent_state', label: 'Agent', all: 'All agent states', choices: agentStates },
        { name: 'kind', label: 'Kind', all: 'All kinds', choices: kindTitles },
        { name: 'origin', label: 'Origin', all: 'All origins', choices: originTitles },
        hasAccounts && {
          name: 'account_id',
          label: 'Account',
          all: 'All accounts',
          choices: accounts.map(one => [one.id, one.name] as const),
        },
        { name: 'location', label: 'Location' },
      ]}
      controls={<UrlSearch name="label_selector" label="Label selector" />}
      bulk={canWrite ? (rows, clear) => <BulkPower servers={rows} onSuccess={clear} /> : undefined}
      empty={{
        icon: Server,
        text: 'See what your machines are doing, control their power, and create new ones.',
        action: canWrite && (
          <div className="flex flex-wrap justify-center gap-2">
            <LinkButton to="/cloud-accounts/new" kind="primary">
              Connect a cloud
            </LinkButton>
            <Button onClick={addServer}>Add a server you have</Button>
          </div>
        ),
      }}
    />
  )
}

/** How much of all cores a server used in the last hour, and its load average. */
const Load = ({ of }: { of: ServerLatestView | undefined }) =>
  of?.cpu_last_hour_percent == null ? null : (
    <div className="w-full">
      <span className="flex justify-between gap-1 text-[13px] text-muted">
        {Math.round(of.cpu_last_hour_percent)}%
        {of.load_last_hour !== null && <span title="Load average in the last hour">{of.load_last_hour.toFixed(2)}</span>}
      </span>
      <Meter label="CPU use in the last hour" value={of.cpu_last_hour_percent} max={100} />
    </div>
  )

interface ShareProps {
  label: string
  percent: number | null | undefined
  title?: string | null | undefined
}

/** How much of something is used. */
const Share = ({ label, percent, title }: ShareProps) =>
  percent == null ? null : (
    <div className="w-full" title={title ?? undefined}>
      <span className="text-[13px] text-muted">{Math.round(percent)}%</span>
      <Meter label={label} value={percent} max={100} />
    </div>
  )

/** The size; for a draft the one that it orders. */
const sizeOf = ({ size, order }: ServerView): string => {
  const ordered = order?.size ?? null
  return size.slug ?? (typeof ordered === 'string' ? ordered : describeResources(ordered ?? size))
}

/** The first address, and the number of others. */
const Addresses = ({ server: { addresses } }: { server: ServerView }) => (
  <span title={addresses.map(one => one.address).join('\n')}>
    {addresses[0]?.address}
    {addresses.length > 1 && <span className="ml-1 font-sans text-muted">+{addresses.length - 1}</span>}
  </span>
)
