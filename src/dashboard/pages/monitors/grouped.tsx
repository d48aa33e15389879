import { Link } from '@tanstack/react-router'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { MonitorView } from '../../../features/monitors/shapes'
import { Button } from '../../parts/button'
import { Problem } from '../../parts/problem'
import { Status } from '../../parts/status'
import { Table } from '../../parts/table'
import { useList, type Listed } from '../../queries'
import { membersOf, monitorColumns } from './columns'
import { useRecent } from './recent'

interface GroupedProps {
  /** What the list is narrowed by. */
  query: Record<string, string>
}

const deepest = 10

interface MembersProps {
  group: MonitorView
  query: Record<string, string>
  /** How many groups it is in, of those that are open. */
  depth: number
}

/** Monitors by their groups: a group stands as its members do, and opens to show them. What is in no group comes last. */
export function Grouped({ query }: GroupedProps) {
  const groups = useList<MonitorView>('/monitors', { type: 'group', group: 'none', sort: 'name' })
  if (groups.error) return <Problem error={groups.error} onAgain={groups.again} />
  return (
    <div className="flex flex-col gap-3">
      {groups.rows.map(group => (
        <Group key={group.id} group={group} query={query} depth={0} />
      ))}
      {groups.hasMore && <Button onClick={groups.more}>More groups</Button>}
      <Loose query={query} />
    </div>
  )
}

function Group({ group, query, depth }: MembersProps) {
  const [isOpen, setOpen] = useState(group.status === 'down' || group.status === 'degraded')
  const Icon = isOpen ? ChevronDown : ChevronRight
  return (
    <section aria-label={group.name} className="rounded-lg border border-line bg-surface">
      <div className="flex min-h-12 items-center gap-2 px-3">
        <button
          type="button"
          aria-expanded={isOpen}
          aria-label={`${isOpen ? 'Close' : 'Open'} ${group.name}`}
          onClick={() => setOpen(!isOpen)}
          className="inline-flex size-7 items-center justify-center rounded hover:bg-hover"
        >
          <Icon className="size-4" aria-hidden />
        </button>
        <Link to="/monitors/$id" params={{ id: group.id }} className="min-w-0 truncate font-semibold hover:underline">
          {group.name}
        </Link>
        <Status state={group.status} />
        <span className="ml-auto text-[13px] whitespace-nowrap text-muted">{membersOf(group).length} members</span>
      </div>
      {isOpen && (
        <div className="border-t border-line p-2">
          <Members group={group} query={query} depth={depth} />
        </div>
      )}
    </section>
  )
}

/** The members of a group: groups among them open in turn. */
export function Members({ group, query, depth }: MembersProps) {
  const list = useList<MonitorView>('/monitors', { ...query, group: group.id })
  const inner = list.rows.filter(one => one.type === 'group')
  return (
    <div className="flex flex-col gap-2">
      {depth < deepest && inner.map(one => <Group key={one.id} group={one} query={query} depth={depth + 1} />)}
      <Rows label={`Members of ${group.name}`} list={list} isEmpty="No member fits." />
    </div>
  )
}

function Loose({ query }: GroupedProps) {
  const list = useList<MonitorView>('/monitors', { ...query, group: 'none' })
  return (
    <section aria-label="In no group">
      <h2 className="mt-2 mb-2 font-semibold">In no group</h2>
      <Rows label="In no group" list={list} isEmpty="Every monitor that fits is in a group." />
    </section>
  )
}

interface RowsProps {
  label: string
  list: Listed<MonitorView>
  /** Said in place of no rows. */
  isEmpty: string
}

/** Monitors with what came of their last checks, but for groups. */
function Rows({ label, list, isEmpty }: RowsProps) {
  const [ids, setIds] = useState<readonly string[]>([])
  const recent = useRecent(ids)
  const columns = useMemo(() => monitorColumns(recent), [recent])
  const leaves = { ...list, rows: list.rows.filter(one => one.type !== 'group') }
  return (
    <Table
      label={label}
      columns={columns}
      list={leaves}
      idOf={one => one.id}
      linkOf={one => `/monitors/${one.id}`}
      onShown={setIds}
      empty={<p className="p-4 text-muted">{isEmpty}</p>}
      rowHeight={52}
    />
  )
}
