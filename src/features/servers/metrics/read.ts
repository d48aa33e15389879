import { and, eq, inArray, isNull } from 'drizzle-orm'
import { callAdapter } from '../../../adapters/call'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import type { Mean } from '../../../core/db/series/metric-row'
import { tiers } from '../../../core/db/series/metric-tiers'
import type { Hub } from '../../../core/hub'
import { Problem } from '../../../core/problem'
import { canAccess } from '../../../core/resource-access'
import { findRow } from '../../../core/rows'
import { openCloud } from '../accounts/open'
import { cloudAccounts } from '../accounts/tables'
import { partsOf } from '../agents/parts'
import { agentOf, agentsOf } from '../agents/rows'
import type { AgentFacts } from '../../../wire/agent'
import type { CloudSeries } from '../clouds/cloud'
import { attachmentsOf, firewallRows } from '../firewalls/view'
import { servers } from '../tables'
import { serverRows, type ServerRow } from '../view'
import { volumeRows } from '../volumes/rows'
import type { volumes } from '../volumes/tables'
import { Grid } from './grid'
import { metricSources, packetsSubject, staleMs, subjectOf, type MetricName, type MetricSource } from './names'
import type {
  FirewallMetricsQuery,
  LatestQuery,
  ServerLatestView,
  ServerMetricsQuery,
  ServerMetricsView,
  VolumeMetricsQuery,
} from './shapes'
import { mountOf, volumeColumns } from './of-volume'
import { windowOf, type Window } from './window'

type Source = ServerMetricsView['sources'][number]
type Series = ServerMetricsView['series'][number]

/** Metrics of a server on a regular grid. @throws Problem 404, 400 for an unsupported window or step, 424 */
export async function readMetrics(ctx: Ctx, id: string, query: ServerMetricsQuery): Promise<ServerMetricsView> {
  const server = await findRow(ctx.hub.read, ctx, serverRows, id)
  const window = windowOf(query, ctx.hub.clock.now())
  const wanted = query.source ?? 'auto'
  const all: Found[] = []
  for (const source of metricSources) {
    if (wanted !== 'auto' && wanted !== source) continue
    const isEnough = all.some(one => one.series.length > 0)
    const found = await (source === 'cloud'
      ? fromCloud(ctx.hub, server, window, query).catch(error => ignoreIf(isEnough, error))
      : stored(ctx.hub, server, source, window, query))
    if (found) all.push(found)
  }
  return metricsView(window, all)
}

/** @param found the best source first: what it measures is left out of the others */
function metricsView(window: Window, found: readonly Found[]): ServerMetricsView {
  const series: Series[] = []
  for (const { series: some } of found) series.push(...some.filter(one => !series.some(better => isMeasuredBy(better, one))))
  return {
    from_at: instant(window.from),
    to_at: instant(window.to),
    step_seconds: window.stepMs / 1000,
    sources: found.map(one => one.source),
    series: series.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
  }
}

// They are read every 5 minutes.
const volumeStaleMs = 15 * 60_000

/**
 * What the agent of the server that a volume is attached to measured of it, and what its cloud reported, on a regular grid.
 * @throws Problem 404, 400 for an unsupported window or step
 */
export async function readVolumeMetrics(ctx: Ctx, id: string, query: VolumeMetricsQuery): Promise<ServerMetricsView> {
  const volume = await findRow(ctx.hub.read, ctx, volumeRows, id)
  const window = windowOf(query, ctx.hub.clock.now())
  const found = [
    await fromAgentOf(ctx, volume, window),
    await stored(ctx.hub, volume, 'cloud', window, {}, volumeStaleMs),
  ].filter(one => one !== null)
  return metricsView(window, found)
}

/** What the agent of a server measured of a volume that is attached to it; null if that is unknown, or the caller can’t access the server. */
async function fromAgentOf(
  ctx: Ctx,
  { serverId, device, mountPath }: Pick<typeof volumes.$inferSelect, 'serverId' | 'device' | 'mountPath'>,
  window: Window,
): Promise<Found | null> {
  const { hub } = ctx
  const agent = serverId === null || !canAccess(ctx, serverId) ? undefined : await agentOf(hub.read, serverId)
  const { mounts } = (agent && (await partsOf(hub.read, [agent.id])).get(agent.id)) ?? {}
  const mount = mountOf({ device, mountPath }, mounts ?? [])
  return agent && mount ? await stored(hub, { id: agent.serverId }, 'agent', window, {}, staleMs, volumeColumns(mount)) : null
}

/** How many servers of a firewall are read at once. */
const maxHosts = 20

