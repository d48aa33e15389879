import { Link } from '@tanstack/react-router'
import type { OverviewView } from '../../../features/overview/shapes'
import { ListCard } from '../../parts/list-card'
import { StatusIcon } from '../../parts/status'
import { RelativeTime, formatDuration } from '../../parts/time'

type Maintenance = NonNullable<OverviewView['maintenance']>

/** Active and upcoming maintenance. */
export function Windows({ maintenance: { active, upcoming } }: { maintenance: Maintenance }) {
  const rows = [...active.map(one => ({ ...one, isNow: true })), ...upcoming.map(one => ({ ...one, isNow: false }))]
  return (
    <ListCard
      title="Maintenance"
      actions={
        <Link to="/maintenance" className="text-[13px] text-accent hover:underline">
          Calendar
        </Link>
      }
      rows={rows}
      keyOf={one => one.id + one.starts_at}
      empty="No maintenance scheduled."
      rowClass="flex items-center gap-3"
    >
      {({ id, name, starts_at: startsAt, ends_at: endsAt, isNow }) => (
        <>
          <StatusIcon status={isNow ? 'in_progress' : 'scheduled'} className="size-4" />
          <Link to="/maintenance/$id" params={{ id }} className="min-w-0 grow wrap-anywhere hover:underline">
            {name}
          </Link>
          <span className="shrink-0 text-[13px] text-muted">
            {isNow ? 'ends ' : ''}
            <RelativeTime at={isNow ? endsAt : startsAt} />
            {!isNow && `, for ${formatDuration(new Date(endsAt).getTime() - new Date(startsAt).getTime())}`}
          </span>
        </>
      )}
    </ListCard>
  )
}
