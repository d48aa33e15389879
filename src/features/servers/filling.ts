import { tiers } from '../../core/db/series/metric-tiers'
import type { Hub } from '../../core/hub'
import { reportingServers } from './agents/counts'
import { hoursLeftOf, mostHoursLeft } from './metrics/hours-left'
import { staleMs, subjectOf } from './metrics/names'
import { fileSystemUse } from './metrics/read'

/** A file system that is nearly full, or will be soon. */
interface FillingFileSystem {
  server_id: string
  name: string
  path: string
  used_percent: number
  /** Until it is full, if it continues to fill as in the last 24 hours. Null if that is unknown or it doesn’t. */
  hours_left: number | null
}

const fullPercent = 90
const soonHours = 24
/** For file systems that are less full, the hours are not computed. */
const halfFullPercent = 50
/** Servers of a workspace that are looked at, and for how long the result is used again. */
const maxServers = 200
const cacheMs = 60_000
const maxWorkspaces = 1000

const cached = new WeakMap<Hub, Map<string, { at: number; found: Promise<FillingFileSystem[]> }>>()

/**
 * The file systems of servers with agents that are more than 90 % full, or more than half full and full within a day, the fullest
 * first.
 */
export async function fillingFileSystems(hub: Hub, workspaceId: string): Promise<FillingFileSystem[]> {
  const now = hub.clock.now()
  const ofHub = cached.get(hub) ?? new Map<string, { at: number; found: Promise<FillingFileSystem[]> }>()
  cached.set(hub, ofHub)
  const known = ofHub.get(workspaceId)
  if (known && known.at > now - cacheMs) return await known.found
  if (ofHub.size >= maxWorkspaces) ofHub.clear()
  const found = read(hub, workspaceId, now)
  ofHub.set(workspaceId, { at: now, found })
  found.catch(() => ofHub.delete(workspaceId))
  return await found
}

const [minutes] = tiers
const isUsed = (column: string): boolean => column.startsWith('filesystem.') && !column.includes('inodes')

async function read(hub: Hub, workspaceId: string, now: number): Promise<FillingFileSystem[]> {
  const rows = await reportingServers(hub.read, workspaceId, maxServers)
  const subjects = rows.map(({ id }) => subjectOf(id, 'agent'))
  const current = await hub.series.metrics.summaries(subjects, minutes, now - staleMs, now, isUsed)
  const found: FillingFileSystem[] = []
  for (const { id, name } of rows) {
    const full = fileSystemUse(current.get(subjectOf(id, 'agent'))?.columns)
      .map(({ path, used, size }) => ({ path, percent: (100 * used) / size }))
      .filter(one => one.percent > halfFullPercent)
    const left = full.length > 0 ? await hoursLeftOf(hub, id) : new Map<string, number>()
    for (const { path, percent } of full) {
      const hours = left.get(path) ?? mostHoursLeft
      if (percent <= fullPercent && hours > soonHours) continue
      found.push({
        ...{ server_id: id, name, path },
        used_percent: Number(percent.toPrecision(4)),
        hours_left: hours < mostHoursLeft ? Math.round(hours * 10) / 10 : null,
      })
    }
  }
  return found.sort((a, b) => b.used_percent - a.used_percent)
}
