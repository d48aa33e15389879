import { tiers } from '../../core/db/series/metric-tiers'
import type { Hub } from '../../core/hub'
import { reportingServers } from './agents/counts'
import { staleMs, subjectOf } from './metrics/names'
import { fileSystemUse, type FileSystemUse } from './metrics/read'

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
const hourMs = 3_600_000
/** Servers of a workspace that are looked at, and for how long the result is used again. */
const maxServers = 200
const cacheMs = 60_000
const maxWorkspaces = 1000

const cached = new WeakMap<Hub, Map<string, { at: number; found: Promise<FillingFileSystem[]> }>>()

/** The file systems of servers with agents that are more than 90 % full, or will be full within a day, the fullest first. */
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

const [minutes, tenMinutes] = tiers
const isUsed = (column: string): boolean => column.startsWith('filesystem.') && !column.includes('inodes')

async function read(hub: Hub, workspaceId: string, now: number): Promise<FillingFileSystem[]> {
  const rows = await reportingServers(hub.read, workspaceId, maxServers)
  const subjects = rows.map(({ id }) => subjectOf(id, 'agent'))
  const { metrics } = hub.series
  const current = await metrics.summaries(subjects, minutes, now - staleMs, now, isUsed)
  const dayAgo = now - 24 * hourMs
  const before = await metrics.summaries(subjects, tenMinutes, dayAgo - hourMs, dayAgo, isUsed)
  const found = rows.flatMap(({ id, name }) => {
    const subject = subjectOf(id, 'agent')
    const earlier = new Map(fileSystemUse(before.get(subject)?.columns).map(one => [one.path, one]))
    return fileSystemUse(current.get(subject)?.columns).map((one): FillingFileSystem => {
      const hours = hoursLeft(one, earlier.get(one.path))
      return {
        ...{ server_id: id, name, path: one.path },
        used_percent: Number(((100 * one.used) / one.size).toPrecision(4)),
        hours_left: hours === null ? null : Math.round(hours * 10) / 10,
      }
    })
  })
  return found
    .filter(one => one.used_percent > fullPercent || (one.hours_left !== null && one.hours_left <= soonHours))
    .sort((a, b) => b.used_percent - a.used_percent)
}

/** @param before the use 24.5 hours ago on average */
function hoursLeft({ used, size }: FileSystemUse, before: FileSystemUse | undefined): number | null {
  const perHour = before ? (used - before.used) / 24.5 : 0
  return perHour > 0 ? Math.max(0, size - used) / perHour : null
}
