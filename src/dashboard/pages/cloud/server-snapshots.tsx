import { Link } from '@tanstack/react-router'
import type { SnapshotView } from '../../../features/servers/snapshots/shapes'
import { ListCard } from '../../parts/list-card'
import { Status } from '../../parts/status'
import { RelativeTime } from '../../parts/time'
import { useList } from '../../queries'
import { snapshotStateTitles, toneOfStorage } from './storage-text'

/** The newest snapshots of a server. */
export const ServerSnapshots = ({ id }: { id: string }) => (
  <ListCard
    title="Snapshots"
    rows={useList<SnapshotView>('/snapshots', { server_id: id, sort: '-created_at', limit: 5 })}
    empty="No snapshots yet."
  >
    {one => (
      <div className="flex items-center gap-2">
        <Link to="/snapshots" search={{ server_id: id }} className="min-w-0 grow hover:underline">
          {one.name}
        </Link>
        <span className="text-[13px] text-muted">
          <RelativeTime at={one.created_at} />
        </span>
        <Status status={one.state} tone={toneOfStorage(one.state)} label={snapshotStateTitles[one.state]} />
      </div>
    )}
  </ListCard>
)
