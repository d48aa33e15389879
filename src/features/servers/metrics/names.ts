/** Metrics of servers and volumes, and their units. The part before the dot is the type. */
export const metricUnits = {
  'cpu.used_percent': 'percent',
  'cpu.user_percent': 'percent',
  'cpu.system_percent': 'percent',
  'cpu.iowait_percent': 'percent',
  'cpu.steal_percent': 'percent',
  'load.1': 'load',
  'load.5': 'load',
  'load.15': 'load',
  'pressure.cpu_some_percent': 'percent',
  'pressure.memory_some_percent': 'percent',
  'pressure.memory_full_percent': 'percent',
  'pressure.io_some_percent': 'percent',
  'pressure.io_full_percent': 'percent',
  'memory.used_bytes': 'bytes',
  'memory.available_bytes': 'bytes',
  'memory.cached_bytes': 'bytes',
  'memory.arc_bytes': 'bytes',
  'swap.used_bytes': 'bytes',
  'swap.size_bytes': 'bytes',
  'swap.in_bytes_per_second': 'bytes_per_second',
  'swap.out_bytes_per_second': 'bytes_per_second',
  'filesystem.used_bytes': 'bytes',
  'filesystem.size_bytes': 'bytes',
  'filesystem.available_bytes': 'bytes',
  'filesystem.inodes_used_percent': 'percent',
  'disk.read_bytes_per_second': 'bytes_per_second',
  'disk.write_bytes_per_second': 'bytes_per_second',
  'disk.read_operations_per_second': 'operations_per_second',
  'disk.write_operations_per_second': 'operations_per_second',
  'disk.busy_percent': 'percent',
  'disk.wait_ms': 'ms',
  'network.received_bytes_per_second': 'bytes_per_second',
  'network.sent_bytes_per_second': 'bytes_per_second',
  'network.received_packets_per_second': 'packets_per_second',
  'network.sent_packets_per_second': 'packets_per_second',
  'network.errors_per_second': 'packets_per_second',
  'network.drops_per_second': 'packets_per_second',
  'tcp.established': 'count',
  'tcp.listening': 'count',
  'tcp.retransmits_per_second': 'packets_per_second',
  'processes.count': 'count',
  'processes.running': 'count',
  'processes.zombies': 'count',
  'files.open': 'count',
  'temperature.celsius': 'celsius',
  'fan.rpm': 'rpm',
  'power.watts': 'watts',
  'battery.percent': 'percent',
  'container.cpu_percent': 'percent',
  'container.memory_bytes': 'bytes',
  'container.network_received_bytes_per_second': 'bytes_per_second',
  'container.network_sent_bytes_per_second': 'bytes_per_second',
  'volume.used_bytes': 'bytes',
  'volume.size_bytes': 'bytes',
  'volume.inodes_used_percent': 'percent',
  'volume.read_bytes_per_second': 'bytes_per_second',
  'volume.write_bytes_per_second': 'bytes_per_second',
  'volume.read_operations_per_second': 'operations_per_second',
  'volume.write_operations_per_second': 'operations_per_second',
  'volume.busy_percent': 'percent',
  'volume.wait_ms': 'ms',
  'firewall.accepted_packets_per_second': 'packets_per_second',
  'firewall.dropped_packets_per_second': 'packets_per_second',
} as const

export type MetricName = keyof typeof metricUnits

const metricTypes = [
  ...(['cpu', 'load', 'pressure', 'memory', 'swap', 'filesystem', 'disk', 'network', 'tcp', 'processes', 'files'] as const),
  ...(['temperature', 'fan', 'power', 'battery', 'container', 'volume', 'firewall'] as const),
] as const
/** The types of metrics that servers have. */
export const serverMetricTypes = metricTypes.filter(one => one !== 'volume' && one !== 'firewall')

/** Who measures: the agent of the server, its cloud, or its controller (BMC). The best source is first. */
export const metricSources = ['agent', 'cloud', 'bmc'] as const
export type MetricSource = (typeof metricSources)[number]

/** How long after the last measurement of a source nothing is known from it. */
export const staleMs = 5 * 60_000

/** The subject under which the metrics of a server or volume from a source are stored. */
export const subjectOf = (id: string, source: MetricSource): string => `${id} ${source}`

/** The subject under which the metrics of a firewall on a server with an agent are stored. */
export const packetsSubject = (firewallId: string, serverId: string): string => `${subjectOf(firewallId, 'agent')} ${serverId}`

/** The column in which a metric of a device is stored. @param metric without white space */
export const columnOf = (metric: string, device: string | null): string =>
  device === null ? metric : `${metric} ${device.replaceAll(/\s+/g, ' ').trim().slice(0, 100)}`

/** The metric and device of a column. The metrics of newer agents may be ones that this version doesn’t know. */
export function parseColumn(column: string): { name: string; type: string; device: string | null } {
  const [, name = '', device] = /^(\S+)(?: (.*))?$/.exec(column) ?? []
  return { name, type: name.split('.')[0]!, device: device ?? null }
}

type MetricUnit = (typeof metricUnits)[MetricName] | 'other'

/** The units of metrics. `other`: the metric is not known, and its name ends with no known unit. */
export const units: readonly MetricUnit[] = [...new Set(Object.values(metricUnits)), 'other']
// `bytes_per_second` before `bytes`.
const longestFirst = units.toSorted((a, b) => b.length - a.length)

/** The unit of a metric. */
export const unitOf = (name: string): MetricUnit =>
  isKnown(name)
    ? metricUnits[name]
    : (longestFirst.find(unit => name.endsWith(`_${unit}`) || name.endsWith(`.${unit}`)) ?? 'other')

const isKnown = (name: string): name is MetricName => Object.hasOwn(metricUnits, name)

/** Whether a metric, as agents name it with its device, can’t be negative. */
export const isNeverNegative = (column: string): boolean => !['celsius', 'other'].includes(unitOf(column.split(':')[0]!))
