import { CalendarClock } from 'lucide-react'
import type { MaintenanceWindowView } from '../../../features/maintenance/shapes'
import { useAddress } from '../../parts/address'
import { Empty } from '../../parts/empty'
import { Filters, SearchField } from '../../parts/filters'
import { Status } from '../../parts/status'
import { Table, type Column } from '../../parts/table'
import { Ago, span } from '../../parts/time'
import { useList } from '../../queries'
import { recurrenceWords } from './rules'
import { scopeWords } from './scope-words'

const columns: readonly Column<MaintenanceWindowView>[] = [
  { name: 'name', title: 'Name', sort: 'name', render: one => <span className="font-medium">{one.name}</span> },
  {
    name: 'status',
    title: 'Status',
    width: '9rem',
    render: one => <Status state={one.status === 'in_progress' ? 'in_force' : one.status} />,
  },
  { name: 'comes', title: 'Comes', from: 'md', render: one => <span className="text-muted">{recurrenceWords(one)}</span> },
  { name: 'for', title: 'For', from: 'lg', render: one => <span className="text-muted">{scopeWords(one.targets)}</span> },
  { name: 'lasts', title: 'Lasts', width: '7rem', from: 'sm', render: one => span(one.duration_seconds * 1000) },
  {
    name: 'next',
    title: 'Next',
    width: '9rem',
    from: 'sm',
    render: one =>
      one.current ? (
        <>
          ends <Ago at={one.current.ends_at} />
        </>
      ) : (
        <Ago at={one.next_occurrences[0]?.starts_at} never="–" />
      ),
  },
]

/** All windows as a list, those that are over among them. */
export function Windows() {
  const [{ q, sort }, set] = useAddress({ q: '', sort: 'name' })
  const list = useList<MaintenanceWindowView>('/maintenance-windows', { q, sort, include: 'total' })
  return (
    <>
      <Filters>
        <SearchField label="Search maintenance" value={q} onChange={text => set({ q: text })} />
      </Filters>
      <Table
        label="Maintenance windows"
        columns={columns}
        list={list}
        idOf={one => one.id}
        linkOf={one => `/maintenance/${one.id}`}
        sort={sort}
        onSort={value => set({ sort: value })}
        empty={
          <Empty icon={CalendarClock} title={q === '' ? 'No maintenance is planned' : 'None of these'}>
            {q === '' && 'Plan it before you take something down, and nobody is woken for it.'}
          </Empty>
        }
      />
    </>
  )
}
