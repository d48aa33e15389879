import { Archive } from 'lucide-react'
import type { DeprecatedPartView } from '../../../access/deprecated-use'
import { Empty } from '../../parts/empty'
import { Table, wholeList, type Column } from '../../parts/table'
import { Ago } from '../../parts/time'
import { useOne } from '../../queries'

const columns: readonly Column<DeprecatedPartView>[] = [
  {
    name: 'what',
    title: 'What',
    render: one => (
      <code className="font-mono text-[13px]">
        {one.method} {one.path} {one.name}
      </code>
    ),
  },
  { name: 'note', title: 'Instead', from: 'md', render: one => one.note },
  { name: 'sunset', title: 'Goes away', width: '9rem', from: 'sm', render: one => one.sunset ?? 'not decided' },
  { name: 'uses', title: 'Uses', width: '6rem', right: true, render: one => one.uses.toLocaleString() },
  { name: 'last', title: 'Last used', width: '9rem', from: 'sm', render: one => <Ago at={one.last_used_at} /> },
]

/** What of the API goes away, and who uses it still. */
export function Deprecations() {
  const { data, error, isPending, refetch } = useOne<{ data: DeprecatedPartView[] }>('/deprecations')
  const list = { ...wholeList(data?.data ?? [], isPending), error, again: () => void refetch() }
  return (
    <Table
      label="Deprecations"
      columns={columns}
      list={list}
      idOf={one => one.id}
      empty={
        <Empty icon={Archive} title="Nothing goes away">
          Parts of the API that will be removed show here, with who uses them still.
        </Empty>
      }
    />
  )
}
