import { HeartPulse, KeyRound } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { HeartbeatView, RecentPingsView } from '../../features/heartbeats/shapes'
import { useUrlState } from '../parts/url-state'
import { BulkDelete, BulkPause, BulkTags, type Selection } from '../parts/bulk'
import { maxBars } from '../parts/bars'
import { LinkButton } from '../parts/button'
import { ListPage } from '../parts/list'
import { Status } from '../parts/status'
import { tagsColumn, type Column } from '../parts/table'
import { RelativeTime } from '../parts/time'
import { useOne } from '../queries'
import { usePerson } from '../session'
import { NextDue } from './heartbeats/next-due'
import { PingBars } from './heartbeats/ping-bars'
import { scheduleText } from './heartbeats/schedule-text'

const maxRecent = 100
const refetchMs = 10_000
const statuses = { 'down,grace': 'Down or late', down: 'Down', grace: 'Late', up: 'Up', new: 'New', paused: 'Paused' }

/** The list of heartbeats. */
export default function Heartbeats() {
  const { canWrite } = usePerson()
  const [, set] = useUrlState({ tag: '' })
  const [visible, setVisible] = useState<readonly string[]>([])
  const recent = useOne<{ data: RecentPingsView[] }>(
    visible.length === 0 ? null : '/heartbeats/recent',
    { ids: visible.slice(0, maxRecent), pings: maxBars },
    { refetchMs, keepPrevious: true },
  )
  const pings = useMemo(() => new Map(recent.data?.data.map(one => [one.id, one.pings])), [recent.data])
  const columns: readonly Column<HeartbeatView>[] = [
    { title: 'Name', sort: 'name', look: 'strong', width: 'clamp(10rem, 20cqw, 26rem)', render: one => one.name },
    { title: 'Status', width: '7rem', render: one => <Status status={one.status} /> },
    {
      title: 'Schedule',
      width: 'clamp(9rem, 18cqw, 24rem)',
      showFrom: 'lg',
      look: 'muted',
      onPhone: 'plain',
      render: one => scheduleText(one.schedule),
    },
    { title: 'Recent runs', showFrom: 'md', onPhone: 'line', render: one => <PingBars pings={pings.get(one.id)} /> },
    { title: 'Last ping', width: '8rem', render: one => <RelativeTime at={one.last_ping_at} /> },
    { title: 'Next ping', width: '14rem', render: one => <NextDue heartbeat={one} /> },
    tagsColumn(
      one => one.tags,
      tag => set({ tag }),
    ),
  ]
  return (
    <ListPage
      label="Heartbeats"
      description="A heartbeat monitors a scheduled job, such as a backup. The job pings a URL when it finishes; if a ping is missing after the grace period, you get an alert."
      path="/heartbeats"
      page="/heartbeats/$id"
      create="/heartbeats/new"
      actions={
        canWrite && (
          <LinkButton to="/heartbeats/ping-key" icon={KeyRound}>
            Ping key
          </LinkButton>
        )
      }
      columns={columns}
      onVisibleRows={setVisible}
      sort="name"
      search
      counted
      refetchMs={refetchMs}
      filters={[
        { name: 'status', label: 'Status', all: 'All statuses', choices: statuses },
        { name: 'tag', label: 'Tag' },
      ]}
      bulk={canWrite ? (rows, onSuccess) => <BulkActions of={{ ...selection, rows, onSuccess }} /> : undefined}
      empty={{ icon: HeartPulse, text: 'Your job pings a URL when it finishes. If a ping is missing, you get an alert.' }}
    />
  )
}

const selection = {
  path: '/heartbeats/bulk',
  nouns: ['heartbeat', 'heartbeats'],
  invalidates: ['/heartbeats', '/overview'],
} as const

const BulkActions = ({ of }: { of: Selection<HeartbeatView> }) => (
  <>
    <BulkPause of={of} />
    <BulkTags of={of} />
    <BulkDelete
      of={of}
      text="This deletes their pings, logs, and history, and their ping URLs stop working. This can’t be undone."
    />
  </>
)
