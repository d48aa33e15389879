import { Globe } from 'lucide-react'
import type { ZoneView } from '../../../features/dns/zone-shapes'
import { useAddress } from '../../parts/address'
import { Empty } from '../../parts/empty'
import { Choice, Filters, SearchField } from '../../parts/filters'
import { Status } from '../../parts/status'
import { Table, type Column } from '../../parts/table'
import { Ago } from '../../parts/time'
import { useList } from '../../queries'
import { DnsFrame } from './dns-frame'

const columns: readonly Column<ZoneView>[] = [
  {
    name: 'name',
    title: 'Zone',
    sort: 'name',
    render: one => <span className="font-medium">{one.unicode_name}</span>,
  },
  {
    name: 'state',
    title: 'State',
    width: '9rem',
    render: one => <Status state={one.status === 'paused' ? 'paused' : one.sync.state} />,
  },
  {
    name: 'records',
    title: 'Records',
    width: '7rem',
    right: true,
    from: 'sm',
    render: one => one.record_count.toLocaleString(),
  },
  { name: 'serial', title: 'Serial', width: '9rem', right: true, from: 'lg', render: one => one.serial },
  {
    name: 'updated',
    title: 'Changed',
    width: '9rem',
    sort: 'updated_at',
    from: 'md',
    render: one => <Ago at={one.updated_at} />,
  },
]

/** The zones of the workspace, and how each stands. */
export default function Zones() {
  const [{ sort, q, synced }, set] = useAddress({ sort: 'name', q: '', synced: '' })
  const list = useList<ZoneView>('/dns/zones', { sort, q, synced, include: 'total' })
  return (
    <DnsFrame lead="Zones are kept here as data, and brought to where they are served.">
      <Filters>
        <SearchField label="Search zones" value={q} onChange={text => set({ q: text })} />
        <Choice
          label="Whether synced"
          value={synced}
          onChange={value => set({ synced: value })}
          choices={[
            ['', 'All zones'],
            ['true', 'Synced'],
            ['false', 'Not synced'],
          ]}
        />
      </Filters>
      <Table
        label="Zones"
        columns={columns}
        list={list}
        idOf={one => one.id}
        linkOf={one => `/dns/zones/${one.id}`}
        sort={sort}
        onSort={value => set({ sort: value })}
        empty={
          <Empty icon={Globe} title="No zones">
            A zone holds the records of a domain.
          </Empty>
        }
      />
    </DnsFrame>
  )
}
