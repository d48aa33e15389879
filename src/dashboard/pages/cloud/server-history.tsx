import type { ActionView } from '../../../features/actions/shapes'
import type { ServerStatus, ServerTransitionView } from '../../../features/servers/shapes'
import { Link } from '@tanstack/react-router'
import { ListCard } from '../../parts/list-card'
import { capitalize, humanize, Status } from '../../parts/status'
import { RelativeTime } from '../../parts/time'
import { useList } from '../../queries'
import { statusLabelOf, titleOf } from '../actions/action-title'
import { toneOfServer } from './server-text'

/** The changes of the status, health, and power of a server, newest first. */
export const ServerHistory = ({ id }: { id: string }) => (
  <ListCard
    title="History"
    rows={useList<ServerTransitionView>(`/servers/${id}/transitions`, { limit: 10 })}
    empty="No changes yet."
  >
    {one => (
      <>
        <div className="flex items-center gap-2">
          <span className="w-14 shrink-0 text-[13px] text-muted">{capitalize(one.field)}</span>
          {one.field === 'power' ? (
            humanize(one.to)
          ) : (
            <Status status={one.to} {...(one.field === 'status' && { tone: toneOfServer(one.to as ServerStatus) })} />
          )}
          <span className="ml-auto text-[13px] text-muted">
            <RelativeTime at={one.at} />
          </span>
        </div>
        {one.reason !== '' && <p className="mt-1 text-[13px] text-muted wrap-anywhere">{one.reason}</p>}
      </>
    )}
  </ListCard>
)

/** The last actions of a server. */
export const RecentActions = ({ id }: { id: string }) => (
  <ListCard
    title="Actions"
    rows={useList<ActionView>('/actions', { resource_id: id, sort: '-created_at', limit: 5 })}
    empty="None yet."
  >
    {one => (
      <div className="flex items-center gap-2">
        <Link to="/actions/$id" params={{ id: one.id }} className="min-w-0 grow hover:underline">
          {titleOf(one)}
        </Link>
        <span className="text-[13px] text-muted">
          <RelativeTime at={one.created_at} />
        </span>
        <Status status={one.status} label={statusLabelOf(one)} />
      </div>
    )}
  </ListCard>
)
