import type { Page } from '../../client'
import { ResourceLink } from '../../parts/resource'
import { useOne } from '../../queries'

const maxNames = 100

/** The names of monitors or heartbeats, with links. */
export function TargetNames({ of, ids }: { of: '/monitors' | '/heartbeats'; ids: readonly string[] }) {
  const { data } = useOne<Page<{ id: string; name: string }>>(ids.length === 0 ? null : of, {
    ids: ids.slice(0, maxNames),
    limit: maxNames,
    fields: 'id,name',
  })
  if (ids.length === 0) return <span className="text-muted">None</span>
  const names = new Map(data?.data.map(one => [one.id, one.name]))
  return (
    <ul>
      {ids.slice(0, maxNames).map(id => (
        <li key={id}>
          <ResourceLink id={id} type={of === '/monitors' ? 'monitor' : 'heartbeat'} name={names.get(id) ?? null} />
        </li>
      ))}
      {ids.length > maxNames && <li className="text-muted">and {ids.length - maxNames} more</li>}
    </ul>
  )
}
