import { useState } from 'react'
import type { ServerInventoryView } from '../../../features/servers/agents/inventory-shapes'
import { Button } from '../../parts/button'
import { Card } from '../../parts/page'
import { humanize, Status, type Tone } from '../../parts/status'
import { requestedList, Table, type Column } from '../../parts/table'
import { formatDateTime, formatDuration, RelativeTime } from '../../parts/time'
import { useOne } from '../../queries'

type PartOf = Omit<ServerInventoryView, 'agent_id' | 'observed_at' | 'stale' | 'problems'>
type ItemOf<Name extends keyof PartOf> = NonNullable<PartOf[Name]['items']>[number]

/** Something that an agent reports, as a row. */
interface Row {
  id: string
  name: string
  tone: Tone
  state: string
  /** What else is known. */
  details: readonly (string | null | false)[]
  kind: string
  reportedAt: string | null
}
type Described = Pick<Row, 'name' | 'tone' | 'state' | 'details'>

const containerTones: Readonly<Record<string, Tone>> = { restarting: 'bad', dead: 'bad', paused: 'warn' }

function describeContainer({ name, image, state, health, restarts, exit_code: code }: ItemOf<'containers'>): Described {
  const isRunning = state === 'running'
  const hasFailed = health === 'unhealthy' || (!isRunning && code !== null && code !== 0)
  return {
    name,
    tone: hasFailed ? 'bad' : (containerTones[state] ?? (isRunning ? (health === 'starting' ? 'busy' : 'ok') : 'idle')),
    state: health === null || health === 'none' ? state : `${state}, ${health}`,
    details: [
      image,
      !isRunning && code !== null && `exit code ${code}`,
      restarts !== null && restarts > 0 && (restarts === 1 ? 'restarted once' : `restarted ${restarts.toLocaleString()} times`),
    ],
  }
}

const unitTones: Readonly<Record<string, Tone>> = { failed: 'bad', inactive: 'warn', active: 'ok' }

const describeUnit = ({ name, state, sub_state: sub, watched }: ItemOf<'units'>): Described => ({
  name,
  tone: unitTones[state] ?? 'busy',
  state,
  details: [sub !== state && sub, watched && 'watched'],
})

const describeDisk = ({ device, model, serial, failing, warnings, error }: ItemOf<'disks'>): Described => ({
  name: device,
  tone: failing ? 'bad' : error === null ? 'ok' : 'warn',
  state: failing ? 'failing' : error === null ? 'healthy' : 'not read',
  details: [model, serial && `serial number ${serial}`, ...warnings, error],
})

const describeArray = ({ name, kind, state, degraded }: ItemOf<'arrays'>): Described => ({
  name,
  tone: degraded ? 'bad' : 'ok',
  state: degraded ? 'degraded' : 'healthy',
  details: [kind === 'md' ? 'Linux software RAID' : 'ZFS pool', state],
})

/** Addresses that only programs of the server reach. */
const isLoopback = (address: string): boolean => /^(127\.|::1$)/.test(address)

const describeSocket = ({ protocol, address, port, process, user }: ItemOf<'sockets'>): Described => ({
  name: `${port}/${protocol}`,
  tone: 'ok',
  state: isLoopback(address) ? 'local' : 'listening',
  details: [address === '0.0.0.0' || address === '::' ? `all addresses (${address})` : address, process, user && `user ${user}`],
})

/** A file system that is full within this time needs attention. */
const soonHours = 24

const describeMount = ({ path, source, type, hours_left: left }: ItemOf<'mounts'>): Described => ({
  name: path,
  tone: left !== null && left < soonHours ? 'warn' : 'ok',
  state: left !== null && left < soonHours ? 'filling' : 'mounted',
  details: [source, type, left !== null && `full in ${formatDuration(left * 3_600_000)} if it continues to fill`],
})

const describeSession = ({ user, terminal, from, since_at: since }: ItemOf<'sessions'>): Described => ({
  name: user,
  tone: 'ok',
  state: 'logged in',
  details: [from && `from ${from}`, terminal, since && `since ${formatDateTime(since)}`],
})

interface Part {
  name: keyof PartOf
  title: string
  /** What each item is. */
  kind: string
  describe: (item: never) => Described
}

const describeProcesses = ({ name, count }: ItemOf<'processes'>): Described => ({
  name,
  tone: count > 0 ? 'ok' : 'warn',
  state: count > 0 ? 'running' : 'not running',
  details: [count === 1 ? '1 process' : `${count.toLocaleString()} processes`],
})

