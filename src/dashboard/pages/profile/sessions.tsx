import type { OwnSessionView } from '../../../features/people/sign-in/shapes'
import { Button } from '../../parts/button'
import { Card } from '../../parts/page'
import { Tag } from '../../parts/status'
import { RelativeTime } from '../../parts/time'
import { useList, useSend } from '../../queries'

/** The user's sessions. */
export function Sessions() {
  const list = useList<OwnSessionView>('/sessions')
  const revoke = useSend({ toast: 'Session revoked', invalidates: ['/sessions'] })
  const revokeOthers = useSend({ toast: 'Other sessions revoked', invalidates: ['/sessions'] })
  return (
    <Card
      title="Sessions"
      actions={
        list.rows.length > 1 && (
          <Button
            small
            disabled={revokeOthers.isPending}
            onClick={() => revokeOthers.mutate({ method: 'DELETE', path: '/sessions/others' })}
          >
            Revoke all other sessions
          </Button>
        )
      }
    >
      <ul className="flex min-h-10 flex-col gap-3">
        {list.rows.map(one => (
          <li key={one.id} className="flex items-center gap-2">
            <span className="min-w-0 grow">
              <span className="block truncate font-medium" title={one.user_agent}>
                {one.client ?? one.user_agent} {one.current && <Tag>current</Tag>}
              </span>
              <span className="text-[13px] text-muted">
                {one.ip} · last used <RelativeTime at={one.last_used_at} />
              </span>
            </span>
            {!one.current && (
              <Button
                small
                kind="danger"
                disabled={revoke.isPending}
                onClick={() => revoke.mutate({ method: 'DELETE', path: `/sessions/${one.id}` })}
              >
                Revoke
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  )
}
