import { HeartPulse, KeyRound, Plus } from 'lucide-react'
import { useMemo, useState } from 'react'
import { heartbeatStatusWords } from './heartbeat-words'
import type { HeartbeatView, RecentPingsView } from '../../../features/heartbeats/shapes'
import { useAddress } from '../../parts/address'
import { Button, LinkButton } from '../../parts/button'
import { Empty } from '../../parts/empty'
import { Choice, Filters, SearchField } from '../../parts/filters'
import { Page } from '../../parts/page'
import { Status, Tag } from '../../parts/status'
import { Table, type Column } from '../../parts/table'
import { Ago } from '../../parts/time'
import { useList, useOne } from '../../queries'
import { usePerson } from '../../session'
import { NextDue } from './next-due'
import { PingBars } from './ping-bars'
import { scheduleWords } from './schedule-words'

const newHeartbeat = (
  <LinkButton to="/heartbeats/new" kind="main" data-new icon={<Plus className="size-4" aria-hidden />}>
    New heartbeat
  </LinkButton>
)
const mostAtOnce = 100
const lookEveryMs = 10_000

/** Jobs that tell when they ran. */
export default function Heartbeats() {
  const { mayWrite } = usePerson()
  const [{ status, q, tag, sort }, set] = useAddress({ status: '', q: '', tag: '', sort: 'name' })
  const list = useList<HeartbeatView>('/heartbeats', { status, q, tag, sort, include: 'total' }, { everyMs: lookEveryMs })
  const [shown, setShown] = useState<readonly string[]>([])
  const recent = useOne<{ data: RecentPingsView[] }>(
    shown.length === 0 ? null : '/heartbeats/recent',
    { ids: shown.slice(0, mostAtOnce) },
    { everyMs: lookEveryMs, keep: true },
  )
  const pings = useMemo(() => new Map(recent.data?.data.map(one => [one.id, one.pings])), [recent.data])
  const columns: readonly Column<HeartbeatView>[] = [
    {
      name: 'name',
      title: 'Name',
      sort: 'name',
      render: one => <span className="font-medium">{one.name}</span>,
    },
    {
      name: 'status',
      title: 'Status',
      width: '7rem',
      render: one => <Status state={one.status} label={heartbeatStatusWords[one.status]} />,
    },
    {
      name: 'schedule',
      title: 'Expected',
      from: 'md',
      render: one => <span className="text-muted">{scheduleWords(one.schedule)}</span>,
    },
    { name: 'last', title: 'Last ping', width: '9rem', from: 'sm', render: one => <Ago at={one.last_ping_at} /> },
    { name: 'next', title: 'Next due', width: '14rem', from: 'sm', render: one => <NextDue heartbeat={one} /> },
    { name: 'runs', title: 'Last runs', width: '10rem', from: 'lg', render: one => <PingBars pings={pings.get(one.id)} /> },
    {
      name: 'tags',
      title: 'Tags',
      width: '9rem',
      from: 'lg',
      render: one => (
        <span className="flex gap-1">
          {one.tags.map(word => (
            <button key={word} type="button" onClick={() => set({ tag: word })} aria-label={`Only the tag ${word}`}>
              <Tag>{word}</Tag>
            </button>
          ))}
        </span>
      ),
    },
  ]
  const isFiltered = status !== '' || q !== '' || tag !== ''
  return (
    <Page
      title="Heartbeats"
      lead="Jobs that tell when they ran: cron jobs, backups, timers. One that is late raises an alert."
      actions={
        mayWrite && (
          <>
            {newHeartbeat}
            <LinkButton to="/heartbeats/ping-key" icon={<KeyRound className="size-4" aria-hidden />}>
              Ping key
            </LinkButton>
          </>
        )
      }
    >
      <Filters>
        <SearchField label="Search heartbeats" value={q} onChange={text => set({ q: text })} />
        <Choice
          label="Status"
          value={status}
          onChange={value => set({ status: value })}
          choices={[
            ['', 'All statuses'],
            ['down,grace', 'Down or late'],
            ...Object.entries(heartbeatStatusWords).map(([value, words]) => [value, words] as const),
          ]}
        />
        {tag !== '' && (
          <Button small onClick={() => set({ tag: '' })} aria-label={`Any tag, not ${tag} alone`}>
            Tag {tag} ×
          </Button>
        )}
      </Filters>
      <Table
        label="Heartbeats"
        columns={columns}
        list={list}
        idOf={one => one.id}
        linkOf={one => `/heartbeats/${one.id}`}
        sort={sort}
        onSort={value => set({ sort: value })}
        onShown={setShown}
        empty={
          isFiltered ? (
            <Empty icon={HeartPulse} title="None of these" />
          ) : (
            <Empty
              icon={HeartPulse}
              title="No heartbeats"
              action={mayWrite && <div className="flex justify-center">{newHeartbeat}</div>}
            >
              A heartbeat is an address that your job calls when it has run. When the call does not come, you hear of it.
            </Empty>
          )
        }
      />
    </Page>
  )
}
