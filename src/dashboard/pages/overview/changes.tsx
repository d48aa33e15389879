import { Link } from '@tanstack/react-router'
import type { AuditEventView } from '../../../features/audit/shapes'
import { AuditSentence } from '../../parts/audit-sentence'
import { Card } from '../../parts/page'
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
          <li key={one.id} className="flex min-h-11 items-start gap-3 px-4 py-2">
            <p className="min-h-[24px] min-w-0 grow leading-[24px] wrap-anywhere" title={one.action}>
              <AuditSentence event={one} linked />
            </p>
            <Link
              to="/audit/$id"
              params={{ id: one.id }}
              className="shrink-0 text-[13px] leading-[24px] text-muted hover:underline"
            >
              <span className="sr-only">Audit event, </span>
              <RelativeTime at={one.occurred_at} />
            </Link>
          </li>
        ))}
        {changes.length === 0 && <li className="px-4 py-3 text-muted">No changes yet.</li>}
      </ol>
    </Card>
  )
}
