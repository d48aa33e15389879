import { useEffect, useState } from 'react'
import type { ServerView } from '../../features/servers/shapes'
import { Button, LinkButton } from '../parts/button'
import { CopyableText } from '../parts/code'
import { Card, Page } from '../parts/page'
import { ResourceLink, ResourceLinks } from '../parts/resource'
import { useResourceNames } from '../parts/resource-search'
import { resourcePage } from '../parts/resource-page'
import { Status, Tags } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { usePerson } from '../session'
import { FollowedAction } from './actions/followed-action'
import { installAgentOn } from './agents/install-agent'
import { useAccountNames } from './cloud/accounts'
import { describeResources, formatAmount } from './cloud/amounts'
import { ServerActions } from './cloud/server-actions'
import { AgentState, ServerAgent } from './cloud/server-agent'
import { ServerCertificates } from './cloud/server-certificates'
import { ServerControllers } from './cloud/server-controllers'
import { ServerFacts } from './cloud/server-facts'
import { ServerFirewalls } from './cloud/server-firewalls'
import { InventoryChanges } from './cloud/inventory-changes'
import { ServerInventory } from './cloud/server-inventory'
import { ServerPackages } from './cloud/server-packages'
import { ServerSnapshots } from './cloud/server-snapshots'
import { RecentActions, ServerHistory } from './cloud/server-history'
import { ServerJournal } from './cloud/server-journal'
import { ServerMetrics } from './cloud/server-metrics'
import { ServerMonitors } from './cloud/server-monitors'
import { Origin, ServerHealth, ServerPower, ServerStatus } from './cloud/server-status'
import { kindTitles, labelsText, originTitles, toneOfServer } from './cloud/server-text'

/** A server: what it is doing, what is known of it, and its history. */
export default resourcePage({ path: '/servers', parent: '/servers' }, ServerPage)

function ServerPage({ resource: server }: { resource: ServerView }) {
  const { canWrite } = usePerson()
  // The last action stays visible after it has finished, so that its result is seen.
  const [followed, setFollowed] = useState(server.action_id)
  useEffect(() => {
    if (server.action_id !== null) setFollowed(server.action_id)
  }, [server.action_id])
  return (
    <Page
      title={server.name}
      parent="/servers"
      aside={
        <>
          <Status status={server.status} tone={toneOfServer(server.status)} />
          {server.health !== 'unknown' && <Status status={server.health} />}
          <Tags tags={Object.entries(server.labels).map(([key, value]) => labelsText({ [key]: value }))} />
        </>
      }
      actions={
        <>
          {canWrite && server.status !== 'draft' && server.status !== 'deleted' && (
            <LinkButton to="/monitors/new" search={{ target: server.id }}>
              Create monitor
            </LinkButton>
          )}
          <ServerActions server={server} onStart={setFollowed} />
        </>
      }
    >
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="flex min-w-0 flex-col gap-4">
          {followed !== null && <FollowedAction key={followed} id={followed} />}
          <State server={server} />
          {server.status !== 'draft' && <ServerMetrics id={server.id} name={server.name} hasAgent={server.agent !== null} />}
          {(server.account_id === null || server.controllers.length > 0) && <ServerControllers server={server} />}
          {server.agent && <ServerInventory id={server.id} />}
          {server.agent && <ServerPackages id={server.id} />}
          {server.agent && <ServerCertificates id={server.id} />}
          {server.status !== 'draft' && <ServerJournal id={server.id} hasAgent={server.agent !== null} />}
          {server.status !== 'draft' && <InventoryChanges id={server.id} hasAgent={server.agent !== null} />}
          {server.status !== 'draft' && <ServerFacts id={server.id} />}
          {server.notes !== '' && (
            <Card title="Notes">
              <p className="wrap-anywhere whitespace-pre-wrap">{server.notes}</p>
            </Card>
          )}
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <Details server={server} />
          <ServerAgent server={server} />
          <ServerMonitors server={server} />
          {server.provider_ref !== null && <ServerFirewalls id={server.id} />}
          {server.account_id !== null && <ServerSnapshots id={server.id} />}
          <RecentActions id={server.id} />
          <ServerHistory id={server.id} />
        </div>
      </div>
    </Page>
  )
}

