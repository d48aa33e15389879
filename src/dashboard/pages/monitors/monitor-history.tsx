import { Link } from '@tanstack/react-router'
import type { IncidentView } from '../../../features/incidents/shapes'
import type { TransitionView } from '../../../features/monitors/series/shapes'
import { ListCard } from '../../parts/list-card'
import { Status, capitalize } from '../../parts/status'
import { RelativeTime, formatDuration } from '../../parts/time'
import { useList } from '../../queries'

/** The incidents of a monitor, newest first. */
export const MonitorIncidents = ({ id }: { id: string }) => (
  <ListCard
    title="Incidents"
    rows={useList<IncidentView>('/incidents', { monitor: id, sort: '-started_at', limit: 5 })}
    empty="None yet."
  >
    {one => (
      <>
        <div className="flex items-center gap-2">
          <Status status={one.status} />
          <span className="ml-auto text-[13px] text-muted">{formatDuration(one.duration_seconds * 1000)}</span>
        </div>
        <Link to="/incidents/$id" params={{ id: one.id }} className="mt-1 block wrap-anywhere hover:underline">
          {one.cause || one.title}
        </Link>
        <p className="text-[13px] text-muted">
          <RelativeTime at={one.started_at} />
        </p>
      </>
    )}
  </ListCard>
)

/** The status changes of a monitor, newest first. */
export const MonitorHistory = ({ id }: { id: string }) => (
  <ListCard title="Status changes" rows={useList<TransitionView>(`/monitors/${id}/transitions`, { limit: 8 })} empty="None yet.">
    {one => (
      <>
        <div className="flex items-center gap-2">
          <Status status={one.to} />
          <span className="ml-auto text-[13px] text-muted">
            <RelativeTime at={one.at} />
          </span>
        </div>
        {one.reason !== '' && <p className="mt-1 text-[13px] text-muted wrap-anywhere">{capitalize(one.reason)}</p>}
      </>
    )}
  </ListCard>
)
