import { Suspense, useMemo } from 'react'
import type { ServerMetricsView } from '../../../features/servers/metrics/shapes'
import { lazyComponent } from '../../lazy'
import { formatBytes } from '../../parts/bytes'
import type { Band, Mark, Series } from '../../parts/chart'
import { capitalize } from '../../parts/status'
import { formatDateTime } from '../../parts/time'
import { formatGibibytes } from './amounts'

const Chart = lazyComponent(() => import('../../parts/chart'))

/** A metric with a value for each time. `max` is empty if the values are single measurements. */
export type Metric = ServerMetricsView['series'][number]

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
  {
    title: 'Inodes of the volume',
    type: 'volume',
    unit: 'percent',
    name: 'volume.inodes_used_percent',
    format: value => `${plain(value)}%`,
  },
  { title: 'Throughput', type: 'volume', unit: 'bytes_per_second', format: value => `${formatBytes(value)}/s` },
  { title: 'Operations', type: 'volume', unit: 'operations_per_second', format: value => `${plain(value)}/s` },
  { title: 'Utilization', type: 'volume', unit: 'percent', name: 'volume.busy_percent', format: value => `${plain(value)}%` },
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

interface MetricChartsProps {
  /** Name of the server, volume, or firewall. */
  of: string
  metrics: readonly Metric[]
  /** Milliseconds since the epoch. */
  times: readonly number[]
  span: readonly [from: number, to: number]
  /** The values in charts of several metrics. Charts of one show both. */
  shown?: 'avg' | 'max'
  /** What happened meanwhile. */
  marks?: readonly Mark[]
  bands?: readonly Band[]
  /** Called with the range that was selected in a chart. */
  onZoom?(from: number, to: number): void
}

/** A chart for each type and unit of metrics. */
export const MetricCharts = ({ metrics, ...rest }: MetricChartsProps) => (
  <div className="grid gap-x-4 gap-y-5 xl:grid-cols-2">
    {[...charts, ...chartsOfOthers(metrics)].map(({ title, type, unit, name: only, format }) => {
      const own = metrics.filter(
        one => one.name.startsWith(`${type}.`) && one.unit === unit && (only === undefined || one.name === only),
      )
      return own.length === 0 ? null : <MetricChart key={title} {...{ ...rest, title, format, metrics: own }} />
    })}
  </div>
)

interface MetricChartProps extends MetricChartsProps {
  title: string
  format(value: number): string
}

function MetricChart({ title, of, format, metrics, shown = 'avg', span, ...rest }: MetricChartProps) {
  const series = useMemo(() => seriesOf(metrics, shown), [metrics, shown])
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
            label={`${title} of ${of} from ${formatDateTime(span[0])} to ${formatDateTime(span[1])}`}
            {...rest}
            series={series}
            span={span}
            format={format}
            height={height}
          />
        </Suspense>
      </div>
    </section>
  )
}

const colors = ['--accent', '--ok-mark', '--warn-mark', '--bad-mark', '--idle-mark', '--ink', '--strong-line']

/** The average and maximum of a single metric, and one of them of several. */
function seriesOf(metrics: readonly Metric[], shown: 'avg' | 'max'): Series[] {
  const [first] = metrics
  if (metrics.length === 1 && first)
    return [
      { label: first.device ?? (first.max.length > 0 ? 'Average' : 'Value'), color: colors[0]!, values: first.avg },
      ...(first.max.length > 0 ? [{ label: 'Maximum', color: '--idle-mark', values: first.max, dashed: true }] : []),
    ]
  const hasSeveralNames = metrics.some(one => one.name !== first?.name)
  return metrics.map((one, at) => ({
    label: labelOf(one, hasSeveralNames),
    color: colors[at % colors.length]!,
    values: one[shown],
  }))
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
