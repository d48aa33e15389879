import { Suspense, useMemo } from 'react'
import type { ServerMetricsView } from '../../../features/servers/metrics/shapes'
import { lazyComponent } from '../../lazy'
import { formatBytes } from '../../parts/bytes'
import type { Series } from '../../parts/chart'
import { Card } from '../../parts/page'
import { Problem } from '../../parts/problem'
import { capitalize } from '../../parts/status'
import { formatDateTime, RelativeTime } from '../../parts/time'
import { hourMs, useTimeRange, type TimeRange } from '../../parts/time-range'
import { useOne } from '../../queries'
import { formatGibibytes } from './amounts'

const Chart = lazyComponent(() => import('../../parts/chart'))

type Metric = ServerMetricsView['series'][number]

const ranges = [
  ['1h', '1 h', hourMs],
  ['24h', '24 h', 24 * hourMs],
  ['7d', '7 d', 7 * 24 * hourMs],
  ['30d', '30 d', 30 * 24 * hourMs],
  ['1y', '1 y', 365 * 24 * hourMs],
] as const
const height = 160

const plain = (value: number) => value.toLocaleString(undefined, { maximumFractionDigits: 1 })

/** Charts in their order: metrics of a type with the same unit share one. */
const charts: { title: string; type: string; unit: Metric['unit']; name?: string; format(value: number): string }[] = [
  { title: 'CPU', type: 'cpu', unit: 'percent', format: value => `${plain(value)}%` },
  { title: 'Load average', type: 'load', unit: 'load', format: plain },
  { title: 'Pressure', type: 'pressure', unit: 'percent', format: value => `${plain(value)}%` },
  { title: 'Memory', type: 'memory', unit: 'bytes', format: formatGibibytes },
  { title: 'Swap', type: 'swap', unit: 'bytes', format: formatGibibytes },
  { title: 'File systems', type: 'filesystem', unit: 'bytes', name: 'filesystem.used_bytes', format: formatGibibytes },
  { title: 'Inodes', type: 'filesystem', unit: 'percent', format: value => `${plain(value)}%` },
  { title: 'Space', type: 'volume', unit: 'bytes', format: formatGibibytes },
  { title: 'Network', type: 'network', unit: 'bytes_per_second', format: value => `${formatBytes(value)}/s` },
  { title: 'Disk', type: 'disk', unit: 'bytes_per_second', format: value => `${formatBytes(value)}/s` },
  { title: 'Packets', type: 'network', unit: 'packets_per_second', format: value => `${plain(value)}/s` },
  { title: 'Disk operations', type: 'disk', unit: 'operations_per_second', format: value => `${plain(value)}/s` },
  { title: 'Disk utilization', type: 'disk', unit: 'percent', format: value => `${plain(value)}%` },
  { title: 'Swap activity', type: 'swap', unit: 'bytes_per_second', format: value => `${formatBytes(value)}/s` },
  { title: 'TCP connections', type: 'tcp', unit: 'count', format: plain },
  { title: 'Processes', type: 'processes', unit: 'count', format: plain },
  { title: 'CPU of containers', type: 'container', unit: 'percent', format: value => `${plain(value)}%` },
  { title: 'Memory of containers', type: 'container', unit: 'bytes', format: formatGibibytes },
  { title: 'Network of containers', type: 'container', unit: 'bytes_per_second', format: value => `${formatBytes(value)}/s` },
  { title: 'Temperature', type: 'temperature', unit: 'celsius', format: value => `${plain(value)} °C` },
  { title: 'Fans', type: 'fan', unit: 'rpm', format: value => `${plain(value)} rpm` },
  { title: 'Power consumption', type: 'power', unit: 'watts', format: value => `${plain(value)} W` },
]

/** A chart for each metric that this version doesn’t know, since the agent is newer. */
const chartsOfOthers = (series: readonly Metric[]): typeof charts => {
  const known = new Set(charts.map(one => one.type))
  const names = new Map(series.filter(one => !known.has(one.name.split('.')[0]!)).map(one => [one.name, one.unit]))
  return [...names].map(([name, unit]) => ({ title: name, type: name.split('.')[0]!, unit, name, format: plain }))
}

