import { Link } from '@tanstack/react-router'
import { FileText } from 'lucide-react'
import type { DnsRecordTypeView, DnsRecordView } from '../../features/dns/records/shapes'
import { ListPage, type Column } from '../parts/list'
import { resourcePicker } from '../parts/resource-search'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { useUrlState } from '../parts/url-state'
import { useOne } from '../queries'
import { dnsTabs } from './dns/dns-tabs'
import { LockAndTags, Value } from './dns/records/record-columns'
import { queryOf, recordFilters, recordSearch } from './dns/records/record-query'

const ZonePicker = resourcePicker(one => one.prefix === 'zone')

/** The records of all zones. Each links to its zone, where it can be edited. */
export default function AllRecords() {
  const [, set] = useUrlState({ tag: '' })
  const types = useOne<{ data: DnsRecordTypeView[] }>('/dns/record-types').data?.data ?? []
  const filters = recordFilters(types)
  const columns: readonly Column<DnsRecordView>[] = [
    {
      title: 'Name',
      sort: 'name',
      width: 'clamp(10rem, 24cqw, 30rem)',
      render: one => <Name record={one} onTag={tag => set({ tag })} />,
    },
    { title: 'Type', sort: 'type', width: '5.5rem', onPhone: 'corner', render: one => one.type },
    { title: 'Value', onPhone: 'line', render: one => <Value record={one} /> },
    {
      title: 'Zone',
      width: '20cqw',
      showFrom: 'md',
      render: one => (
        <Link to="/dns/zones/$id" params={{ id: one.zone_id }} className="text-accent hover:underline">
          {one.zone}
        </Link>
      ),
    },
    { title: 'Status', width: '8rem', showFrom: 'md', render: one => <Status status={one.sync.state} /> },
    {
      title: 'Updated',
      sort: 'updated_at',
      width: '9rem',
      showFrom: 'lg',
      render: one => <RelativeTime at={one.updated_at} fallback="–" />,
    },
  ]
  return (
    <ListPage
      label="Records"
      description="The records of all zones. To edit a record, open it in its zone."
      tabs={dnsTabs}
      path="/dns/records"
      columns={columns}
      sort="-updated_at"
      search={recordSearch}
      counted
      filters={[
        filters.type,
        { name: 'zone', label: 'Zone', all: 'All zones', Picker: ZonePicker },
        filters.state,
        filters.locked,
        filters.tag,
      ]}
      query={queryOf}
      empty={{ icon: FileText, text: 'Create a zone to add records to it.' }}
    />
  )
}

interface NameProps {
  record: DnsRecordView
  onTag(tag: string): void
}

// Between a phone and a large screen, the name includes the zone.
const Name = ({ record, onTag }: NameProps) => (
  <span className="flex flex-wrap items-center gap-x-1.5">
    <Link
      to="/dns/zones/$id"
      params={{ id: record.zone_id }}
      search={record.managed ? { q: record.name, type: record.type } : { state: 'unmanaged', type: record.type }}
      className="min-w-0 font-mono text-[13px] font-medium text-accent hover:underline"
      title={record.unicode_fqdn}
    >
      {record.name}
      <span className="hidden sm:max-md:inline">{record.name === '@' ? ` ${record.zone}` : `.${record.zone}`}</span>
    </Link>
    <LockAndTags record={record} onTag={onTag} />
  </span>
)
