import { Bell, CheckCheck } from 'lucide-react'
import type { NoticesMarked, NoticeView } from '../../../features/notices/shapes'
import { useAddress } from '../../parts/address'
import { Button } from '../../parts/button'
import { Empty } from '../../parts/empty'
import { Choice, Filters } from '../../parts/filters'
import { Page } from '../../parts/page'
import { Problem } from '../../parts/problem'
import { ResourceLink } from '../../parts/resource'
import { severityChoices, severityMood } from '../../parts/severity'
import { StatusIcon } from '../../parts/status'
import { Ago } from '../../parts/time'
import { useList, useSend } from '../../queries'
import { usePerson } from '../../session'

/** What the people of the workspace should know of. */
export default function Notices() {
  const { mayAdminister } = usePerson()
  const [{ read, severity }, set] = useAddress({ read: 'false', severity: '' })
  const list = useList<NoticeView>('/notices', { read: read === 'all' ? null : read, severity, include: 'total' })
  const readAll = useSend<NoticesMarked>({ done: one => `${one.marked} marked as read`, stale: ['/notices'] })
  const newest = list.rows[0]
  const actions = mayAdminister && read !== 'true' && (
    <Button
      icon={<CheckCheck className="size-4" aria-hidden />}
      disabled={readAll.isPending || !newest}
      onClick={() => newest && readAll.mutate({ method: 'POST', path: '/notices/read', body: { until: newest.occurred_at } })}
    >
      Mark all as read
    </Button>
  )
  return (
    <Page title="Notices" lead="What the people of this workspace should know of." actions={actions}>
      <Filters>
        <Choice
          label="Read or not"
          value={read}
          onChange={value => set({ read: value })}
          choices={[
            ['false', 'Unread'],
            ['true', 'Read'],
            ['all', 'All'],
          ]}
        />
        <Choice
          label="Severity"
          value={severity}
          onChange={value => set({ severity: value })}
          choices={[['', 'All severities'], ...severityChoices]}
        />
      </Filters>
      {list.error ? (
        <Problem error={list.error} onAgain={list.again} />
      ) : (
        <div className="min-h-64 rounded-lg border border-line bg-surface">
          {!list.isLoading && list.rows.length === 0 && (
            <Empty icon={Bell} title={read === 'false' ? 'Nothing unread' : 'No notices'}>
              Tokens that end soon, endpoints that were switched off, work that failed: such things show here.
            </Empty>
          )}
          <ul className="divide-y divide-line">
            {list.rows.map(one => (
              <Notice key={one.id} notice={one} />
            ))}
          </ul>
          {list.hasMore && (
            <div className="border-t border-line p-2 text-center">
              <Button small kind="quiet" onClick={list.more} disabled={list.isLoadingMore}>
                More
              </Button>
            </div>
          )}
        </div>
      )}
    </Page>
  )
}

function Notice({ notice }: { notice: NoticeView }) {
  const { mayAdminister } = usePerson()
  const path = `/notices/${notice.id}`
  const mark = useSend({
    done: notice.read ? 'Marked as unread' : 'Marked as read',
    undo: () => ({ method: 'PATCH', path, body: { read: notice.read } }),
    stale: ['/notices'],
  })
  return (
    <li className="flex items-start gap-3 px-4 py-3">
      <StatusIcon state={notice.severity} mood={severityMood[notice.severity]} className="mt-0.5 size-4" />
      <div className="min-w-0 grow">
        <p className={notice.read ? '' : 'font-semibold'}>
          <span className="sr-only">{notice.severity}: </span>
          {notice.title}
          {notice.count > 1 && <span className="ml-2 font-normal text-muted">{notice.count} times</span>}
        </p>
        <p className="text-muted wrap-anywhere">{notice.text}</p>
        <p className="mt-1 flex flex-wrap gap-x-3 text-[13px] text-muted">
          <Ago at={notice.occurred_at} />
          {notice.resource && <ResourceLink {...notice.resource} />}
        </p>
      </div>
      {mayAdminister && (
        <Button
          small
          kind="quiet"
          disabled={mark.isPending}
          onClick={() => mark.mutate({ method: 'PATCH', path, body: { read: !notice.read } })}
        >
          {notice.read ? 'Unread' : 'Read'}
        </Button>
      )}
    </li>
  )
}
