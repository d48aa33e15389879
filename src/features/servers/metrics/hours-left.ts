import { tiers } from '../../../core/db/series/metric-tiers'
import type { Hub } from '../../../core/hub'
import { parseColumn, subjectOf } from './names'

const [, tenMinutes] = tiers
const hourMs = 3_600_000
const windowMs = 24 * hourMs
/** With less, the line would follow a single download. */
const leastMs = 6 * hourMs
/** File systems that have more hours left are not filling, as far as one can tell. */
export const mostHoursLeft = 8760

/** Use of a file system at a time. */
interface Point {
  at: number
  bytes: number
}

/**
 * Hours until a file system is full if it continues to fill as during these points, by the line with the least squares. Null if they
 * span less than six hours; at most a year, which also means that it isn't filling.
 */
export function hoursLeft(points: readonly Point[], sizeBytes: number): number | null {
  const [first, last] = [points[0], points.at(-1)]
  if (!first || !last || last.at - first.at < leastMs) return null
  const mean = (values: number[]) => values.reduce((sum, one) => sum + one, 0) / values.length
  const [at, bytes] = [mean(points.map(one => one.at)), mean(points.map(one => one.bytes))]
  const covariance = points.reduce((sum, one) => sum + (one.at - at) * (one.bytes - bytes), 0)
  const variance = points.reduce((sum, one) => sum + (one.at - at) ** 2, 0)
  const bytesPerHour = (covariance / variance) * hourMs
  const free = Math.max(0, sizeBytes - last.bytes)
  return bytesPerHour <= 0 ? mostHoursLeft : Math.min(mostHoursLeft, free / bytesPerHour)
}

const cacheMs = 600_000
const maxCached = 10_000
const caches = new WeakMap<Hub, Map<string, { at: number; found: ReadonlyMap<string, number> }>>()

/** Hours until each file system of a server is full, by its path. Computed again after ten minutes. */
export async function hoursLeftOf(hub: Hub, serverId: string): Promise<ReadonlyMap<string, number>> {
  const now = hub.clock.now()
  const cached = caches.get(hub) ?? new Map<string, { at: number; found: ReadonlyMap<string, number> }>()
  caches.set(hub, cached)
  const known = cached.get(serverId)
  if (known && now >= known.at && now < known.at + cacheMs) return known.found
  const used = new Map<string, Point[]>()
  const [sizes, available] = [new Map<string, number>(), new Map<string, number>()]
  const takerOf = (column: string): ((at: number, bytes: number) => void) | null => {
    if (!column.startsWith('filesystem.')) return null
    const { name, device } = parseColumn(column)
    if (device === null) return null
    if (name === 'filesystem.size_bytes') return (_, bytes) => void sizes.set(device, bytes)
    if (name === 'filesystem.available_bytes') return (_, bytes) => void available.set(device, bytes)
    if (name !== 'filesystem.used_bytes') return null
    const points: Point[] = []
    used.set(device, points)
    return (at, bytes) => void points.push({ at, bytes })
  }
  const subject = subjectOf(serverId, 'agent')
  await hub.series.metrics.readColumns(subject, tenMinutes, now - windowMs, now, takerOf, (take, at, avg) => take(at, avg))
  const found = new Map(
    [...used].flatMap(([device, points]) => {
      const [free, last] = [available.get(device), points.at(-1)]
      // It is full when only the space is left that is reserved for root.
      const size = free === undefined || !last ? sizes.get(device) : free + last.bytes
      const hours = size === undefined ? null : hoursLeft(points, size)
      return hours === null ? [] : [[device, hours] as const]
    }),
  )
  // Last in the order of the map, whose first one is the oldest.
  cached.delete(serverId)
  if (cached.size >= maxCached) cached.delete(cached.keys().next().value!)
  cached.set(serverId, { at: now, found })
  return found
}
