import { and, eq, inArray, isNull } from 'drizzle-orm'
import { usageKey } from '../../checks/conditions/values'
import type { ServerUsage } from '../../checks/check'
import { tiers } from '../../core/db/series/metric-tiers'
import { forShare } from '../../core/db/dialect'
import type { Mean } from '../../core/db/series/metric-row'
import type { Reader } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { ServerStates } from '../monitors/server-states'
import { notServedBy } from './certificates/certificates'
import { partsOf } from './agents/parts'
import { agentsOf, type AgentRow } from './agents/rows'
import { signsOf } from './agents/signs'
import { hoursLeftOf } from './metrics/hours-left'
import { metricSources, parseColumn, staleMs, subjectOf, type MetricName } from './metrics/names'
import { fileSystemUse, listedSources, memorySizeOf, wholeServer } from './metrics/read'
import { partUsage } from './part-usage'
import { servers, serverTransitions } from './tables'

/** What monitors of the type `server` follow. */
export const serverStates: ServerStates = {
  async nameOf(read, workspaceId, id, lock) {
    const query = read
      .select({ name: servers.name })
      .from(servers)
      .where(and(eq(servers.id, id), eq(servers.workspaceId, workspaceId), isNull(servers.deletedAt)))
    const [row] = await (lock ? forShare(query) : query)
    return row?.name ?? null
  },
  async healthsOf(read, ids) {
    if (ids.length === 0) return new Map()
    const { id, workspaceId, health, healthReason: reason } = servers
    const rows = await read
      .select({ id, workspaceId, health, reason })
      .from(servers)
      .where(and(inArray(id, [...ids]), isNull(servers.deletedAt)))
    const down = rows.flatMap(row => (row.health === 'down' ? [row.id] : []))
    const expected = await switchedOff(read, down)
    return new Map(rows.map(row => [row.id, expected.has(row.id) ? { ...row, health: 'unknown' as const } : row]))
  },
  signsOf,
  usageOf,
}

/** Servers that are down because they were switched off here, and whose agents don’t count as silent yet. */
async function switchedOff(read: Reader, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const signs = await signsOf(read, ids)
  const stopped = ids.filter(id => signs.get(id)?.state === 'stopped')
  if (stopped.length === 0) return new Set()
  const { at, field, source, serverId } = serverTransitions
  const rows = await read
    .select({ id: servers.id })
    .from(servers)
    .innerJoin(
      serverTransitions,
      and(eq(serverId, servers.id), eq(at, servers.healthSince), eq(field, 'health'), eq(source, 'action')),
    )
    .where(inArray(servers.id, stopped))
  return new Set(rows.map(row => row.id))
}

const [minutes] = tiers

/** The metrics that usage is computed from. */
const used: ReadonlySet<string> = new Set<MetricName>([
  ...(['cpu.used_percent', 'memory.used_bytes', 'swap.used_bytes', 'swap.size_bytes', 'load.1'] as const),
  ...(['filesystem.used_bytes', 'filesystem.size_bytes', 'filesystem.available_bytes'] as const),
  'filesystem.inodes_used_percent',
  ...(['pressure.io_full_percent', 'temperature.celsius'] as const),
])
const isUsed = (column: string): boolean => used.has(column.split(' ', 1)[0]!)