/** Packets that a firewall accepted and dropped on servers whose agents enforce it. @throws Problem 404, 400 for an unsupported window or step */
export async function readFirewallMetrics(ctx: Ctx, id: string, query: FirewallMetricsQuery): Promise<ServerMetricsView> {
  await findRow(ctx.hub.read, ctx, firewallRows, id)
  const window = windowOf(query, ctx.hub.clock.now())
  const hosts = (await attachmentsOf(ctx.hub.read, [id]))
    .map(one => one.attachment)
    .filter(
      ({ accountId, serverId }) => accountId === null && (query.server_id ?? serverId) === serverId && canAccess(ctx, serverId),
    )
    .slice(0, maxHosts)
  const { metrics } = ctx.hub.series
  const series: Series[] = []
  let lastAt: number | null = null
  for (const { serverId } of hosts) {
    const subject = packetsSubject(id, serverId)
    const grid = new Grid(window, 'agent', {})
    await metrics.readColumns(subject, window.tier, window.from, window.to, column => grid.columnOf(column), grid.take)
    series.push(...grid.series())
    lastAt = Math.max(lastAt ?? 0, (await metrics.lastAt(subject)) ?? 0) || null
  }
  return metricsView(window, lastAt === null ? [] : [{ source: sourceView(ctx.hub, 'agent', lastAt), series }])
}

const keyOf = ({ name, device }: Series): string => `${name} ${device ?? ''}`

/** Whether a series of a better source has what another one has: the same device, or the parts of the whole server. */
const isMeasuredBy = (better: Series, one: Series): boolean =>
  better.source !== one.source && better.name === one.name && (better.device === one.device || one.device === null)

/** The metrics of a better source are returned even if the cloud can’t be reached. */
function ignoreIf(isEnough: boolean, error: unknown): null {
  if (isEnough && error instanceof Problem && error.code === 'provider_failed') return null
  throw error
}

interface Found {
  source: Source
  series: Series[]
}

/** What was stored from a source; null if nothing was. @param renamed only these columns, with other names */
async function stored(
  hub: Hub,
  { id }: { id: string },
  source: MetricSource,
  window: Window,
  query: ServerMetricsQuery,
  staleAfterMs = staleMs,
  renamed: ReadonlyMap<string, MetricName> | null = null,
): Promise<Found | null> {
  const subject = subjectOf(id, source)
  const grid = new Grid(window, source, query)
  const { metrics } = hub.series
  const columnOf = (column: string) => {
    const name = renamed === null ? column : renamed.get(column)
    return name === undefined ? null : grid.columnOf(name)
  }
  await metrics.readColumns(subject, window.tier, window.from, window.to, columnOf, grid.take)
  const series = grid.series()
  const lastAt = await metrics.lastAt(subject)
  if (lastAt === null && series.length === 0) return null
  return { source: sourceView(hub, source, lastAt, staleAfterMs), series }
}

const sourceView = (hub: Hub, source: MetricSource, lastAt: number | null, staleAfterMs = staleMs): Source => ({
  source,
  last_at: instant(lastAt),
  stale: lastAt === null || hub.clock.now() - lastAt > staleAfterMs,
})

/** What the cloud reported, or keeps itself. */
async function fromCloud(hub: Hub, server: ServerRow, window: Window, query: ServerMetricsQuery): Promise<Found | null> {
  const kept = await keptByCloud(hub, server, window)
  if (kept === null) return await stored(hub, server, 'cloud', window, query)
  const grid = new Grid(window, 'cloud', query)
  let lastAt: number | null = null
  for (const { metric, points } of kept) {
    const column = grid.columnOf(metric)
    for (const [at, value] of points) {
      if (column !== null) grid.take(column, at, value, value, 1)
      lastAt = Math.max(lastAt ?? 0, at)
    }
  }
  const { source, ...view } = sourceView(hub, 'cloud', lastAt)
  // Points of a long step are old by themselves.
  const stale = lastAt === null || hub.clock.now() - lastAt > staleMs + window.stepMs
  return { source: { source, ...view, stale }, series: grid.series() }
}

const cacheMs = 60_000
const maxCached = 200
const caches = new WeakMap<Hub, Map<string, { at: number; series: Promise<CloudSeries[]> }>>()

/** What the cloud of a server keeps, read at most once a minute; null if it keeps nothing. */
async function keptByCloud(hub: Hub, server: ServerRow, { from, points, stepMs }: Window): Promise<CloudSeries[] | null> {
  const { id, accountId, providerRef, cloud: seen } = server
  if (accountId === null || providerRef === null || seen === null || server.status === 'missing') return null
  const [account] = await hub.read.select().from(cloudAccounts).where(eq(cloudAccounts.id, accountId))
  return await callAdapter(async () => {
    const cloud = account && (await openCloud(hub, account, true))
    if (!cloud?.metricsOf) return null
    const now = hub.clock.now()
    const cached = caches.get(hub) ?? new Map<string, { at: number; series: Promise<CloudSeries[]> }>()
    caches.set(hub, cached)
    for (const [key, one] of cached) if (one.at <= now - cacheMs || cached.size > maxCached) cached.delete(key)
    const key = [id, from, points, stepMs].join(' ')
    const known = cached.get(key)
    if (known) return await known.series
    const series = cloud.metricsOf(providerRef, seen.resources.cores ?? 1, from, from + points * stepMs, stepMs / 1000)
    cached.set(key, { at: now, series })
    series.catch(() => cached.delete(key))
    return await series
  })
}

