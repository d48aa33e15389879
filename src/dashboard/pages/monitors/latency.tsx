import { lazy, Suspense, useMemo } from 'react'
import type { IncidentView } from '../../../features/incidents/shapes'
import type { SeriesView, TransitionView } from '../../../features/monitors/series/shapes'
import type { MonitorView } from '../../../features/monitors/shapes'
import { systemClock } from '../../../core/clock'
import type { Page } from '../../client'
import { useAddress } from '../../parts/address'
import { Button } from '../../parts/button'
import type { Band, Series } from '../../parts/chart'
import { Card } from '../../parts/page'
import { Problem } from '../../parts/problem'
import { latency, wholeTime } from '../../parts/time'
import { useOne } from '../../queries'

const Chart = lazy(() => import('../../parts/chart'))

const hourMs = 3_600_000
const ranges = [
  ['1h', '1 h', hourMs],
  ['24h', '24 h', 24 * hourMs],
  ['7d', '7 d', 7 * 24 * hourMs],
  ['30d', '30 d', 30 * 24 * hourMs],
  ['90d', '90 d', 90 * 24 * hourMs],
] as const
const height = 240
const newForMs = 3 * hourMs

/** How long checks took, by their parts, over a span that one picks or draws. */
export function Latency({ monitor }: { monitor: MonitorView }) {
  // Of a new one a day would be an empty chart with all of it at the edge.
  const isNew = systemClock.now() - new Date(monitor.created_at).getTime() < newForMs
  const [{ range, from, to }, set] = useAddress({ range: isNew ? '1h' : '24h', from: '', to: '' })
  // To the minute, so that reading again asks for the same.
  const minute = Math.floor(systemClock.now() / 60_000) * 60_000
  const length = ranges.find(([name]) => name === range)?.[2] ?? 24 * hourMs
  const zoomed = from !== '' && to !== ''
  const begin = zoomed ? Number(from) : minute - length
  const query = { from: new Date(begin).toISOString(), ...(zoomed && { to: new Date(Number(to)).toISOString() }) }
  const end = zoomed ? Number(to) : minute + 60_000
  const found = useOne<SeriesView>(`/monitors/${monitor.id}/series`, query, { keep: true })
  const bands = useBands(monitor.id, begin, end)
  const times = useMemo(() => found.data?.points.map(one => new Date(one.at).getTime()) ?? [], [found.data])
  const series = useMemo(() => seriesOf(found.data?.points ?? []), [found.data])
  return (
    <Card
      title="Latency"
      actions={
        <div role="group" aria-label="Span" className="flex flex-wrap gap-1">
          {zoomed && (
            <Button small kind="quiet" onClick={() => set({ from: '', to: '' })}>
              Whole span
            </Button>
          )}
          {ranges.map(([name, label]) => (
            <Button
              key={name}
              small
              kind={!zoomed && name === range ? 'plain' : 'quiet'}
              aria-pressed={!zoomed && name === range}
              onClick={() => set({ range: name, from: '', to: '' })}
            >
              {label}
            </Button>
          ))}
        </div>
      }
    >
      <div className="min-h-72">
        {found.error && !found.data && <Problem error={found.error} onAgain={() => void found.refetch()} />}
        {found.data && times.length === 0 && <p className="py-24 text-center text-muted">No check was well in this span.</p>}
        {times.length > 0 && (
          <Suspense fallback={null}>
            <Chart
              label={`Latency of ${monitor.name} from ${wholeTime(begin)} to ${wholeTime(end)}`}
              times={times}
              series={series}
              stacked
              bands={bands}
              span={[begin, end]}
              format={latency}
              height={height}
              onZoom={(a, b) => set({ from: String(Math.round(a)), to: String(Math.round(b)) })}
              onPick={at => set({ ...runsAround(at, (found.data?.step_seconds ?? 60) * 1000) })}
            />
          </Suspense>
        )}
      </div>
      <p className="text-[13px] text-muted">
        Draw over a span to look closer; a click lists its runs.
        {bands.length > 0 && ' Shaded: incidents and maintenance.'}
      </p>
    </Card>
  )
}

/** The members of the address that narrow the list of runs to a point of the chart. */
const runsAround = (at: number, stepMs: number): Record<string, string> => ({ after: String(at), before: String(at + stepMs) })

function seriesOf(points: SeriesView['points']): Series[] {
  const part = (name: keyof NonNullable<(typeof points)[number]['phases']>) =>
    points.map(one => (one.phases === null ? null : (one.phases[name] ?? 0)))
  const has = (values: readonly (number | null)[]) => values.some(value => value !== null && value > 0)
  const parts: Series[] = [
    { label: 'DNS', colour: '--idle-mark', values: part('dns_ms') },
    { label: 'Connect', colour: '--warn-mark', values: part('connect_ms') },
    { label: 'TLS', colour: '--ok-mark', values: part('tls_ms') },
    { label: 'Wait', colour: '--accent', values: part('first_byte_ms') },
  ].filter(one => has(one.values))
  const rest = points.map((one, at) =>
    one.avg === null ? null : Math.max(0, one.avg - parts.reduce((sum, of) => sum + (of.values[at] ?? 0), 0)),
  )
  return [
    ...parts,
    { label: parts.length > 0 ? 'Rest' : 'Mean', colour: '--strong-line', values: rest },
    { label: 'p95', colour: '--ink', values: points.map(one => one.p95), dashed: true, apart: true },
    { label: 'p99', colour: '--bad-mark', values: points.map(one => one.p99), dashed: true, apart: true },
  ]
}

/** Incidents of the monitor and its maintenance within a span. */
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
      colour: '--bad-soft',
      label: one.title,
    }))
    const rows = changes.data?.data ?? []
    for (const [place, one] of rows.entries()) {
      if (one.to !== 'maintenance') continue
      found.push({ from: of(one.at), to: of(rows[place + 1]?.at ?? null), colour: '--warn-soft', label: 'Maintenance' })
    }
    return found.filter(one => one.from < end)
  }, [incidents.data, changes.data, end])
}
