import type { FlipView } from '../../../features/heartbeats/shapes'
import { Button } from '../../parts/button'
import { Card } from '../../parts/page'
import { Status } from '../../parts/status'
import { Ago } from '../../parts/time'
import type { Listed } from '../../queries'
import { flipReasons, heartbeatStatusWords } from './heartbeat-words'

/** When the status changed, newest first, and why. */
export const Flips = ({ list }: { list: Listed<FlipView> }) => (
  <Card title="Changes of status">
    {list.rows.length === 0 && <p className="text-muted">{list.isLoading ? 'Reading…' : 'None in the last 93 days.'}</p>}
    <ul className="flex max-h-96 flex-col gap-3 overflow-y-auto">
      {list.rows.map(one => (
        <li key={one.id} className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <Status state={one.to} label={heartbeatStatusWords[one.to]} />
          <span className="text-[13px] text-muted">
            <Ago at={one.at} />, {flipReasons[one.reason] ?? one.reason}
          </span>
        </li>
      ))}
    </ul>
    {list.hasMore && (
      <Button small kind="quiet" className="mt-2" onClick={list.more} disabled={list.isLoadingMore}>
        More
      </Button>
    )}
  </Card>
)
