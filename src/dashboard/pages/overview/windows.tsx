import { Link } from '@tanstack/react-router'
import type { OverviewView } from '../../../features/overview/shapes'
import { Card } from '../../parts/page'
import { StatusIcon } from '../../parts/status'
import { RelativeTime, formatDuration } from '../../parts/time'

type Maintenance = NonNullable<OverviewView['maintenance']>

/** Active and upcoming maintenance. */
export function Windows({ maintenance: { active, upcoming } }: { maintenance: Maintenance }) {
  const isNone = active.length === 0 && upcoming.length === 0
  return (
    <Card
      title="Maintenance"
      flush
      actions={
        <Link to="/maintenance" className="text-[13px] text-accent hover:underline">
          Calendar
        </Link>
      }
    >
      {isNone && <p className="px-4 py-3 text-muted">No maintenance scheduled.</p>}
      <ul className="divide-y divide-line">
        {active.map(one => (
          <Window key={one.id} window={one} isNow />
        ))}
        {upcoming.map(one => (
          <Window key={one.id + one.starts_at} window={one} />
        ))}
      </ul>
    </Card>
  )
}

function Window({ window, isNow }: { window: Maintenance['upcoming'][number]; isNow?: boolean }) {
  const durationMs = new Date(window.ends_at).getTime() - new Date(window.starts_at).getTime()
  return (
    <li className="flex items-center gap-3 px-4 py-2">
      <StatusIcon status={isNow ? 'in_progress' : 'scheduled'} className="size-4" />
      <Link to="/maintenance/$id" params={{ id: window.id }} className="min-w-0 grow truncate hover:underline">
        {window.name}
      </Link>
      <span className="shrink-0 text-[13px] text-muted">
        {isNow ? 'ends ' : ''}
        <RelativeTime at={isNow ? window.ends_at : window.starts_at} />
        {!isNow && `, for ${formatDuration(durationMs)}`}
      </span>
    </li>
  )
}
