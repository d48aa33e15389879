import { and, eq, inArray } from 'drizzle-orm'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { hourOf } from '../../core/db/series/store'
import type { Hub } from '../../core/hub'
import { reachable } from '../../core/narrowing'
import { latestOf } from './latest'
import type { MonitorView } from './shapes'
import { monitors } from './tables'

/** What came of the last check of a monitor, for who watches it. */
export interface WatchedResult {
  id: string
  status: MonitorView['status']
  last_check_at: string
  /** Whether the check found it up, however slow. */
  ok: boolean
  response_ms: number | null
}

interface Newest {
  at: number
  ok: boolean
  ms: number | null
}

/** Woken when a check of the monitor ended here. */
export const resultTopic = (id: string): string => `result:${id}`

/** Those of some monitors that are the caller's. */
export async function monitorsToWatch(ctx: Ctx, ids: readonly string[]): Promise<string[]> {
  const rows = await ctx.hub.read
    .select({ id: monitors.id })
    .from(monitors)
    .where(and(eq(monitors.workspaceId, ctx.workspaceId), inArray(monitors.id, [...ids]), reachable(ctx, monitors.id)))
  return rows.map(row => row.id)
}

/** What came of the last checks of some monitors, of those that were checked. */
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

// Another hub writes its results once a second, and its clock may go a little behind.
const lookBackMs = 10_000
const monitorsAtOnce = 500

/** Those of some monitors that another hub has checked since it was last asked, as far as that hub has written it down. */
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
      for (const beat of await hub.series.beatsAfter(hour, [...idOf.keys()], from)) {
        const id = idOf.get(beat.monitor)!
        if ((found.get(id)?.at ?? 0) >= beat.at) continue
        found.set(id, { at: beat.at, ok: beat.status !== 'down', ms: beat.ms })
        fresh.push(id)
      }
  }
  return fresh
}

/** What other hubs found last, of monitors that are watched here; those that nobody watches any more are forgotten with the time. */
function foundOf(hub: Hub): Map<string, Newest> {
  let found = ofHub.get(hub)
  if (!found) ofHub.set(hub, (found = new Map()))
  if (found.size > mostFound) found.clear()
  return found
}
const mostFound = 50_000
const ofHub = new WeakMap<Hub, Map<string, Newest>>()
