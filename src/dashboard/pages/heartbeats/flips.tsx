import type { FlipView } from '../../../features/heartbeats/shapes'
import { Button } from '../../parts/button'
import { Card } from '../../parts/page'
import { Status } from '../../parts/status'
import { RelativeTime } from '../../parts/time'
import type { LoadedList } from '../../queries'
import { flipReasonLabels, heartbeatStatusLabels } from './labels'

/** The status changes with their reasons, newest first. */
export const Flips = ({ list }: { list: LoadedList<FlipView> }) => (
  <Card title="Status changes">
    {list.rows.length === 0 && <p className="text-muted">{list.isLoading ? 'Loading…' : 'None in the last 93 days.'}</p>}
    <ul className="flex max-h-96 flex-col gap-3 overflow-y-auto">
      {list.rows.map(one => (
        <li key={one.id} className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <Status status={one.to} label={heartbeatStatusLabels[one.to]} />
          <span className="text-[13px] text-muted">
            <RelativeTime at={one.at} />, {flipReasonLabels[one.reason] ?? one.reason}
          </span>
        </li>
      ))}
    </ul>
    {list.hasMore && (
      <Button small kind="quiet" className="mt-2" onClick={list.loadMore} disabled={list.isLoadingMore}>
        Load more
      </Button>
    )}
  </Card>
)