const [minute, tenMinutes] = tiers
const hourMs = 3_600_000

/** What servers use now, for rows of a list. */
export async function readLatest(ctx: Ctx, { ids }: LatestQuery): Promise<{ data: ServerLatestView[] }> {
  const { hub } = ctx
  const rows = await hub.read
    .select({ id: servers.id, cloud: servers.cloud })
    .from(servers)
    .where(and(eq(servers.workspaceId, ctx.workspaceId), inArray(servers.id, ids), isNull(servers.deletedAt)))
  const known = await agentsOf(hub.read, rows)
  const now = hub.clock.now()
  const subjects = rows.flatMap(row => listedSources.map(source => subjectOf(row.id, source)))
  const { metrics } = hub.series
  const latest = await metrics.summaries(subjects, minute, now - staleMs, now)
  const hour = await metrics.summaries(subjects, tenMinutes, now - hourMs, now)
  const found = new Map<string, ServerLatestView>()
  for (const { id, cloud } of rows) {
    const own = listedSources.map(source => subjectOf(id, source))
    const times = own.flatMap(subject => latest.get(subject)?.at ?? [])
    const value = (name: MetricName, from = latest) => {
      for (const subject of own) {
        const sum = wholeServer(from.get(subject)?.columns, name)
        if (sum !== null) return Number(sum.toPrecision(5))
      }
      return null
    }
    const used = value('memory.used_bytes')
    const size = memorySizeOf(known.get(id)?.facts, cloud)
    found.set(id, {
      id,
      at: times.length === 0 ? null : instant(Math.max(...times)),
      cpu_percent: value('cpu.used_percent'),
      cpu_last_hour_percent: value('cpu.used_percent', hour),
      load: value('load.1'),
      load_last_hour: value('load.1', hour),
      memory_used_bytes: used,
      memory_used_percent: used === null || size === null ? null : Number(Math.min((used / size) * 100, 100).toPrecision(5)),
      ...fullest(own.map(subject => latest.get(subject)?.columns)),
      network_received_bytes_per_second: value('network.received_bytes_per_second'),
      network_sent_bytes_per_second: value('network.sent_bytes_per_second'),
    })
  }
  return { data: ids.flatMap(id => found.get(id) ?? []) }
}

/** How full the fullest file system is, and where it is mounted. @param columns of the sources, the best one first */
function fullest(
  columns: readonly (ReadonlyMap<string, Mean> | undefined)[],
): Pick<ServerLatestView, 'disk_used_percent' | 'disk_path'> {
  const shares = columns
    .flatMap(fileSystemUse)
    .map(({ path, used, size }) => ({ path, percent: Math.min((100 * used) / size, 100) }))
  const most = shares.reduce<(typeof shares)[number] | null>(
    (best, one) => (best && best.percent >= one.percent ? best : one),
    null,
  )
  return { disk_used_percent: most && Number(most.percent.toPrecision(5)), disk_path: most?.path ?? null }
}

interface FileSystemUse {
  /** Where it is mounted. */
  path: string
  /** In bytes. Used and available space together are the size, or less if a part of it is reserved for root. */
  used: number
  size: number
}

/** How full file systems are, according to the last minute. The share of the used space is the same as in `df`. */
export function fileSystemUse(columns: ReadonlyMap<string, Mean> | undefined): FileSystemUse[] {
  const prefix = 'filesystem.used_bytes '
  return [...(columns ?? [])].flatMap(([column, { last: used }]) => {
    if (!column.startsWith(prefix)) return []
    const path = column.slice(prefix.length)
    const available = columns!.get(`filesystem.available_bytes ${path}`)?.last
    // Clouds, and agents of earlier versions, report only the size.
    const size = available === undefined ? (columns!.get(`filesystem.size_bytes ${path}`)?.last ?? 0) : used + available
    return size > 0 ? [{ path, used, size }] : []
  })
}

/** The memory of a server in bytes, as its system sees it if that is known; null if nothing is known. */
export const memorySizeOf = (
  facts: Pick<AgentFacts, 'memory_bytes'> | null | undefined,
  cloud: ServerRow['cloud'],
): number | null => facts?.memory_bytes ?? cloud?.resources.memoryBytes ?? null

export const listedSources = ['agent', 'cloud'] as const satisfies MetricSource[]

/** The average of a metric of the whole server: the sum over its devices, if only those were measured. Null if nothing was. */
export function wholeServer(columns: ReadonlyMap<string, Mean> | undefined, name: MetricName): number | null {
  const whole = columns?.get(name)
  if (!columns || whole) return whole?.avg ?? null
  const parts = [...columns].filter(([column]) => column.startsWith(`${name} `))
  return parts.length === 0 ? null : parts.reduce((sum, [, mean]) => sum + mean.avg, 0)
}
