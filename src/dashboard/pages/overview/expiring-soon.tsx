import { Link } from '@tanstack/react-router'
import type { OverviewView } from '../../../features/overview/shapes'
import { Card } from '../../parts/page'
import { StatusIcon, Tag, type Tone } from '../../parts/status'
import { RelativeTime, useNow } from '../../parts/time'

const dayMs = 86_400_000
const soonDays = 7
const maxShown = 10

/** Certificates and tokens that expire within 30 days, earliest first. */
export function ExpiringSoon({ overview: { certificates, tokens } }: { overview: OverviewView }) {
  const now = useNow()
  if (!certificates && !tokens) return null
  const rows = [
    ...(certificates?.data ?? []).map(one => ({
      key: one.monitor_id,
      name: one.name,
      kind: 'certificate',
      at: one.expires_at,
      to: `/monitors/${one.monitor_id}`,
    })),
    ...(tokens?.data ?? []).map(one => ({
      key: one.id,
      name: one.name,
      kind: 'token',
      at: one.expires_at,
      to: `/tokens/${one.id}`,
    })),
  ].sort((a, b) => (a.at < b.at ? -1 : 1))
  const moodAt = (at: string): Tone => {
    const left = new Date(at).getTime() - now
    return left <= 0 ? 'bad' : left < soonDays * dayMs ? 'warn' : 'idle'
  }
  const rest = (certificates?.total ?? 0) + (tokens?.total ?? 0) - Math.min(rows.length, maxShown)
  return (
    <Card title="Expiring soon" flush>
      {rows.length === 0 && <p className="px-4 py-3 text-muted">No certificates or tokens expire within 30 days.</p>}
      <ul className="divide-y divide-line">
        {rows.slice(0, maxShown).map(one => (
          <li key={one.key} className="flex items-center gap-3 px-4 py-2">
            <StatusIcon status={moodAt(one.at) === 'bad' ? 'expired' : 'new'} tone={moodAt(one.at)} className="size-4" />
            <Link to={one.to} className="min-w-0 grow truncate hover:underline">
              {one.name}
            </Link>
            <Tag>{one.kind}</Tag>
            <span className="shrink-0 text-[13px] text-muted">
              <RelativeTime at={one.at} />
            </span>
          </li>
        ))}
      </ul>
      {rest > 0 && <p className="border-t border-line px-4 py-2 text-[13px] text-muted">and {rest.toLocaleString()} more</p>}
    </Card>
  )
}