/** Charts of what a server uses. */
export const ServerMetrics = ({ id, name }: { id: string; name: string }) => (
  <ResourceMetrics
    path={`/servers/${id}/metrics`}
    name={name}
    empty="No metrics yet. Agents, most clouds, and Redfish controllers report metrics of running servers."
  />
)

/** Charts of the metrics of a server or volume, over a range that can be picked or zoomed. */
export function ResourceMetrics({ path, name, empty }: { path: string; name: string; empty: string }) {
  const range = useTimeRange(ranges, '24h')
  const found = useOne<ServerMetricsView>(path, range.query, {
    refetchMs: 60_000,
    keepPrevious: true,
  })
  const { data } = found
  const times = useMemo(() => timesOf(data), [data])
  return (
    <Card title="Metrics" actions={range.picker}>
      {found.error && !data && <Problem error={found.error} onRetry={() => void found.refetch()} />}
      {data?.sources.length === 0 && <p className="text-muted">{empty}</p>}
      {data && data.sources.length > 0 && data.series.length === 0 && <p className="text-muted">No metrics in this range.</p>}
      {data && (
        <div className="grid gap-x-4 gap-y-5 xl:grid-cols-2">
          {[...charts, ...chartsOfOthers(data.series)].map(({ title, type, unit, name: only, format }) => {
            const metrics = data.series.filter(
              one => one.name.startsWith(`${type}.`) && one.unit === unit && (only === undefined || one.name === only),
            )
            return metrics.length === 0 ? null : (
              <MetricChart key={title} {...{ title, server: name, format, metrics, times, range }} />
            )
          })}
        </div>
      )}
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
          Drag to zoom in.
        </p>
      )}
    </Card>
  )
}

interface MetricChartProps {
  title: string
  server: string
  format(value: number): string
  metrics: readonly Metric[]
  times: readonly number[]
  range: TimeRange
}

function MetricChart({ title, server, format, metrics, times, range: { begin, end, zoom } }: MetricChartProps) {
  const series = useMemo(() => seriesOf(metrics), [metrics])
  const last = metrics.length === 1 ? metrics[0]!.avg.findLast(one => one !== null) : undefined
  return (
    <section className="min-w-0">
      <div className="flex items-baseline justify-between gap-2">
        <h3 className="text-[13px] font-medium">{title}</h3>
        {last != null && <span className="text-[13px] text-muted">{format(last)}</span>}
      </div>
      <div className="min-h-48">
        <Suspense fallback={null}>
          <Chart
            label={`${title} of ${server} from ${formatDateTime(begin)} to ${formatDateTime(end)}`}
            times={times}
            series={series}
            span={[begin, end]}
            format={format}
            height={height}
            onZoom={zoom}
          />
        </Suspense>
      </div>
    </section>
  )
}

function timesOf(data: ServerMetricsView | undefined): number[] {
  if (!data) return []
  const from = new Date(data.from_at).getTime()
  return Array.from({ length: data.series[0]?.avg.length ?? 0 }, (_, at) => from + at * data.step_seconds * 1000)
}

const colors = ['--accent', '--ok-mark', '--warn-mark', '--bad-mark', '--idle-mark', '--ink', '--strong-line']

/** The average and maximum of a single metric; the averages of several. */
function seriesOf(metrics: readonly Metric[]): Series[] {
  const [first] = metrics
  if (metrics.length === 1 && first)
    return [
      { label: first.device ?? 'Average', color: colors[0]!, values: first.avg },
      { label: 'Maximum', color: '--idle-mark', values: first.max, dashed: true },
    ]
  const hasSeveralNames = metrics.some(one => one.name !== first?.name)
  return metrics.map((one, at) => ({ label: labelOf(one, hasSeveralNames), color: colors[at % colors.length]!, values: one.avg }))
}

/** “Received”, the device, or both. */
function labelOf({ name, device }: Metric, hasSeveralNames: boolean): string {
  const word = capitalize(
    name
      .split('.')[1]!
      .replace(/_(?:percent|bytes|bytes_per_second|operations_per_second|packets_per_second|per_second)$/, '')
      .replaceAll('_', ' '),
  )
  return device === null ? word : hasSeveralNames ? `${device}: ${word.toLowerCase()}` : device
}
