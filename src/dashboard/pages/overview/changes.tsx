import { Link } from '@tanstack/react-router'
import type { AuditActionView, AuditEventView } from '../../../features/audit/shapes'
import { actorName } from '../../parts/actor'
import { Card } from '../../parts/page'
import { ResourceLink } from '../../parts/resource'
import { RelativeTime } from '../../parts/time'
import { useOne } from '../../queries'

/** Recent changes from the audit log. */
export function Changes({ changes }: { changes: readonly AuditEventView[] }) {
  const catalog = useOne<{ data: Pick<AuditActionView, 'action' | 'description'>[] }>('/audit-events/catalog', {
    fields: 'action,description',
  })
  const titleOf = (action: string) => {
    const described = catalog.data?.data.find(one => one.action === action)?.description
    // The first clause is enough here; the rest is details.
    return described ? described.replace(/[,:;.].*$/s, '') : catalog.data ? action : ' '
  }
  return (
    <Card
      title="Recent changes"
      flush
      actions={
        <Link to="/audit" className="text-[13px] text-accent hover:underline">
          Audit log
        </Link>
      }
    >
      <ol className="divide-y divide-line">
        {changes.map(one => (
          <li key={one.id} className="flex min-h-16 items-start gap-3 px-4 py-1.5">
            <div className="min-w-0 grow">
              <p className="line-clamp-2 leading-[24px]">
                <Link
                  to="/audit/$id"
                  params={{ id: one.id }}
                  className="inline-block min-h-[24px] hover:underline"
                  title={one.action}
                >
                  {titleOf(one.action)}
                </Link>
                {one.outcome !== 'success' && (
                  <span className="text-bad"> · {one.outcome === 'denied' ? 'denied' : 'failed'}</span>
                )}
              </p>
              <p className="mt-0.5 flex gap-x-2 truncate text-[13px] leading-[24px] text-muted">
                {one.targets[0] && (
                  <span className="truncate">
                    <ResourceLink {...one.targets[0]} />
                  </span>
                )}
                <span className="truncate">by {actorName(one.actor)}</span>
              </p>
            </div>
            <span className="shrink-0 text-[13px] text-muted">
              <RelativeTime at={one.occurred_at} />
            </span>
          </li>
        ))}
        {changes.length === 0 && <li className="px-4 py-3 text-muted">No changes yet.</li>}
      </ol>
    </Card>
  )
}
