import { pluralize } from '../../parts/plural'
import { Link } from '@tanstack/react-router'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { MonitorView } from '../../../features/monitors/shapes'
import type { Query } from '../../client'
import { Button } from '../../parts/button'
import { Problem } from '../../parts/problem'
import { Status } from '../../parts/status'
import { Table } from '../../parts/table'
import { useList, type LoadedList } from '../../queries'
import { membersOf, monitorColumns } from './columns'
import { useRecent } from './recent'

interface GroupedProps {
  /** Filters of the list. */
  query: Query
}

const maxDepth = 10

interface MembersProps {
  group: MonitorView
  query: Query
  /** Nesting depth of the group. */
  depth: number
}

/** Monitors by group. Groups can be expanded; monitors without a group come last. */
export function Grouped({ query }: GroupedProps) {
  const groups = useList<MonitorView>('/monitors', { type: 'group', group: 'none', sort: 'name' })
  if (groups.error) return <Problem error={groups.error} onRetry={groups.retry} />
  return (
    <div className="flex flex-col gap-3">
      {groups.rows.map(group => (
        <Group key={group.id} group={group} query={query} depth={0} />
      ))}
      {groups.hasMore && <Button onClick={groups.loadMore}>Load more groups</Button>}
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
          aria-label={`${isOpen ? 'Collapse' : 'Expand'} ${group.name}`}
          onClick={() => setOpen(!isOpen)}
          className="inline-flex size-7 items-center justify-center rounded hover:bg-hover"
        >
          <Icon className="size-4" aria-hidden />
        </button>
        <Link to="/monitors/$id" params={{ id: group.id }} className="min-w-0 font-semibold wrap-anywhere hover:underline">
          {group.name}
        </Link>
        <Status status={group.status} />
        <span className="ml-auto text-[13px] whitespace-nowrap text-muted">
          {pluralize(membersOf(group).length, 'member', 'members')}
        </span>
      </div>
      {isOpen && (
        <div className="border-t border-line p-2">
          <Members group={group} query={query} depth={depth} />
        </div>
      )}
    </section>
  )
}

/** The members of a group, with nested groups. */
export function Members({ group, query, depth }: MembersProps) {
  const list = useList<MonitorView>('/monitors', { ...query, group: group.id })
  const inner = list.rows.filter(one => one.type === 'group')
  return (
    <div className="flex flex-col gap-2">
      {depth < maxDepth && inner.map(one => <Group key={one.id} group={one} query={query} depth={depth + 1} />)}
      {(leavesOf(list).length > 0 || inner.length === 0) && (
        <Rows
          label={`Members of ${group.name}`}
          list={list}
          emptyText={membersOf(group).length === 0 ? 'This group has no members.' : 'No matching members.'}
        />
      )}
    </div>
  )
}

function Loose({ query }: GroupedProps) {
  const list = useList<MonitorView>('/monitors', { ...query, group: 'none' })
  return (
    <section aria-label="No group">
      <h2 className="mt-2 mb-2 font-semibold">No group</h2>
      <Rows label="No group" list={list} emptyText="No matching monitors outside of groups." />
    </section>
  )
}

interface RowsProps {
  label: string
  list: LoadedList<MonitorView>
  /** Text for an empty list. */
  emptyText: string
}

const leavesOf = (list: LoadedList<MonitorView>) => list.rows.filter(one => one.type !== 'group')

/** Monitors with their recent checks, without groups. */
function Rows({ label, list, emptyText }: RowsProps) {
  const [ids, setIds] = useState<readonly string[]>([])
  const recent = useRecent(ids)
  const columns = useMemo(() => monitorColumns(recent), [recent])
  const leaves = { ...list, rows: leavesOf(list) }
  return (
    <Table
      label={label}
      columns={columns}
      list={leaves}
      idOf={one => one.id}
      linkOf={one => `/monitors/${one.id}`}
      onVisibleRows={setIds}
      empty={<p className="p-4 text-muted">{emptyText}</p>}
    />
  )
}
