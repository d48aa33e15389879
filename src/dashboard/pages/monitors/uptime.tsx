import { useMemo, useState } from 'react'
import { hubNow } from '../../hub-clock'
import type { IncidentView } from '../../../features/incidents/shapes'
import type { UptimeView } from '../../../features/monitors/series/shapes'
import type { MonitorView } from '../../../features/monitors/shapes'
import type { Page } from '../../client'
import { Bars, type Bar } from '../../parts/bars'
import { Card } from '../../parts/page'
import type { Tone } from '../../parts/status'
import { formatDate, formatLatency, formatDuration } from '../../parts/time'
import { toLocalInput, displayTimezone } from '../../parts/timezone'
import { useUrlState } from '../../parts/url-state'
import { useOne } from '../../queries'
import { coverage } from './coverage'
import { percent, uptimeOf } from './percent'

type Day = UptimeView['days'][number]

const shownDays = 90
const dayMs = 86_400_000

/** Uptime over the last 24 hours, 30, 90, and 365 days, and for each of the last 90 days. */
export function Uptime({ monitor: { id, created_at } }: { monitor: MonitorView }) {
  const timezone = displayTimezone()
  const day = useOne<UptimeView>(`/monitors/${id}/uptime`, { range: '24h', timezone })
  const year = useYear(id)
  const days = useMemo(() => year.data?.days.slice(-shownDays) ?? [], [year.data])
  const incidents = useIncidents(id)
  const bars = useMemo(() => {
    const before = Array.from({ length: shownDays - days.length }, (): Bar => ({
      tone: 'idle',
      title: 'No data',
      fraction: 0.15,
    }))
    return [...before, ...days.map(day => barOf(day, incidents.get(day.date) ?? []))]
  }, [days, incidents])
  // Results can be older than the monitor if they were imported.
  const firstDay = year.data?.days.find(one => one.uptime_percent !== null)?.date
  const [created, first] = [Date.parse(created_at), firstDay === undefined ? Infinity : Date.parse(firstDay)]
  // Days apart, since a day is in the time zone of the user, and starts before the monitor was created.
  const since = first + 2 * dayMs < created ? first : created
  const covered = coverage(hubNow() - since)
  const figures: [number, number | null | undefined][] = [
    [1, day.data?.uptime_percent],
    [30, year.data && uptimeOf(year.data.days.slice(-30).map(one => one.seconds))],
    [90, year.data && uptimeOf(days.map(one => one.seconds))],
    [365, year.data?.uptime_percent],
  ]
  const known = days.filter(one => one.uptime_percent !== null)
  return (
    // Reserves space for the text below, to keep the layout stable while it loads.
    <Card title="Uptime" className="min-h-88 sm:min-h-60">
      <dl className="mb-4 grid grid-cols-2 gap-3 sm:grid-cols-4">
        {figures.map(([days, value], at) => (
          <div key={days}>
            <dt className="text-[13px] text-muted">{days === 1 ? '24 hours' : `${days} days`}</dt>
            <dd className="text-xl font-semibold">
              {at > covered.last ? '–' : percent(value)}
              {at === covered.last && covered.time !== null && typeof value === 'number' && (
                <span className="ml-2 text-[13px] font-normal text-muted">for {covered.time}</span>
              )}
            </dd>
          </div>
        ))}
      </dl>
      <Bars
        bars={bars}
        height={36}
        label={`Each of the last ${shownDays} days: ${known.filter(one => one.uptime_percent === 100).length} of ${known.length} without downtime`}
      />
      <div className="mt-1 flex justify-between text-[13px] text-muted">
        <span>{shownDays} days ago</span>
        <span>today</span>
      </div>
      {year.data && year.data.outages > 0 && (
        <p className="mt-2 text-[13px] text-muted">
          Last 365 days: {year.data.outages} {year.data.outages === 1 ? 'outage' : 'outages'}, mean time to recovery{' '}
          {formatDuration((year.data.mttr_seconds ?? 0) * 1000)}, longest{' '}
          {formatDuration((year.data.longest_outage_seconds ?? 0) * 1000)}.
        </p>
      )}
      {day.data && day.data.latency.n > 0 && (
        <p className="mt-1 text-[13px] text-muted">
          Latency in the last 24 hours: average {formatLatency(day.data.latency.avg)}, median{' '}
          {formatLatency(day.data.latency.p50)}; 95% of the checks took up to {formatLatency(day.data.latency.p95)}, 99% up to{' '}
          {formatLatency(day.data.latency.p99)}.
        </p>
      )}
    </Card>
  )
}

/** Uptime of the last 365 days, with the error budget of the selected objective. */
export function useYear(id: string) {
  const [{ objective }] = useUrlState(objectiveState)
  const query = { range: '365d', timezone: displayTimezone(), objective }
  return useOne<UptimeView>(`/monitors/${id}/uptime`, query, { keepPrevious: true })
}

/** The uptime objective in the URL, in percent. */
export const objectiveState = { objective: '99.9' }

/** Titles of the incidents of the last 90 days, by start day. */
function useIncidents(id: string): ReadonlyMap<string, readonly string[]> {
  const [since] = useState(() => new Date(hubNow() - shownDays * dayMs).toISOString())
  const { data } = useOne<Page<IncidentView>>('/incidents', {
    monitor: id,
    'started_at[gte]': since,
    limit: 100,
    fields: 'id,title,cause,started_at',
  })
  return useMemo(() => {
    const byDay = Map.groupBy(data?.data ?? [], one => toLocalInput(new Date(one.started_at).getTime()).slice(0, 10))
    return new Map([...byDay].map(([day, own]) => [day, own.map(one => one.cause || one.title)]))
  }, [data])
}

const maxIncidents = 3

function barOf({ date, seconds, uptime_percent }: Day, incidents: readonly string[]): Bar {
  const times = [
    seconds.down > 0 && `${formatDuration(seconds.down * 1000)} down`,
    seconds.degraded > 0 && `${formatDuration(seconds.degraded * 1000)} degraded`,
    seconds.maintenance > 0 && `${formatDuration(seconds.maintenance * 1000)} maintenance`,
  ].filter(Boolean)
  const titles = incidents.slice(0, maxIncidents)
  if (incidents.length > maxIncidents) titles.push(`and ${incidents.length - maxIncidents} more incidents`)
  // Noon, so that the calendar day is the same in any time zone.
  const name = formatDate(`${date}T12:00:00`)
  return {
    tone: moodOfDay(uptime_percent, seconds),
    title: [[name, percent(uptime_percent), ...times].join(' · '), ...titles].join('\n'),
  }
}

function moodOfDay(uptimePercent: number | null, { down, degraded }: Day['seconds']): Tone {
  if (uptimePercent === null) return 'idle'
  if (down === 0) return degraded > 0 ? 'warn' : 'ok'
  return uptimePercent >= 99 ? 'warn' : 'bad'
}