/** Status, health, and power, each with its source and age. */
const State = ({ server }: { server: ServerView }) => (
  <Card
    title="State"
    facts={[
      [
        'Status',
        <>
          <Measured of={server.observed.status} since={server.status_since_at}>
            <ServerStatus server={server} />
          </Measured>
          {server.status === 'error' && server.provider_ref === null && server.order !== null && (
            <p className="text-[13px] text-muted">
              It is not known whether the cloud created the server. If it did, the server appears here with the next sync.
            </p>
          )}
        </>,
      ],
      [
        'Health',
        <>
          <Measured of={server.observed.health} since={server.health_since_at}>
            <ServerHealth server={server} />
          </Measured>
          <p className="text-[13px] text-muted">{server.health_reason}</p>
        </>,
      ],
      [
        'Power',
        <Measured of={server.observed.power}>
          <ServerPower server={server} />
        </Measured>,
      ],
      ['Agent', server.agent ? <AgentState of={server.agent} id={server.id} /> : <NoAgent server={server} />],
      ...server.addresses.map(
        (one, at) =>
          [
            server.addresses.findIndex(other => titleOfAddress(other) === titleOfAddress(one)) === at
              ? titleOfAddress(one)
              : `${titleOfAddress(one)} (${at + 1})`,
            <>
              <CopyableText text={one.address} label={titleOfAddress(one)} />
              {one.ptr && <div className="text-[13px] text-muted">{one.ptr}</div>}
            </>,
          ] as const,
      ),
    ]}
  />
)

/** Installs the agent, if the server can have one. */
function NoAgent({ server }: { server: ServerView }) {
  const { canWrite } = usePerson()
  const isPossible = canWrite && !['draft', 'deleted', 'missing'].includes(server.status)
  return isPossible ? (
    <Button small onClick={() => installAgentOn(server)}>
      Install agent
    </Button>
  ) : (
    <span className="text-muted">None</span>
  )
}

const titleOfAddress = ({ family, scope }: ServerView['addresses'][number]): string =>
  scope === 'private' ? `Private IPv${family}` : `IPv${family} address`

interface MeasuredProps {
  of: ServerView['observed']['status']
  since?: string
  children: React.ReactNode
}

const Measured = ({ of, since, children }: MeasuredProps) => (
  <span className="flex flex-wrap items-center gap-x-3">
    {children}
    {since && (
      <span className="text-[13px] text-muted">
        since <RelativeTime at={since} />
      </span>
    )}
    <Origin of={of} />
  </span>
)

function Details({ server }: { server: ServerView }) {
  const accountName = useAccountNames()
  const monitors = useResourceNames(server.health_monitor_ids)
  const volumes = useResourceNames(server.volume_ids)
  const { size, price, protection, account_id: account } = server
  const ordered = server.status === 'draft' ? (server.order?.size ?? null) : null
  const slug = typeof ordered === 'string' ? ordered : size.slug
  const resources = describeResources(typeof ordered === 'object' && ordered !== null ? ordered : size)
  const protectedFrom = [protection.delete && 'deletion', protection.rebuild && 'being rebuilt'].filter(Boolean).join(', ')
  return (
    <Card
      title="Details"
      facts={[
        ['Kind', kindTitles[server.kind]],
        ['Origin', originTitles[server.origin]],
        ['Account', account && <ResourceLink id={account} type="cloud_account" name={accountName(account)} />],
        ['Location', server.location],
        [
          'Size',
          (slug || resources) && (
            <>
              {slug}
              <div className={slug ? 'text-[13px] text-muted' : ''}>{resources}</div>
            </>
          ),
        ],
        ['Image', server.image],
        [
          'Price',
          price.monthly && (
            <>
              {formatAmount(price.monthly, price.currency)} per month
              <div className="text-[13px] text-muted">
                Read <RelativeTime at={price.as_of} />
              </div>
            </>
          ),
        ],
        ['Backups', server.backups === null ? null : server.backups ? 'Enabled' : 'Disabled'],
        ['Protected from', protectedFrom],
        [
          'Health monitors',
          server.health_monitor_ids.length > 0 && (
            <ResourceLinks of={server.health_monitor_ids.map(id => ({ id, type: 'monitor', name: monitors.get(id) ?? null }))} />
          ),
        ],
        [
          'Volumes',
          server.volume_ids.length > 0 && (
            <ResourceLinks of={server.volume_ids.map(id => ({ id, type: 'volume', name: volumes.get(id) ?? null }))} />
          ),
        ],
        ['User data', server.user_data_set && 'Set (not shown)'],
        ['ID at the cloud', server.provider_ref && <CopyableText text={server.provider_ref} label="ID at the cloud" />],
        ['Created', <RelativeTime at={server.created_at} />],
        ['ID', <CopyableText text={server.id} />],
      ]}
    />
  )
}
