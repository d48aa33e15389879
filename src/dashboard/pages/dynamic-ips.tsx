import { Router } from 'lucide-react'
import type { DynamicIpView } from '../../features/dynamic-ips/shapes'
import { ListPage, type Column } from '../parts/list'
import { pluralize } from '../parts/plural'
import { Status } from '../parts/status'
import { tagsColumn } from '../parts/table'
import { RelativeTime } from '../parts/time'
import { useUrlState } from '../parts/url-state'
import { clientName, refetchMs, toneOfSource } from './dynamic-ips/source-text'

const statuses = {
  'stale,held': 'Stale or held',
  fresh: 'Fresh',
  stale: 'Stale',
  held: 'Held',
  new: 'New',
  paused: 'Paused',
}
const shownHosts = 3

/** The list of dynamic IP sources. */
export default function DynamicIps() {
  const [, set] = useUrlState({ tag: '' })
  const columns: readonly Column<DynamicIpView>[] = [
    { title: 'Name', sort: 'name', look: 'strong', width: 'clamp(10rem, 18cqw, 24rem)', render: one => one.name },
    { title: 'Status', width: '7rem', render: one => <Status status={one.status} tone={toneOfSource(one.status)} /> },
    {
      title: 'Addresses',
      width: 'clamp(9rem, 16cqw, 22rem)',
      look: 'mono',
      onPhone: 'line',
      render: one => <Addresses source={one} />,
    },
    { title: 'Changed', width: '8rem', showFrom: 'lg', render: one => <RelativeTime at={one.last_changed_at} /> },
    { title: 'Hosts', showFrom: 'md', onPhone: 'line', render: one => <Hosts source={one} /> },
    {
      title: 'Last client',
      width: '9rem',
      showFrom: 'xl',
      look: 'muted',
      render: one => one.last_client && clientName(one.last_client),
    },
    { title: 'Last report', width: '8rem', render: one => <RelativeTime at={one.last_seen_at} /> },
    tagsColumn(
      one => one.tags,
      tag => set({ tag }),
    ),
  ]
  return (
    <ListPage
      label="Sources"
      description="A dynamic IP source is a router, or a client behind it, that reports its current IP address. The DNS records of its hosts follow the address."
      path="/dynamic-ips"
      page="/dynamic-ips/$id"
      create="/dynamic-ips/new"
      columns={columns}
      sort="name"
      search
      counted
      refetchMs={refetchMs}
      filters={[
        { name: 'status', label: 'Status', all: 'All statuses', choices: statuses },
        { name: 'tag', label: 'Tag' },
      ]}
      empty={{
        icon: Router,
        text: 'For internet connections whose IP address changes, such as a home connection: your router reports its address with a dynamic DNS client, and the DNS records of your hosts follow it.',
      }}
    />
  )
}

const Addresses = ({ source: { ipv4, ipv6, prefix6 } }: { source: DynamicIpView }) =>
  [ipv4, ipv6 ?? prefix6].filter(one => one !== null).map(one => <div key={one}>{one}</div>)

function Hosts({ source: { hosts } }: { source: DynamicIpView }) {
  const failed = hosts.filter(one => one.problem !== null).length
  return (
    <>
      {hosts.slice(0, shownHosts).map(one => (
        <div key={one.name}>{one.name}</div>
      ))}
      {hosts.length > shownHosts && <div className="text-muted">{hosts.length - shownHosts} more</div>}
      {failed > 0 && <Status status="failed" label={pluralize(failed, 'host has a problem', 'hosts have problems')} />}
    </>
  )
}
