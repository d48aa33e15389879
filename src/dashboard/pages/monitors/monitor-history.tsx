import { Link } from '@tanstack/react-router'
import type { IncidentView } from '../../../features/incidents/shapes'
import type { TransitionView } from '../../../features/monitors/series/shapes'
import { Button } from '../../parts/button'
import { Card } from '../../parts/page'
import { Status } from '../../parts/status'
import { RelativeTime, formatDuration } from '../../parts/time'
import { useList } from '../../queries'

/** The incidents of a monitor, newest first. */
export function MonitorIncidents({ id }: { id: string }) {
  const list = useList<IncidentView>('/incidents', { monitor: id, sort: '-started_at', limit: 5 })
  return (
    <Card title="Incidents" flush>
      {list.rows.length === 0 && <p className="p-4 text-muted">{list.isLoading ? 'Loading…' : 'None yet.'}</p>}
      <ul className="divide-y divide-line">
        {list.rows.map(one => (
          <li key={one.id} className="px-4 py-2">
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
          </li>
        ))}
      </ul>
      <More list={list} />
    </Card>
  )
}

/** The status changes of a monitor, newest first. */
export function MonitorHistory({ id }: { id: string }) {
  const list = useList<TransitionView>(`/monitors/${id}/transitions`, { limit: 8 })
  return (
    <Card title="Status changes" flush>
      {list.rows.length === 0 && <p className="p-4 text-muted">{list.isLoading ? 'Loading…' : 'None yet.'}</p>}
      <ol className="divide-y divide-line">
        {list.rows.map(one => (
          <li key={one.id} className="px-4 py-2">
            <div className="flex items-center gap-2">
              <Status status={one.to} />
              <span className="ml-auto text-[13px] text-muted">
                <RelativeTime at={one.at} />
              </span>
            </div>
            {one.reason !== '' && <p className="mt-1 text-[13px] text-muted wrap-anywhere">{one.reason}</p>}
          </li>
        ))}
      </ol>
      <More list={list} />
    </Card>
  )
}

const More = ({ list }: { list: { hasMore: boolean; isLoadingMore: boolean; loadMore(): void } }) =>
  list.hasMore && (
    <div className="border-t border-line p-1">
      <Button small kind="quiet" onClick={list.loadMore} disabled={list.isLoadingMore}>
        Load more
      </Button>
    </div>
  )
