import { useMemo, useState } from 'react'
import { systemClock } from '../../../core/clock'
import type { IncidentView } from '../../../features/incidents/shapes'
import type { UptimeView } from '../../../features/monitors/series/shapes'
import type { Page } from '../../client'
import { Bars, type Bar } from '../../parts/bars'
import { Card } from '../../parts/page'
import type { Mood } from '../../parts/status'
import { dayOf, latency, span } from '../../parts/time'
import { localText, shownTimezone } from '../../parts/timezone'
import { useOne } from '../../queries'
import { percent } from './percent'

type Day = UptimeView['days'][number]

const shownDays = 90
const dayMs = 86_400_000

/** How much of the time it was up: the last day, month, quarter and year, and each of the last 90 days. */
export function Uptime({ id }: { id: string }) {
  const timezone = shownTimezone()
  const day = useOne<UptimeView>(`/monitors/${id}/uptime`, { range: '24h', timezone })
  const year = useOne<UptimeView>(`/monitors/${id}/uptime`, { range: '365d', timezone })
  const days = useMemo(() => year.data?.days.slice(-shownDays) ?? [], [year.data])
  const incidents = useIncidents(id)
  const bars = useMemo(() => {
    const before = Array.from({ length: shownDays - days.length }, (): Bar => ({
      mood: 'idle',
      title: 'Not watched yet',
      part: 0.15,
    }))
    return [...before, ...days.map(day => barOf(day, incidents.get(day.date) ?? []))]
  }, [days, incidents])
  const figures: [string, number | null | undefined][] = [
    ['24 hours', day.data?.uptime_percent],
    ['30 days', year.data && uptimeOf(year.data.days.slice(-30))],
    ['90 days', year.data && uptimeOf(days)],
    ['365 days', year.data?.uptime_percent],
  ]
  const seen = days.filter(one => one.uptime_percent !== null)
  return (
    // What it says below takes its room before it is known: other cards stand under it.
    <Card title="Uptime" className="min-h-88 sm:min-h-60">
      <dl className="mb-4 grid grid-cols-2 gap-3 sm:grid-cols-4">
        {figures.map(([label, value]) => (
          <div key={label}>
            <dt className="text-[13px] text-muted">{label}</dt>
            <dd className="text-xl font-semibold">{percent(value)}</dd>
          </div>
        ))}
      </dl>
      <Bars
        bars={bars}
        height={36}
        label={`Each of the last ${shownDays} days: ${seen.filter(one => one.uptime_percent === 100).length} of ${seen.length} without down time`}
      />
      <div className="mt-1 flex justify-between text-[13px] text-muted">
        <span>{shownDays} days ago</span>
        <span>today</span>
      </div>
      {year.data && year.data.outages > 0 && (
        <p className="mt-2 text-[13px] text-muted">
          In a year: {year.data.outages} {year.data.outages === 1 ? 'outage' : 'outages'}, back after{' '}
          {span((year.data.mttr_seconds ?? 0) * 1000)} on average, the longest{' '}
          {span((year.data.longest_outage_seconds ?? 0) * 1000)}.
        </p>
      )}
      {day.data && day.data.latency.n > 0 && (
        <p className="mt-1 text-[13px] text-muted">
          In 24 hours: mean {latency(day.data.latency.avg)}, half within {latency(day.data.latency.p50)}, 95 of 100 within{' '}
          {latency(day.data.latency.p95)}, 99 within {latency(day.data.latency.p99)}.
        </p>
      )}
    </Card>
  )
}

/** Uptime of several days, weighted by time. */
function uptimeOf(days: readonly Day[]): number | null {
  let [up, down] = [0, 0]
  for (const { seconds } of days) {
    up += seconds.up + seconds.degraded
    down += seconds.down
  }
  return up + down === 0 ? null : (100 * up) / (up + down)
}

/** Titles of the incidents of the last 90 days, by the day on which they began. */
function useIncidents(id: string): ReadonlyMap<string, readonly string[]> {
  const [since] = useState(() => new Date(systemClock.now() - shownDays * dayMs).toISOString())
  const { data } = useOne<Page<IncidentView>>('/incidents', {
    monitor: id,
    'started_at[gte]': since,
    limit: 100,
    fields: 'id,title,cause,started_at',
  })
  return useMemo(() => {
    const byDay = Map.groupBy(data?.data ?? [], one => localText(new Date(one.started_at).getTime()).slice(0, 10))
    return new Map([...byDay].map(([day, own]) => [day, own.map(one => one.cause || one.title)]))
  }, [data])
}

const mostTold = 3

function barOf({ date, seconds, uptime_percent }: Day, incidents: readonly string[]): Bar {
  const times = [
    seconds.down > 0 && `${span(seconds.down * 1000)} down`,
    seconds.degraded > 0 && `${span(seconds.degraded * 1000)} degraded`,
    seconds.maintenance > 0 && `${span(seconds.maintenance * 1000)} maintenance`,
  ].filter(Boolean)
  const told = incidents.slice(0, mostTold)
  if (incidents.length > mostTold) told.push(`and ${incidents.length - mostTold} more incidents`)
  // The day is one of the calendar, whatever the zone is that its name is read in.
  const name = dayOf(`${date}T12:00:00`)
  return {
    mood: moodOfDay(uptime_percent, seconds),
    title: [[name, percent(uptime_percent), ...times].join(' · '), ...told].join('\n'),
  }
}

function moodOfDay(uptimePercent: number | null, { down, degraded }: Day['seconds']): Mood {
  if (uptimePercent === null) return 'idle'
  if (down === 0) return degraded > 0 ? 'warn' : 'ok'
  return uptimePercent >= 99 ? 'warn' : 'bad'
}
