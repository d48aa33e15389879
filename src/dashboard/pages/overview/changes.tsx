import { Link } from '@tanstack/react-router'
import type { AuditEventView } from '../../../features/audit/shapes'
import { AuditSentence, mainTarget } from '../../parts/audit-sentence'
import { Card } from '../../parts/page'
import { ResourceLink } from '../../parts/resource'
import { RelativeTime } from '../../parts/time'

/** Recent changes from the audit log. */
export function Changes({ changes }: { changes: readonly AuditEventView[] }) {
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
              <p className="leading-[24px]">
                <Link
                  to="/audit/$id"
                  params={{ id: one.id }}
                  className="block min-h-[24px] wrap-anywhere hover:underline"
                  title={one.action}
                >
                  <AuditSentence event={one} />
                </Link>
              </p>
              <p className="mt-0.5 text-[13px] leading-[24px] wrap-anywhere text-muted">
                {mainTarget(one) && <ResourceLink {...mainTarget(one)!} />}
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
