import { Link } from '@tanstack/react-router'
import type { MonitorView } from '../../../features/monitors/shapes'
import type { Page } from '../../client'
import { ListCard } from '../../parts/list-card'
import { StatusIcon, humanize } from '../../parts/status'
import { useOne } from '../../queries'

type Named = Pick<MonitorView, 'id' | 'name' | 'status'>

const query = { limit: 100, fields: 'id,name,status', sort: 'name' }

/** Related monitors: dependencies, dependents, and groups. */
export function Relations({ monitor }: { monitor: MonitorView }) {
  const parents = useNamed(monitor.depends_on.length > 0 ? { ids: monitor.depends_on } : null)
  const children = useNamed({ depends_on: monitor.id })
  const groups = useNamed({ member: monitor.id })
  return (
    <>
      <Named title="Depends on" rows={parents} />
      <Named title="Dependents" rows={children} />
      <Named title="Groups" rows={groups} />
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
    <ListCard title={title} rows={rows} rowClass="flex items-center gap-2">
      {one => (
        <>
          <StatusIcon status={one.status} />
          <Link to="/monitors/$id" params={{ id: one.id }} className="min-w-0 grow wrap-anywhere hover:underline">
            {one.name}
          </Link>
          <span className="text-[13px] text-muted">{humanize(one.status)}</span>
        </>
      )}
    </ListCard>
  )
}
