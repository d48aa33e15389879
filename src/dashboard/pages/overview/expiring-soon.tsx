import { Link } from '@tanstack/react-router'
import type { OverviewView } from '../../../features/overview/shapes'
import { ListCard } from '../../parts/list-card'
import { StatusIcon, Tag, type Tone } from '../../parts/status'
import { RelativeTime, useNow } from '../../parts/time'

const dayMs = 86_400_000
const soonDays = 7
const maxShown = 10

/** Certificates and tokens that expire soon, earliest first. */
export function ExpiringSoon({ overview: { certificates, posture, tokens } }: { overview: OverviewView }) {
  const now = useNow()
  if (!certificates && !posture && !tokens) return null
  const rows = [
    ...(certificates?.data ?? []).map(one => ({ ...one, kind: 'certificate', to: `/monitors/${one.monitor_id}` })),
    ...(posture?.expiring.data ?? []).map(one => ({ ...one, kind: 'certificate', to: `/certificates/${one.id}` })),
    ...(tokens?.data ?? []).map(one => ({ ...one, kind: 'token', to: `/tokens/${one.id}` })),
  ].sort((a, b) => (a.expires_at < b.expires_at ? -1 : 1))
  const moodAt = (at: string): Tone => {
    const left = new Date(at).getTime() - now
    return left <= 0 ? 'bad' : left < soonDays * dayMs ? 'warn' : 'idle'
  }
  const rest =
    (certificates?.total ?? 0) + (posture?.expiring.total ?? 0) + (tokens?.total ?? 0) - Math.min(rows.length, maxShown)
  return (
    <ListCard
      title="Expiring soon"
      rows={rows.slice(0, maxShown)}
      keyOf={one => one.to}
      empty={`No ${[(certificates || posture) && 'certificates need to be renewed', tokens && 'tokens expire'].filter(Boolean).join(', and no ')} soon.`}
      rowClass="flex items-center gap-3"
      footer={
        rest > 0 && <p className="border-t border-line px-4 py-2 text-[13px] text-muted">and {rest.toLocaleString()} more</p>
      }
    >
      {({ name, kind, to, expires_at: at }) => (
        <>
          <StatusIcon status={moodAt(at) === 'bad' ? 'expired' : 'new'} tone={moodAt(at)} className="size-4" />
          <Link to={to} className="min-w-0 grow wrap-anywhere hover:underline">
            {name}
          </Link>
          <Tag>{kind}</Tag>
          <span className="shrink-0 text-[13px] text-muted">
            <RelativeTime at={at} />
          </span>
        </>
      )}
    </ListCard>
  )
}