/** Averages of the last minutes with the highest value of all devices, and what agents reported that still do. */
async function usageOf(hub: Hub, ids: readonly string[], filling: ReadonlySet<string>): Promise<Map<string, ServerUsage>> {
  const now = hub.clock.now()
  const subjects = ids.flatMap(id => metricSources.map(source => subjectOf(id, source)))
  const found = await hub.series.metrics.summaries(subjects, minutes, now - staleMs, now, isUsed)
  const rows = await hub.read
    .select({ id: servers.id, cloud: servers.cloud })
    .from(servers)
    .where(inArray(servers.id, [...ids]))
  const known = await agentsOf(hub.read, rows)
  const reporting = [...known.values()].filter(one => one.state === 'reporting')
  const parts = await partsOf(
    hub.read,
    reporting.map(one => one.id),
  )
  const notServed = await notServedBy(hub.read, reporting)
  const left = new Map<string, ReadonlyMap<string, number>>()
  for (const { id } of rows) if (filling.has(id) && known.has(id)) left.set(id, await hoursLeftOf(hub, id))
  const columnsOf = (id: string, source: (typeof metricSources)[number]) => found.get(subjectOf(id, source))?.columns
  return new Map(
    rows.map(({ id, cloud }) => {
      const agent = known.get(id)
      const facts = agent?.facts
      const value = (name: MetricName) => {
        for (const source of listedSources) {
          const sum = wholeServer(columnsOf(id, source), name)
          if (sum !== null) return sum
        }
        return null
      }
      const devices = (name: MetricName) => metricSources.flatMap(source => devicesOf(columnsOf(id, source), name))
      const disks = metricSources.flatMap(source => fileSystemUse(columnsOf(id, source)))
      const cores = facts?.cores ?? cloud?.resources.cores ?? null
      return [
        id,
        {
          ...(agent?.state === 'reporting' && clockUsage(agent)),
          ...(agent?.state === 'reporting' && partUsage(parts.get(agent.id) ?? {}, agent.facts, notServed.get(agent.id))),
          ...usageFrom({
            CPU_PERCENT: [[null, value('cpu.used_percent')]],
            MEMORY_PERCENT: [[null, percent(value('memory.used_bytes'), memorySizeOf(facts, cloud))]],
            // Without swap space, none is full.
            SWAP_PERCENT: [
              [null, value('swap.size_bytes') === 0 ? 0 : percent(value('swap.used_bytes'), value('swap.size_bytes'))],
            ],
            LOAD_PER_CORE: [[null, ratio(value('load.1'), cores)]],
            DISK_PERCENT: disks.map(({ path, used, size }) => [path, percent(used, size)]),
            DISK_HOURS_LEFT: disks.map(({ path }) => [path, left.get(id)?.get(path) ?? null]),
            INODES_PERCENT: devices('filesystem.inodes_used_percent'),
            IO_FULL_PERCENT: [[null, value('pressure.io_full_percent')]],
            TEMPERATURE: devices('temperature.celsius'),
          }),
        },
      ]
    }),
  )
}

/** By how much the clock of a server is wrong, in either direction (ms). */
const clockUsage = ({ clockOffsetMs }: Pick<AgentRow, 'clockOffsetMs'>): ServerUsage =>
  clockOffsetMs === null ? {} : { CLOCK_OFFSET: Math.abs(clockOffsetMs) }

/** The values of a metric by device. */
const devicesOf = (columns: ReadonlyMap<string, Mean> | undefined, name: MetricName): [device: string, value: number][] =>
  [...(columns ?? [])].flatMap(([column, mean]) => {
    const parsed = parseColumn(column)
    return parsed.name === name && parsed.device !== null ? [[parsed.device, mean.avg] as [string, number]] : []
  })

const ratio = (part: number | null, whole: number | null | undefined): number | null =>
  part === null || whole == null || whole <= 0 ? null : part / whole

function percent(part: number | null, whole: number | null | undefined): number | null {
  const share = ratio(part, whole)
  return share === null ? null : Math.min(100 * share, 100)
}

/** Sources whose lowest value of all devices is the worst one. */
const lowest = ['DISK_HOURS_LEFT']

/** The values that are known, each for its device, and the worst one of all devices with the name of its device. */
function usageFrom(found: Readonly<Record<string, readonly (readonly [string | null, number | null])[]>>): ServerUsage {
  const usage: Record<string, ServerUsage[string]> = {}
  for (const [source, values] of Object.entries(found))
    for (const [device, value] of values) {
      if (value === null) continue
      const shown = Number(value.toPrecision(5))
      if (device !== null) usage[usageKey(source, device)] = shown
      const worst = usage[source]
      if (typeof worst === 'number' && (lowest.includes(source) ? worst <= shown : worst >= shown)) continue
      usage[source] = shown
      if (device !== null) usage[`${source} names`] = device
    }
  return usage
}
