import { Link } from '@tanstack/react-router'
import type { MonitorView } from '../../../features/monitors/shapes'
import type { Page } from '../../client'
import { Card } from '../../parts/page'
import { StatusIcon, wordsOf } from '../../parts/status'
import { useOne } from '../../queries'

type Named = Pick<MonitorView, 'id' | 'name' | 'status'>

const most = 100
const query = { limit: most, fields: 'id,name,status', sort: 'name' }

/** What a monitor hangs together with: groups, what it depends on and what depends on it. */
export function Relations({ monitor }: { monitor: MonitorView }) {
  const parents = useNamed(monitor.depends_on.length > 0 ? { ids: monitor.depends_on } : null)
  const children = useNamed({ depends_on: monitor.id })
  const groups = useNamed({ member: monitor.id })
  return (
    <>
      <Named title="Depends on" rows={parents} />
      <Named title="What depends on it" rows={children} />
      <Named title="In groups" rows={groups} />
    </>
  )
}

function useNamed(of: Record<string, string | readonly string[]> | null): readonly Named[] {
  const { data } = useOne<Page<Named>>(of && '/monitors', { ...query, ...of })
  return data?.data ?? []
}

function Named({ title, rows }: { title: string; rows: readonly Named[] }) {
  if (rows.length === 0) return null
  return (
    <Card title={title} flush>
      <ul className="max-h-72 divide-y divide-line overflow-y-auto">
        {rows.map(one => (
          <li key={one.id} className="flex items-center gap-2 px-4 py-2">
            <StatusIcon state={one.status} />
            <Link to="/monitors/$id" params={{ id: one.id }} className="min-w-0 grow truncate hover:underline">
              {one.name}
            </Link>
            <span className="text-[13px] text-muted">{wordsOf(one.status)}</span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
