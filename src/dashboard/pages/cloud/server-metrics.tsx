import { useMemo } from 'react'
import type { ServerMetricsView } from '../../../features/servers/metrics/shapes'
import { Card } from '../../parts/page'
import { Problem } from '../../parts/problem'
import { RelativeTime } from '../../parts/time'
import { hourMs, useTimeRange, type TimeRange } from '../../parts/time-range'
import { ToggleGroup } from '../../parts/toggle-group'
import { useUrlState } from '../../parts/url-state'
import { useOne } from '../../queries'
import { MetricCharts } from './metric-charts'
import { LiveMetrics, liveMs } from './server-live'
import { MarkList, useServerMarks, type ServerMarks } from './server-marks'

const liveRange = ['live', 'Live', liveMs] as const
const ranges = [
  ['1h', '1 h', hourMs],
  ['24h', '24 h', 24 * hourMs],
  ['7d', '7 d', 7 * 24 * hourMs],
  ['30d', '30 d', 30 * 24 * hourMs],
  ['1y', '1 y', 365 * 24 * hourMs],
  // The oldest are deleted after 730 days.
  ['2y', '2 y', 729 * 24 * hourMs],
] as const
const shownValues = { avg: 'Averages', max: 'Peaks' } as const

/** Charts of what a server uses, and of what it does now if it has an agent. */
export function ServerMetrics({ id, name, hasAgent }: { id: string; name: string; hasAgent: boolean }) {
  const range = useTimeRange(hasAgent ? [liveRange, ...ranges] : ranges, '24h')
  if (hasAgent && range.name === liveRange[0])
    return (
      <Card title="Metrics" actions={range.picker}>
        <LiveMetrics id={id} name={name} />
      </Card>
    )
  return <MarkedMetrics id={id} name={name} range={range} />
}

/** Charts with marks for what happened to the server. */
function MarkedMetrics({ id, name, range }: { id: string; name: string; range: TimeRange }) {
  const happened = useServerMarks(id, range.begin, range.end)
  return (
    <StoredMetrics
      path={`/servers/${id}/metrics`}
      name={name}
      empty="No metrics yet. Agents, most clouds, and Redfish controllers report metrics of running servers."
      range={range}
      happened={happened}
    />
  )
}

interface MetricsProps {
  path: string
  name: string
  empty: string
}

/** Charts of the metrics of a volume or firewall, over a range that can be picked or zoomed. */
export function ResourceMetrics({ path, name, empty }: MetricsProps) {
  const range = useTimeRange(ranges, '24h')
  return <StoredMetrics path={path} name={name} empty={empty} range={range} />
}

interface StoredMetricsProps extends MetricsProps {
  range: TimeRange
  happened?: ServerMarks
}

function StoredMetrics({ path, name, empty, range, happened }: StoredMetricsProps) {
  const [{ values }, setState] = useUrlState({ values: 'avg' })
  const found = useOne<ServerMetricsView>(path, range.query, {
    refetchMs: 60_000,
    keepPrevious: true,
  })
  const { data } = found
  const times = useMemo(() => timesOf(data), [data])
  return (
    <Card
      title="Metrics"
      actions={
        <>
          <ToggleGroup label="Values" value={values} onChange={values => setState({ values })} choices={shownValues} />
          {range.picker}
        </>
      }
    >
      {found.error && !data && <Problem error={found.error} onRetry={() => void found.refetch()} />}
      {data?.sources.length === 0 && <p className="text-muted">{empty}</p>}
      {data && data.sources.length > 0 && data.series.length === 0 && <p className="text-muted">No metrics in this range.</p>}
      {data && (
        <MetricCharts
          of={name}
          metrics={data.series}
          times={times}
          span={[range.begin, range.end]}
          onZoom={range.zoom}
          {...(happened && { marks: happened.marks, bands: happened.bands })}
        />
      )}
      {data && data.series.length > 0 && happened && <MarkList {...happened} />}
      {data && data.series.length > 0 && (
        <p className="mt-3 text-[13px] text-muted">
          {data.sources.map(one => (
            <span key={one.source} className="mr-3">
              Measured by the {one.source === 'bmc' ? 'controller' : one.source}
              {one.last_at && (
                <>
                  , last <RelativeTime at={one.last_at} />
                </>
              )}
              .
            </span>
          ))}
          Drag to zoom in. Gaps are times when nothing was measured.
          {happened && happened.bands.length > 0 && ' Shaded areas are incidents.'}
        </p>
      )}
    </Card>
  )
}

function timesOf(data: ServerMetricsView | undefined): number[] {
  if (!data) return []
  const from = new Date(data.from_at).getTime()
  return Array.from({ length: data.series[0]?.avg.length ?? 0 }, (_, at) => from + at * data.step_seconds * 1000)
}
