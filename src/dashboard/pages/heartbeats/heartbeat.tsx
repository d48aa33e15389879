import { Link, useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { FlipView, HeartbeatView, PingView } from '../../../features/heartbeats/shapes'
import type { IncidentView } from '../../../features/incidents/shapes'
import { Copied } from '../../parts/code'
import { Card, Facts, Loaded, Page, Skeleton } from '../../parts/page'
import { Status, Tag } from '../../parts/status'
import { Ago, span } from '../../parts/time'
import { useList, useOne } from '../../queries'
import { Flips } from './flips'
import { HeartbeatActions } from './heartbeat-actions'
import { heartbeatStatusWords } from './heartbeat-words'
import { NextDue } from './next-due'
import { PingAddress } from './ping-address'
import { Pings } from './pings'
import { RunLine, runsOf } from './run-line'
import { scheduleWords } from './schedule-words'

const up = { to: '/heartbeats', label: 'Heartbeats' }
// Pings are told by no stream: a job may call many times a second.
const lookEveryMs = 5_000

/** One heartbeat: its runs, when the next is due, how to ping it, and what came. */
export default function Heartbeat() {
  const { id } = useParams({ strict: false })
  const found = useOne<HeartbeatView>(`/heartbeats/${id}`, { expand: 'incident' }, { everyMs: lookEveryMs })
  return (
    <Loaded found={found} up={up}>
      {heartbeat => <Shown key={heartbeat.id} heartbeat={heartbeat} />}
    </Loaded>
  )
}

function Shown({ heartbeat }: { heartbeat: HeartbeatView }) {
  const { id, schedule, status } = heartbeat
  const pings = useList<PingView>(`/heartbeats/${id}/pings`, { kind: 'success,fail,start' }, { everyMs: lookEveryMs })
  const flips = useList<FlipView>(`/heartbeats/${id}/flips`, {}, { everyMs: lookEveryMs })
  const runs = useMemo(() => runsOf(pings.rows, flips.rows), [pings.rows, flips.rows])
  const incident = heartbeat.expanded?.incident as IncidentView | null | undefined
  const address = <PingAddress url={heartbeat.ping_url} isOpen={heartbeat.ping_count === 0} />
  if (pings.isLoading || flips.isLoading) return <Skeleton />
  return (
    <Page
      title={heartbeat.name}
      up={up}
      aside={
        <>
          <Status state={status} label={heartbeatStatusWords[status]} />
          {heartbeat.started && <Status state="running" />}
        </>
      }
      lead={`Expected ${scheduleWords(schedule)}, with a grace time of ${span(schedule.grace_seconds * 1000)}.`}
      actions={<HeartbeatActions heartbeat={heartbeat} />}
    >
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_20rem] lg:grid-rows-[auto_1fr] lg:items-start">
        <div className="flex min-w-0 flex-col gap-4">
          {heartbeat.ping_count === 0 && address}
          <RunLine runs={runs} />
          {heartbeat.ping_count > 0 && address}
        </div>
        <div className="flex min-w-0 flex-col gap-4 lg:col-start-2 lg:row-span-2 lg:row-start-1">
          <Card title="Next ping">
            <p className="text-lg font-semibold">
              {status === 'new' && heartbeat.down_at === null ? 'waits for the first' : <NextDue heartbeat={heartbeat} />}
            </p>
            {status === 'paused' && (
              <p className="text-muted">
                {heartbeat.manual_resume ? 'Paused until somebody resumes it.' : 'Paused. The next ping resumes it.'}
              </p>
            )}
          </Card>
          <Card title="Facts">
            <Facts
              rows={[
                [
                  'Incident',
                  incident && (
                    <Link to="/incidents/$id" params={{ id: incident.id }} className="text-accent hover:underline">
                      {incident.title}
                    </Link>
                  ),
                ],
                ['Status since', <Ago at={heartbeat.status_since_at} />],
                ['Last ping', <Ago at={heartbeat.last_ping_at} />],
                ['Last run took', heartbeat.last_duration_ms === null ? null : span(heartbeat.last_duration_ms)],
                ['Pings', heartbeat.ping_count.toLocaleString()],
                ['Counts', heartbeat.methods === 'POST' ? 'POST alone' : 'any method'],
                ['Severity', heartbeat.severity],
                ['Slug', heartbeat.slug === '' ? null : <code className="font-mono text-[13px]">{heartbeat.slug}</code>],
                [
                  'Tags',
                  heartbeat.tags.length === 0 ? null : (
                    <span className="flex flex-wrap gap-1">
                      {heartbeat.tags.map(tag => (
                        <Tag key={tag}>{tag}</Tag>
                      ))}
                    </span>
                  ),
                ],
                [
                  'Notes',
                  heartbeat.description === '' ? null : <span className="whitespace-pre-wrap">{heartbeat.description}</span>,
                ],
                ['Made', <Ago at={heartbeat.created_at} />],
                ['Id', <Copied text={id} />],
              ]}
            />
          </Card>
          <Flips list={flips} />
        </div>
        {/* Last, since it goes on for as long as one reads. */}
        <Pings id={id} everyMs={lookEveryMs} />
      </div>
    </Page>
  )
}
