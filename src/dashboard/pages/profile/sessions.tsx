import type { OwnSessionView } from '../../../features/people/sign-in/shapes'
import { Card } from '../../parts/page'
import { SendButton } from '../../parts/send-button'
import { Tag } from '../../parts/status'
import { RelativeTime } from '../../parts/time'
import { useList } from '../../queries'

/** The user's sessions. */
export function Sessions() {
  const list = useList<OwnSessionView>('/sessions')
  return (
    <Card
      id="sessions"
      title="Sessions"
      actions={
        list.rows.length > 1 && (
          <SendButton
            small
            call={{ method: 'DELETE', path: '/sessions/others' }}
            send={{ toast: 'Other sessions revoked', invalidates: ['/sessions'] }}
          >
            Revoke all other sessions
          </SendButton>
        )
      }
    >
      <ul className="flex min-h-10 flex-col gap-3">
        {list.rows.map(one => (
          <li key={one.id} className="flex items-center gap-2">
            <span className="min-w-0 grow">
              <span className="block font-medium wrap-anywhere" title={one.user_agent}>
                {one.client ?? one.user_agent} {one.current && <Tag>current</Tag>}
              </span>
              <span className="text-[13px] text-muted">
                {one.ip} · last used <RelativeTime at={one.last_used_at} />
              </span>
            </span>
            {!one.current && (
              <SendButton
                small
                kind="danger"
                call={{ method: 'DELETE', path: `/sessions/${one.id}` }}
                send={{ toast: 'Session revoked', invalidates: ['/sessions'] }}
              >
                Revoke
              </SendButton>
            )}
          </li>
        ))}
      </ul>
    </Card>
  )
}
