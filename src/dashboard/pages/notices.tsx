import { Bell, CheckCheck } from 'lucide-react'
import type { MarkNoticesReadResult, NoticeView } from '../../features/notices/shapes'
import { useUrlState } from '../parts/url-state'
import { Button } from '../parts/button'
import { Empty } from '../parts/empty'
import { FilterSelect, Filters } from '../parts/filters'
import { Page } from '../parts/page'
import { Problem } from '../parts/problem'
import { ResourceLink } from '../parts/resource'
import { severityChoices, severityTone } from '../parts/severity'
import { StatusIcon } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { useList, useSend } from '../queries'
import { usePerson } from '../session'

/** List of notices. */
export default function Notices() {
  const { canAdminister } = usePerson()
  const [{ read, severity }, set] = useUrlState({ read: 'false', severity: '' })
  const list = useList<NoticeView>('/notices', { read: read === 'all' ? null : read, severity, include: 'total' })
  const readAll = useSend<MarkNoticesReadResult>({ toast: one => `${one.marked} marked as read`, invalidates: ['/notices'] })
  const newest = list.rows[0]
  const actions = canAdminister && read !== 'true' && (
    <Button
      icon={CheckCheck}
      disabled={readAll.isPending || !newest}
      onClick={() => newest && readAll.mutate({ method: 'POST', path: '/notices/read', body: { until: newest.occurred_at } })}
    >
      Mark all as read
    </Button>
  )
  return (
    <Page description="Important messages about this workspace." actions={actions}>
      <Filters>
        <FilterSelect
          label="Read status"
          value={read}
          onChange={value => set({ read: value })}
          choices={{ false: 'Unread', true: 'Read', all: 'All notices' }}
        />
        <FilterSelect
          label="Severity"
          value={severity}
          onChange={value => set({ severity: value })}
          choices={[['', 'All severities'], ...severityChoices]}
        />
      </Filters>
      {list.error ? (
        <Problem error={list.error} onRetry={list.retry} />
      ) : (
        <div className="min-h-64 rounded-lg border border-line bg-surface">
          {!list.isLoading && list.rows.length === 0 && (
            <Empty icon={Bell} title={read === 'false' ? 'No unread notices' : 'No notices yet'}>
              Expiring tokens, disabled endpoints, failed actions, and similar messages appear here.
            </Empty>
          )}
          <ul className="divide-y divide-line">
            {list.rows.map(one => (
              <Notice key={one.id} notice={one} />
            ))}
          </ul>
          {list.hasMore && (
            <div className="border-t border-line p-2 text-center">
              <Button small kind="quiet" onClick={list.loadMore} disabled={list.isLoadingMore}>
                Load more
              </Button>
            </div>
          )}
        </div>
      )}
    </Page>
  )
}

function Notice({ notice }: { notice: NoticeView }) {
  const { canAdminister } = usePerson()
  const path = `/notices/${notice.id}`
  const mark = useSend({
    toast: notice.read ? 'Marked as unread' : 'Marked as read',
    undo: () => ({ method: 'PATCH', path, body: { read: notice.read } }),
    invalidates: ['/notices'],
  })
  return (
    <li className="flex items-start gap-3 px-4 py-3">
      <StatusIcon status={notice.severity} tone={severityTone[notice.severity]} className="mt-0.5 size-4" />
      <div className="min-w-0 grow">
        <p className={notice.read ? '' : 'font-semibold'}>
          <span className="sr-only">{notice.severity}: </span>
          {notice.title}
          {notice.count > 1 && <span className="ml-2 font-normal text-muted">{notice.count} times</span>}
        </p>
        <p className="text-muted wrap-anywhere">{notice.text}</p>
        <p className="mt-1 flex flex-wrap gap-x-3 text-[13px] text-muted">
          <RelativeTime at={notice.occurred_at} />
          {notice.resource && <ResourceLink {...notice.resource} />}
        </p>
      </div>
      {canAdminister && (
        <Button
          small
          kind="quiet"
          disabled={mark.isPending}
          onClick={() => mark.mutate({ method: 'PATCH', path, body: { read: !notice.read } })}
        >
          {notice.read ? 'Mark as unread' : 'Mark as read'}
        </Button>
      )}
    </li>
  )
}
