import { Archive } from 'lucide-react'
import type { DeprecatedPartView } from '../../../features/deprecations/shapes'
import { Empty } from '../../parts/empty'
import { Table, requestedList, type Column } from '../../parts/table'
import { RelativeTime } from '../../parts/time'
import { useOne } from '../../queries'

const columns: readonly Column<DeprecatedPartView>[] = [
  {
    title: 'Deprecated feature',
    look: 'mono',
    render: one => `${one.method} ${one.path} ${one.name}`,
  },
  { title: 'Replacement', showFrom: 'md', render: one => one.note },
  { title: 'Removal date', width: '9rem', render: one => one.sunset ?? 'Not scheduled' },
  { title: 'Uses', width: '6rem', alignRight: true, render: one => one.uses.toLocaleString() },
  { title: 'Last used', width: '9rem', render: one => <RelativeTime at={one.last_used_at} /> },
]

/** Deprecated parts of the API, and their use. */
export function Deprecations() {
  const found = useOne<{ data: DeprecatedPartView[] }>('/deprecations')
  return (
    <Table
      label="Deprecations"
      columns={columns}
      list={requestedList(found, found.data?.data)}
      idOf={one => one.id}
      empty={
        <Empty icon={Archive} title="No deprecations">
          Deprecated API features appear here, with how often they are used.
        </Empty>
      }
    />
  )
}
