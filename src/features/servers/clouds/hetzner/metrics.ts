import { isObject } from '../../../../dns/octets'
import type { HetznerApi } from '../../../../vendors/hetzner'
import { CloudError, type CloudMetric, type CloudSeries } from '../cloud'

const metrics: Readonly<Record<string, CloudMetric>> = {
  cpu: 'cpu.used_percent',
  'disk.0.bandwidth.read': 'disk.read_bytes_per_second',
  'disk.0.bandwidth.write': 'disk.write_bytes_per_second',
  'disk.0.iops.read': 'disk.read_operations_per_second',
  'disk.0.iops.write': 'disk.write_operations_per_second',
  'network.0.bandwidth.in': 'network.received_bytes_per_second',
  'network.0.bandwidth.out': 'network.sent_bytes_per_second',
  'network.0.pps.in': 'network.received_packets_per_second',
  'network.0.pps.out': 'network.sent_packets_per_second',
}

/** Reads metrics, which the API keeps for 30 days. @throws CloudError */
export async function readMetrics(
  api: HetznerApi,
  ref: string,
  cores: number,
  from: number,
  until: number,
  stepSeconds: number,
): Promise<CloudSeries[]> {
  const query = new URLSearchParams([
    ...['cpu', 'disk', 'network'].map(type => ['type', type] as [string, string]),
    ['start', new Date(from).toISOString()],
    ['end', new Date(until).toISOString()],
    ['step', String(stepSeconds)],
  ])
  const { metrics: found } = await api.get(`/servers/${encodeURIComponent(ref)}/metrics?${query}`)
  if (!isObject(found) || !isObject(found.time_series))
    throw new CloudError('invalid_response', 'The response of Hetzner has no time series.')
  return Object.entries(found.time_series).flatMap(([name, series]) => {
    const metric = Object.hasOwn(metrics, name) ? metrics[name]! : null
    if (metric === null || !isObject(series) || !Array.isArray(series.values)) return []
    // Each core counts up to 100 percent.
    const factor = metric === 'cpu.used_percent' ? 1 / cores : 1
    return [{ metric, points: series.values.flatMap((one: unknown) => pointOf(one, factor)) }]
  })
}

/** Parses a time in seconds and a value as text. Values that are not numbers are left out. */
function pointOf(point: unknown, factor: number): [number, number][] {
  if (!Array.isArray(point)) return []
  const [at, value] = [Number(point[0]) * 1000, Number(point[1]) * factor]
  return point[1] !== null && Number.isFinite(at) && Number.isFinite(value) ? [[at, value]] : []
}
