import { ListChecks } from 'lucide-react'
import type { ActionView } from '../../../features/actions/shapes'
import { useAddress } from '../../parts/address'
import { Empty } from '../../parts/empty'
import { Choice, Filters } from '../../parts/filters'
import { Page } from '../../parts/page'
import { Status } from '../../parts/status'
import { Table, type Column } from '../../parts/table'
import { Ago } from '../../parts/time'
import { useList } from '../../queries'
import { Progress } from './progress'
import { titleOf } from './action-words'

const columns: readonly Column<ActionView>[] = [
  { name: 'type', title: 'Work', render: one => <span className="font-medium">{titleOf(one)}</span> },
  { name: 'status', title: 'Status', width: '9rem', render: one => <Status state={one.status} /> },
  { name: 'progress', title: 'Progress', width: '11rem', from: 'md', render: one => <Progress action={one} /> },
  { name: 'by', title: 'Asked by', from: 'lg', render: one => one.actor.name ?? one.actor.type },
  { name: 'at', title: 'Asked', width: '9rem', from: 'sm', sort: 'created_at', render: one => <Ago at={one.created_at} /> },
]

/** Work that goes on in the background. */
export default function Actions() {
  const [{ status, sort }, set] = useAddress({ status: '', sort: '-created_at' })
  const list = useList<ActionView>('/actions', { status, sort }, { everyMs: 5000 })
  return (
    <Page title="Actions" lead="Work that goes on in the background, and what came of it in the last 30 days.">
      <Filters>
        <Choice
          label="Status"
          value={status}
          onChange={value => set({ status: value })}
          choices={[
            ['', 'All'],
            ['pending,running', 'Under way'],
            ['success', 'Done'],
            ['error', 'Failed'],
            ['cancelled', 'Called off'],
          ]}
        />
      </Filters>
      <Table
        label="Actions"
        columns={columns}
        list={list}
        idOf={one => one.id}
        linkOf={one => `/actions/${one.id}`}
        sort={sort}
        onSort={value => set({ sort: value })}
        empty={
          <Empty icon={ListChecks} title="No work">
            What takes longer than a moment shows here with its progress: rollouts, imports, recoveries.
          </Empty>
        }
      />
    </Page>
  )
}
