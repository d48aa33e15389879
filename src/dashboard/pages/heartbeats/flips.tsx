import type { FlipView } from '../../../features/heartbeats/shapes'
import { ListCard } from '../../parts/list-card'
import { Status } from '../../parts/status'
import { RelativeTime } from '../../parts/time'
import type { LoadedList } from '../../queries'

const reasonLabels: Record<string, string> = {
  ping: 'ping received',
  fail: 'job reported a failure',
  late: 'no ping received in time',
  start_timeout: 'run did not finish in time',
}

/** The status changes with their reasons, newest first. */
export const Flips = ({ list }: { list: LoadedList<FlipView> }) => (
  <ListCard title="Status changes" rows={list} empty="None in the last 93 days.">
    {one => (
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <Status status={one.to} />
        <span className="text-[13px] text-muted">
          <RelativeTime at={one.at} />, {reasonLabels[one.reason] ?? one.reason}
        </span>
      </span>
    )}
  </ListCard>
)
