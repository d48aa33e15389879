import type { OwnSessionView } from '../../../access/session-shapes'
import { Button } from '../../parts/button'
import { Card } from '../../parts/page'
import { Tag } from '../../parts/status'
import { Ago } from '../../parts/time'
import { useList, useSend } from '../../queries'

/** Where the person is signed in. */
export function Sessions() {
  const list = useList<OwnSessionView>('/sessions')
  const end = useSend({ done: 'The session has ended', stale: ['/sessions'] })
  const endOthers = useSend({ done: 'Your other sessions have ended', stale: ['/sessions'] })
  return (
    <Card
      title="Sessions"
      actions={
        list.rows.length > 1 && (
          <Button
            small
            disabled={endOthers.isPending}
            onClick={() => endOthers.mutate({ method: 'DELETE', path: '/sessions/others' })}
          >
            End the others
          </Button>
        )
      }
    >
      <ul className="flex min-h-10 flex-col gap-3">
        {list.rows.map(one => (
          <li key={one.id} className="flex items-center gap-2">
            <span className="min-w-0 grow">
              <span className="block truncate font-medium" title={one.user_agent}>
                {one.client ?? one.user_agent} {one.current && <Tag>this one</Tag>}
              </span>
              <span className="text-[13px] text-muted">
                {one.ip} · used <Ago at={one.last_used_at} />
              </span>
            </span>
            {!one.current && (
              <Button
                small
                kind="bad"
                disabled={end.isPending}
                onClick={() => end.mutate({ method: 'DELETE', path: `/sessions/${one.id}` })}
              >
                End
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  )
}
