import { Suspense, useMemo } from 'react'
import type { IncidentView } from '../../../features/incidents/shapes'
import type { SeriesView, TransitionView } from '../../../features/monitors/series/shapes'
import type { MonitorView } from '../../../features/monitors/shapes'
import { hubNow } from '../../hub-clock'
import type { Page } from '../../client'
import { lazyComponent } from '../../lazy'
import { useUrlState } from '../../parts/url-state'
import type { Band, Series } from '../../parts/chart'
import { Card } from '../../parts/page'
import { Problem } from '../../parts/problem'
import { formatLatency, formatDateTime } from '../../parts/time'
import { hourMs, useTimeRange } from '../../parts/time-range'
import { useOne } from '../../queries'

const Chart = lazyComponent(() => import('../../parts/chart'))

const ranges = [
  ['1h', '1 h', hourMs],
  ['24h', '24 h', 24 * hourMs],
  ['7d', '7 d', 7 * 24 * hourMs],
  ['30d', '30 d', 30 * 24 * hourMs],
  ['90d', '90 d', 90 * 24 * hourMs],
] as const
const height = 240
const newForMs = 3 * hourMs

/** Chart of check durations by phase, over a range that can be picked or zoomed. */
export function Latency({ monitor }: { monitor: MonitorView }) {
  // For a new monitor, a whole day would be a mostly empty chart.
  const isNew = hubNow() - new Date(monitor.created_at).getTime() < newForMs
  const { begin, end, query, picker, zoom } = useTimeRange(ranges, isNew ? '1h' : '24h')
  const [, set] = useUrlState({ after: '', before: '' })
  const found = useOne<SeriesView>(`/monitors/${monitor.id}/series`, query, { keepPrevious: true })
  const bands = useBands(monitor.id, begin, end)
  const times = useMemo(() => found.data?.points.map(one => new Date(one.at).getTime()) ?? [], [found.data])
  const series = useMemo(() => seriesOf(found.data?.points ?? []), [found.data])
  return (
    <Card title="Latency" actions={picker}>
      <div className="min-h-72">
        {found.error && !found.data && <Problem error={found.error} onRetry={() => void found.refetch()} />}
        {found.data && times.length === 0 && <p className="py-24 text-center text-muted">No successful checks in this range.</p>}
        {times.length === 1 && (
          <p className="py-24 text-center text-muted">
            Only one result in this range: {formatLatency(found.data?.points[0]?.avg)}. The chart starts with the second.
          </p>
        )}
        {times.length > 1 && (
          <Suspense fallback={null}>
            <Chart
              label={`Latency of ${monitor.name} from ${formatDateTime(begin)} to ${formatDateTime(end)}`}
              times={times}
              series={series}
              stacked
              bands={bands}
              span={[begin, end]}
              format={formatLatency}
              height={height}
              onZoom={zoom}
              onPick={at => set(checksAround(at, (found.data?.step_seconds ?? 60) * 1000))}
            />
          </Suspense>
        )}
      </div>
      {times.length > 1 && (
        <p className="text-[13px] text-muted">
          Average by phase. 95% of the checks were faster than p95, 99% faster than p99. Drag to zoom in. Click a point to list
          its checks below.
          {bands.length > 0 && ' Shaded areas are incidents and maintenance.'}
        </p>
      )}
    </Card>
  )
}

/** Query parameters that filter the list of checks to a point of the chart. */
const checksAround = (at: number, stepMs: number) => ({ after: String(at), before: String(at + stepMs) })

function seriesOf(points: SeriesView['points']): Series[] {
  const part = (name: keyof NonNullable<(typeof points)[number]['phases']>) =>
    points.map(one => (one.phases === null ? null : (one.phases[name] ?? 0)))
  const has = (values: readonly (number | null)[]) => values.some(value => value !== null && value > 0)
  const parts: Series[] = [
    { label: 'DNS', color: '--idle-mark', values: part('dns_ms') },
    { label: 'Connect', color: '--warn-mark', values: part('connect_ms') },
    { label: 'TLS', color: '--ok-mark', values: part('tls_ms') },
    { label: 'First byte', color: '--accent', values: part('first_byte_ms') },
  ].filter(one => has(one.values))
  const rest = points.map((one, at) =>
    one.avg === null ? null : Math.max(0, one.avg - parts.reduce((sum, of) => sum + (of.values[at] ?? 0), 0)),
  )
  return [
    ...parts,
    { label: parts.length > 0 ? 'Other' : 'Average', color: '--strong-line', values: rest },
    { label: 'p95', color: '--ink', values: points.map(one => one.p95), dashed: true, unstacked: true },
    { label: 'p99', color: '--bad-mark', values: points.map(one => one.p99), dashed: true, unstacked: true },
  ]
}

/** Incidents and maintenance of the monitor in a range. */
function useBands(id: string, begin: number, end: number): readonly Band[] {
  const incidents = useOne<Page<IncidentView>>('/incidents', {
    monitor: id,
    from: new Date(begin).toISOString(),
    limit: 100,
    fields: 'id,title,started_at,resolved_at',
  })
  const changes = useOne<Page<TransitionView>>(`/monitors/${id}/transitions`, {
    'at[gte]': new Date(begin).toISOString(),
    limit: 100,
    sort: 'at',
  })
  return useMemo(() => {
    const of = (at: string | null) => (at === null ? end : new Date(at).getTime())
    const found: Band[] = (incidents.data?.data ?? []).map(one => ({
      from: of(one.started_at),
      to: of(one.resolved_at),
      color: '--bad-soft',
      label: one.title,
    }))
    const rows = changes.data?.data ?? []
    for (const [place, one] of rows.entries()) {
      if (one.to !== 'maintenance') continue
      found.push({ from: of(one.at), to: of(rows[place + 1]?.at ?? null), color: '--warn-soft', label: 'Maintenance' })
    }
    return found.filter(one => one.from < end)
  }, [incidents.data, changes.data, end])
}
