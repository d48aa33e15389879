import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { FlipView, HeartbeatView, PingView } from '../../features/heartbeats/shapes'
import type { IncidentView } from '../../features/incidents/shapes'
import { CopyableText, Mono } from '../parts/code'
import { Card, Page, Skeleton } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { severityLabels } from '../parts/severity'
import { Status, Tags } from '../parts/status'
import { RelativeTime, formatDuration } from '../parts/time'
import { useList } from '../queries'
import { Flips } from './heartbeats/flips'
import { HeartbeatActions } from './heartbeats/heartbeat-actions'
import { NextDue } from './heartbeats/next-due'
import { PingUrl } from './heartbeats/ping-url'
import { Pings } from './heartbeats/pings'
import { RunTimeline, runsOf } from './heartbeats/run-timeline'
import { scheduleText } from './heartbeats/schedule-text'

// Pings are polled instead of streamed, since a job may ping many times a second.
const refetchMs = 5_000

/** The page of a heartbeat: its runs, next due time, ping URL, and pings. */
export default resourcePage({ path: '/heartbeats', parent: '/heartbeats', query: { expand: 'incident' }, refetchMs }, Details)

function Details({ resource: heartbeat }: { resource: HeartbeatView }) {
  const { id, schedule, status } = heartbeat
  const pings = useList<PingView>(`/heartbeats/${id}/pings`, { kind: 'success,fail,start' }, { refetchMs })
  const flips = useList<FlipView>(`/heartbeats/${id}/flips`, {}, { refetchMs })
  const runs = useMemo(() => runsOf(pings.rows, flips.rows), [pings.rows, flips.rows])
  const incident = heartbeat.expanded?.incident as IncidentView | null | undefined
  const pingUrl = <PingUrl heartbeat={heartbeat} />
  if (pings.isLoading || flips.isLoading) return <Skeleton />
  return (
    <Page
      title={heartbeat.name}
      parent="/heartbeats"
      aside={
        <>
          <Status status={status} />
          {heartbeat.started && <Status status="running" />}
        </>
      }
      description={`Expected ${scheduleText(schedule)}, with a grace period of ${formatDuration(schedule.grace_seconds * 1000)}.`}
      actions={<HeartbeatActions heartbeat={heartbeat} />}
    >
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_20rem] lg:grid-rows-[auto_1fr] lg:items-start">
        <div className="flex min-w-0 flex-col gap-4">
          {heartbeat.ping_count === 0 && pingUrl}
          <RunTimeline runs={runs} />
          {heartbeat.ping_count > 0 && pingUrl}
        </div>
        <div className="flex min-w-0 flex-col gap-4 lg:col-start-2 lg:row-span-2 lg:row-start-1">
          <Card title="Next ping">
            <p className="text-lg font-semibold">
              {status === 'new' && heartbeat.down_at === null ? 'Waiting for the first ping' : <NextDue heartbeat={heartbeat} />}
            </p>
            {status === 'paused' && (
              <p className="text-muted">
                {heartbeat.manual_resume ? 'Paused until it is resumed manually.' : 'Paused. The next ping resumes it.'}
              </p>
            )}
          </Card>
          <Card
            title="Details"
            facts={[
              [
                'Incident',
                incident && (
                  <Link to="/incidents/$id" params={{ id: incident.id }} className="text-accent hover:underline">
                    {incident.title}
                  </Link>
                ),
              ],
              ['Status since', <RelativeTime at={heartbeat.status_since_at} />],
              ['Last ping', <RelativeTime at={heartbeat.last_ping_at} />],
              ['Last duration', heartbeat.last_duration_ms === null ? null : formatDuration(heartbeat.last_duration_ms)],
              ['Pings', heartbeat.ping_count.toLocaleString()],
              ['HTTP methods', heartbeat.methods === 'POST' ? 'POST only' : 'Any'],
              ['Severity', severityLabels[heartbeat.severity]],
              ['Slug', heartbeat.slug === '' ? null : <Mono>{heartbeat.slug}</Mono>],
              ['Tags', heartbeat.tags.length > 0 && <Tags tags={heartbeat.tags} />],
              [
                'Notes',
                heartbeat.description === '' ? null : <span className="whitespace-pre-wrap">{heartbeat.description}</span>,
              ],
              ['Created', <RelativeTime at={heartbeat.created_at} />],
              ['ID', <CopyableText text={id} />],
            ]}
          />
          <Flips list={flips} />
        </div>
        {/* Last, because the list loads more while scrolling. */}
        <Pings id={id} refetchMs={refetchMs} />
      </div>
    </Page>
  )
}
