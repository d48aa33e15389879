import type { Page } from '../../client'
import { ResourceLink } from '../../parts/resource'
import { useOne } from '../../queries'

const mostNamed = 100

/** Monitors or heartbeats by name, each with the way to its page. */
export function TargetNames({ of, ids }: { of: '/monitors' | '/heartbeats'; ids: readonly string[] }) {
  const { data } = useOne<Page<{ id: string; name: string }>>(ids.length === 0 ? null : of, {
    ids: ids.slice(0, mostNamed),
    limit: mostNamed,
    fields: 'id,name',
  })
  if (ids.length === 0) return <span className="text-muted">none</span>
  const names = new Map(data?.data.map(one => [one.id, one.name]))
  return (
    <ul>
      {ids.slice(0, mostNamed).map(id => (
        <li key={id}>
          <ResourceLink id={id} type={of === '/monitors' ? 'monitor' : 'heartbeat'} name={names.get(id) ?? null} />
        </li>
      ))}
      {ids.length > mostNamed && <li className="text-muted">and {ids.length - mostNamed} more</li>}
    </ul>
  )
}
