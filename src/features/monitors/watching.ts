import { hourOf } from '../../core/db/series/hours'
import { checksOf } from './series/check-series'
import { and, eq, inArray } from 'drizzle-orm'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import type { Hub } from '../../core/hub'
import { accessCondition } from '../../core/resource-access'
import { latestOf } from './live/latest'
import type { MonitorView } from './shapes'
import { monitors } from './tables'

/** The last check of a monitor, for live updates. */
interface WatchedResult {
  id: string
  status: MonitorView['status']
  last_check_at: string
  /** Whether the check was up or degraded. */
  ok: boolean
  response_ms: number | null
}

interface Newest {
  at: number
  ok: boolean
  ms: number | null
}

/** Woken when this hub finishes a check of the monitor. */
export const resultTopic = (id: string): string => `result:${id}`

/** The given monitors that the caller has access to. */
export async function monitorsToWatch(ctx: Ctx, ids: readonly string[]): Promise<string[]> {
  const rows = await ctx.hub.read
    .select({ id: monitors.id })
    .from(monitors)
    .where(and(eq(monitors.workspaceId, ctx.workspaceId), inArray(monitors.id, [...ids]), accessCondition(ctx, monitors.id)))
  return rows.map(row => row.id)
}

/** The last checks of the given monitors, without monitors that were not checked yet. */
export async function resultsToWatch(hub: Hub, ids: readonly string[]): Promise<WatchedResult[]> {
  const rows = await hub.read
    .select({ id: monitors.id, status: monitors.status })
    .from(monitors)
    .where(inArray(monitors.id, [...ids]))
  return rows.flatMap(({ id, status }) => {
    const newest = newestOf(hub, id)
    return newest ? [{ id, status, last_check_at: instant(newest.at), ok: newest.ok, response_ms: newest.ms }] : []
  })
}

function newestOf(hub: Hub, id: string): Newest | null {
  const here = latestOf(hub).get(id)?.result
  if (!here) return foundOf(hub).get(id) ?? null
  return {
    at: here.at,
    ok: here.status !== 'down',
    ms: here.phases.total === null ? null : Math.round(here.phases.total * 10) / 10,
  }
}

// Another hub writes its results once a second, and its clock may lag a little.
const lookBackMs = 10_000
const monitorsAtOnce = 500

/** The given monitors that another hub has checked since the last call, as far as it has stored the results. */
export async function checkedElsewhere(hub: Hub, ids: readonly string[]): Promise<string[]> {
  const latest = latestOf(hub)
  const found = foundOf(hub)
  const others = ids.filter(id => !latest.has(id))
  for (const id of found.keys()) if (latest.has(id)) found.delete(id)
  const from = hub.clock.now() - lookBackMs
  const fresh: string[] = []
  for (let at = 0; at < others.length; at += monitorsAtOnce) {
    const rows = await hub.read
      .select({ id: monitors.id, number: monitors.number })
      .from(monitors)
      .where(inArray(monitors.id, others.slice(at, at + monitorsAtOnce)))
    const idOf = new Map(rows.map(row => [row.number, row.id]))
    for (const hour of new Set([hourOf(from), hourOf(hub.clock.now())]))
      for (const beat of await checksOf(hub).rowsAfter(hour, [...idOf.keys()], from)) {
        const id = idOf.get(beat.series)!
        if ((found.get(id)?.at ?? 0) >= beat.at) continue
        found.set(id, { at: beat.at, ok: beat.status !== 'down', ms: beat.ms })
        fresh.push(id)
      }
  }
  return fresh
}

/** The last results of other hubs, for monitors watched here. Cleared when it grows too large. */
function foundOf(hub: Hub): Map<string, Newest> {
  let found = ofHub.get(hub)
  if (!found) ofHub.set(hub, (found = new Map()))
  if (found.size > maxFound) found.clear()
  return found
}
const maxFound = 50_000
const ofHub = new WeakMap<Hub, Map<string, Newest>>()
