import { Link } from '@tanstack/react-router'
import type { CertificateGapEntryView, CertificateGapView } from '../../../features/coverage/shapes'
import { Card } from '../../parts/page'
import { RelativeTime } from '../../parts/time'
import { useOne } from '../../queries'
import { FollowedAction } from '../actions/followed-action'
import { TextWithDates } from '../../parts/text-with-dates'

const titles: Record<CertificateGapEntryView['kind'], string> = {
  opened: 'Opened',
  acknowledged: 'Acknowledged',
  unacknowledged: 'No longer acknowledged',
  issue_started: 'Issuing started',
  issued: 'Certificate issued',
  issue_failed: 'Certificate not issued',
  resolved: 'Resolved',
}

const marks: Partial<Record<CertificateGapEntryView['kind'], string>> = {
  opened: 'bg-bad-mark',
  issue_failed: 'bg-bad-mark',
  acknowledged: 'bg-warn-mark',
  issued: 'bg-ok-mark',
  resolved: 'bg-ok-mark',
}

const refetchMs = 3000
/** The action that is issuing a certificate now; null if none is. */
function openActionOf(entries: readonly CertificateGapEntryView[]): string | null {
  const last = entries.findLast(one => one.action_id !== null)
  return last?.kind === 'issue_started' ? last.action_id : null
}

/** What happened to a gap, oldest first, with the action that issues a certificate for it. */
export function GapTimeline({ gap }: { gap: CertificateGapView }) {
  const path = `/certificate-gaps/${gap.id}/timeline`
  const { data } = useOne<{ data: CertificateGapEntryView[] }>(
    path,
    {},
    { refetchMs: one => openActionOf(one.data) !== null && refetchMs },
  )
  if (!data) return null
  const actionId = openActionOf(data.data)
  return (
    <>
      {actionId !== null && <FollowedAction key={actionId} id={actionId} />}
      <Card title="Timeline">
        <ol className="flex flex-col gap-3">
          {data.data.map((one, at) => (
            <li key={at} className="flex gap-3">
              <span className={`mt-1.5 size-2.5 shrink-0 rounded-full ${marks[one.kind] ?? 'bg-idle-mark'}`} aria-hidden />
              <div className="min-w-0 grow">
                <p className="flex flex-wrap items-baseline gap-x-1">
                  <span className="font-medium">{titles[one.kind]}</span>
                  <span className="text-muted">
                    <RelativeTime at={one.at} />
                    {one.actor && ` by ${one.actor.name ?? one.actor.id}`}
                  </span>
                </p>
                {one.text !== '' && one.text !== gap.detail && (
                  <p className="wrap-anywhere">
                    <TextWithDates text={one.text} />
                  </p>
                )}
                {one.kind === 'issued' && gap.status !== 'resolved' && (
                  <Link to="/managed-certificates" className="text-accent hover:underline">
                    Download certificate
                  </Link>
                )}
              </div>
            </li>
          ))}
        </ol>
      </Card>
    </>
  )
}
