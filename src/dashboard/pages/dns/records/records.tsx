import { FileText } from 'lucide-react'
import type { DnsRecordView } from '../../../../features/dns/record-shapes'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { useAddress } from '../../../parts/address'
import { Empty } from '../../../parts/empty'
import { Filters, SearchField } from '../../../parts/filters'
import { Status } from '../../../parts/status'
import { Table, type Column } from '../../../parts/table'
import { useList } from '../../../queries'
import { ZoneFrame } from '../zone-frame'

const columns: readonly Column<DnsRecordView>[] = [
  { name: 'name', title: 'Name', sort: 'name', width: '30%', render: one => <span className="font-medium">{one.name}</span> },
  { name: 'type', title: 'Type', width: '6rem', render: one => one.type },
  { name: 'ttl', title: 'TTL', width: '6rem', right: true, from: 'md', render: one => one.ttl },
  {
    name: 'value',
    title: 'Value',
    render: one => <code className="font-mono text-[13px]">{one.value ?? one.content}</code>,
  },
  { name: 'state', title: 'State', width: '9rem', from: 'sm', render: one => <Status state={one.sync.state} /> },
]

/** The records of a zone. */
export default function Records({ zone }: { zone: ZoneView }) {
  const [{ sort, q }, set] = useAddress({ sort: 'name', q: '' })
  const list = useList<DnsRecordView>(`/dns/zones/${zone.id}/records`, { sort, q: q && `${q}*`, include: 'total' })
  return (
    <ZoneFrame zone={zone}>
      <Filters>
        <SearchField label="Search records" value={q} onChange={text => set({ q: text })} />
      </Filters>
      <Table
        label="Records"
        columns={columns}
        list={list}
        idOf={one => one.id}
        sort={sort}
        onSort={value => set({ sort: value })}
        empty={
          <Empty icon={FileText} title="No records">
            Nothing in the zone is like that.
          </Empty>
        }
      />
    </ZoneFrame>
  )
}
