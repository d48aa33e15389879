/** Metrics of servers, and their units. The part before the dot is the type. */
export const metricUnits = {
  'cpu.used_percent': 'percent',
  'memory.used_bytes': 'bytes',
  'disk.read_bytes_per_second': 'bytes_per_second',
  'disk.write_bytes_per_second': 'bytes_per_second',
  'disk.read_operations_per_second': 'operations_per_second',
  'disk.write_operations_per_second': 'operations_per_second',
  'network.received_bytes_per_second': 'bytes_per_second',
  'network.sent_bytes_per_second': 'bytes_per_second',
  'network.received_packets_per_second': 'packets_per_second',
  'network.sent_packets_per_second': 'packets_per_second',
  'temperature.celsius': 'celsius',
  'fan.rpm': 'rpm',
  'power.watts': 'watts',
} as const

export type MetricName = keyof typeof metricUnits

export const metricTypes = ['cpu', 'memory', 'disk', 'network', 'temperature', 'fan', 'power'] as const
export type MetricType = (typeof metricTypes)[number]

/** Who measures: the cloud, or the controller of the server (BMC). */
export const metricSources = ['cloud', 'bmc'] as const
export type MetricSource = (typeof metricSources)[number]

/** How long after the last measurement of a source nothing is known from it. */
export const staleMs = 5 * 60_000

/** The subject under which the metrics of a server from a source are stored. */
export const subjectOf = (serverId: string, source: MetricSource): string => `${serverId} ${source}`

/** The column in which a metric of a device is stored. */
export const columnOf = (metric: MetricName, device: string | null): string =>
  device === null ? metric : `${metric} ${device.replaceAll(/\s+/g, ' ').trim().slice(0, 100)}`

/** The metric and device of a column; null for a metric that this version doesn't know. */
export function parseColumn(column: string): { name: MetricName; type: MetricType; device: string | null } | null {
  const [, name = '', device] = /^(\S+)(?: (.*))?$/.exec(column) ?? []
  if (!Object.hasOwn(metricUnits, name)) return null
  return { name: name as MetricName, type: name.split('.')[0] as MetricType, device: device ?? null }
}
