import { Bell, CheckCheck } from 'lucide-react'
import type { MarkNoticesReadResult, NoticeView } from '../../features/notices/shapes'
import { useUrlState } from '../parts/url-state'
import { Empty } from '../parts/empty'
import { Filters, UrlFilter } from '../parts/filters'
import { Page } from '../parts/page'
import { pluralize } from '../parts/plural'
import { Problem } from '../parts/problem'
import { ResourceLink } from '../parts/resource'
import { SendButton } from '../parts/send-button'
import { severityLabels, SeverityIcon } from '../parts/severity'
import { LoadMore } from '../parts/table'
import { withLocalTimes } from '../parts/timezone'
import { RelativeTime } from '../parts/time'
import { useList } from '../queries'
import { usePerson } from '../session'

/** List of notices. */
export default function Notices() {
  const { canAdminister } = usePerson()
  const [{ read, severity }] = useUrlState({ read: 'false', severity: '' })
  const list = useList<NoticeView>('/notices', { read: read === 'all' ? null : read, severity, include: 'total' })
  const newest = list.rows[0]
  const actions = canAdminister && read !== 'true' && severity === '' && (
    <SendButton<MarkNoticesReadResult>
      icon={CheckCheck}
      disabled={!newest}
      call={{ method: 'POST', path: '/notices/read', body: { until: newest?.occurred_at } }}
      send={{ toast: one => `${pluralize(one.marked, 'notice', 'notices')} marked as read`, invalidates: ['/notices'] }}
    >
      Mark all as read
    </SendButton>
  )
  return (
    <Page description="Important messages about this workspace." actions={actions}>
      <Filters>
        <UrlFilter
          name="read"
          label="Read status"
          initial="false"
          choices={{ false: 'Unread', true: 'Read', all: 'All notices' }}
        />
        <UrlFilter name="severity" label="Severity" all="All severities" choices={severityLabels} />
      </Filters>
      {list.error ? (
        <Problem error={list.error} onRetry={list.retry} />
      ) : (
        <div className="min-h-64 rounded-lg border border-line bg-surface">
          {!list.isLoading && list.rows.length === 0 && (
            <Empty
              icon={Bell}
              title={severity !== '' ? 'No matching notices' : read === 'false' ? 'No unread notices' : 'No notices yet'}
            >
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
              <LoadMore list={list} />
            </div>
          )}
        </div>
      )}
    </Page>
  )
}

function Notice({ notice }: { notice: NoticeView }) {
  const { canAdminister } = usePerson()
  const mark = (read: boolean) => ({ method: 'PATCH', path: `/notices/${notice.id}`, body: { read } }) as const
  const action = notice.read ? 'as unread' : 'as read'
  return (
    <li className="flex items-start gap-3 px-4 py-3">
      <SeverityIcon severity={notice.severity} className="mt-0.5" />
      <div className="min-w-0 grow">
        <p className={notice.read ? '' : 'font-semibold'}>
          {notice.title}
          {notice.count > 1 && <span className="ml-2 font-normal text-muted">{notice.count} times</span>}
        </p>
        <p className="text-muted wrap-anywhere">{withLocalTimes(notice.text)}</p>
        <p className="mt-1 flex flex-wrap gap-x-3 text-[13px] text-muted">
          <RelativeTime at={notice.occurred_at} />
          {notice.resource && <ResourceLink {...notice.resource} />}
        </p>
      </div>
      {canAdminister && (
        <SendButton
          small
          kind="quiet"
          call={mark(!notice.read)}
          send={{ toast: `Notice marked ${action}`, undo: () => mark(notice.read), invalidates: ['/notices'] }}
        >
          Mark {action}
        </SendButton>
      )}
    </li>
  )
}