/** Parts of an inventory that can fail, in the order in which they are shown. */
const services: readonly Part[] = [
  { name: 'containers', title: 'Containers', kind: 'Container', describe: describeContainer },
  { name: 'units', title: 'systemd units', kind: 'Unit', describe: describeUnit },
  { name: 'disks', title: 'Disks', kind: 'Disk', describe: describeDisk },
  { name: 'processes', title: 'Watched processes', kind: 'Process', describe: describeProcesses },
  { name: 'arrays', title: 'Disk arrays', kind: 'Array', describe: describeArray },
]

const ports: readonly Part[] = [
  { name: 'sockets', title: 'Listening ports', kind: 'Port', describe: describeSocket },
  { name: 'mounts', title: 'File systems', kind: 'File system', describe: describeMount },
  { name: 'sessions', title: 'Users', kind: 'User', describe: describeSession },
]

const tones: readonly Tone[] = ['bad', 'warn', 'busy', 'ok', 'idle']

/** Everything in some parts of an inventory. What has failed is first. */
const rowsOf = (inventory: ServerInventoryView, parts: readonly Part[]): Row[] =>
  parts
    .flatMap(({ name, kind, describe }) => {
      const { items, reported_at: reportedAt } = inventory[name]
      // The names of containers and disks can occur twice.
      return (items ?? []).map((one, at) => ({
        ...(describe as (item: typeof one) => Described)(one),
        ...{ id: `${name} ${at}`, kind, reportedAt },
      }))
    })
    .sort((a, b) => tones.indexOf(a.tone) - tones.indexOf(b.tone))

const columnsFor = ({ stale }: ServerInventoryView): readonly Column<Row>[] => [
  {
    title: 'Name',
    render: one => (
      <>
        <div className="wrap-anywhere">{one.name}</div>
        <div className="text-[13px] font-normal wrap-anywhere text-muted">{one.details.filter(Boolean).join(' · ')}</div>
      </>
    ),
  },
  { title: 'Kind', width: '7rem', onPhone: 'plain', look: 'muted', render: one => one.kind },
  {
    title: 'State',
    width: '10.5rem',
    onPhone: 'corner',
    render: one => <Status status={one.state} tone={one.tone} label={humanize(one.state)} />,
  },
  {
    title: 'Reported',
    width: '7.5rem',
    onPhone: 'plain',
    render: one => (
      <span className={stale ? 'text-warn' : 'text-muted'}>
        <RelativeTime at={one.reportedAt} />
      </span>
    ),
  },
]

const shownAtFirst = 12

/** What the agent of a server reported. The hub does not announce each report. */
export const useInventory = (id: string) => useOne<ServerInventoryView>(`/servers/${id}/inventory`, {}, { refetchMs: 60_000 })

/** What the agent of a server reported: what can fail, with failures first, and its ports, file systems, and users. */
export const ServerInventory = ({ id }: { id: string }) => (
  <>
    <InventoryCard id={id} title="Services and disks" parts={services} />
    <InventoryCard id={id} title="Ports, file systems, and users" parts={ports} />
  </>
)

/** Some parts of the inventory of a server. What is missing is explained. */
function InventoryCard({ id, title, parts }: { id: string; title: string; parts: readonly Part[] }) {
  const found = useInventory(id)
  const [isWhole, setWhole] = useState(false)
  const inventory = found.data
  const rows = inventory ? rowsOf(inventory, parts) : []
  const isLong = rows.length > shownAtFirst
  const missing = inventory ? parts.filter(({ name }) => inventory[name].reason !== null) : []
  return (
    <Card
      title={title}
      flush
      actions={
        isLong && (
          <Button small onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Show fewer' : `Show all ${rows.length}`}
          </Button>
        )
      }
    >
      {(rows.length > 0 || !inventory) && (
        <Table
          label={title}
          columns={inventory ? columnsFor(inventory) : []}
          list={requestedList(found, isWhole ? rows : rows.slice(0, shownAtFirst))}
          idOf={one => one.id}
          empty={null}
        />
      )}
      {inventory && missing.length > 0 && (
        <dl className={`flex flex-col gap-2 p-4 text-[13px] text-muted ${rows.length > 0 ? 'border-t border-line' : ''}`}>
          {missing.map(({ name, title: what }) => (
            <div key={name}>
              <dt className="inline font-medium">{what}: </dt>
              <dd className="inline">{inventory[name].reason}</dd>
            </div>
          ))}
        </dl>
      )}
    </Card>
  )
}
