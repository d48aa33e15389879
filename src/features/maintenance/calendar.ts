import { eq } from 'drizzle-orm'
import { prepared } from '../../core/db/prepared'
import { counters } from '../../core/db/tables'
import type { Hub } from '../../core/hub'
import { topicsOf } from '../../core/topics'
import { calendarCounter } from './calendar-counter'
import { occurrencesBetween, type Occurrence } from './occurrences'
import { maintenanceWindows } from './tables'
import { isCovered, type CoveredResource } from './targets'
import type { WindowRow } from './view'

/** Woken when changes to windows may affect current or future maintenance. */
export const maintenanceTopic = 'maintenance'

/** An active window. `until`: ms UTC. */
export interface ActiveWindow {
  id: string
  name: string
  until: number
}

/**
 * Returns the maintenance window that covers a monitor or heartbeat at a time (ms UTC), or null. If there are several, returns the one
 * that ends last. Reads from memory.
 */
export function activeWindow(hub: Hub, resource: CoveredResource & { workspaceId: string }, at: number): ActiveWindow | null {
  return calendars.get(hub)?.activeWindow(resource, at) ?? null
}

/** Returns when any window next starts or ends after a time (ms UTC), or null if not within the next weeks. Reads from memory. */
export const nextBoundary = (hub: Hub, after: number): number | null => calendars.get(hub)?.nextBoundary(after) ?? null

/** Reloads the windows if this hub or another one has changed them. */
export async function refreshCalendar(hub: Hub): Promise<void> {
  let calendar = calendars.get(hub)
  if (!calendar) calendars.set(hub, (calendar = new Calendar(hub)))
  await calendar.refresh()
}

const calendars = new WeakMap<Hub, Calendar>()

const aheadMs = 35 * 86_400_000
// New occurrences are calculated when half of these have started: within an hour for a window that recurs every minute.
const maxOccurrences = 100
const minRollMs = 60_000

interface Entry {
  row: WindowRow
  /** Occurrences that end after `from`, in order. Complete for times before `rollAt`. */
  occurrences: Occurrence[]
  from: number
  rollAt: number
}

class Calendar {
  private entries = new Map<string, Entry>()
  private byWorkspace = new Map<string, Entry[]>()
  private boundaries: number[] = []
  private count = -1
  /** The occurrences of all windows are complete for `from <= t < rollAt`. */
  private from = 0
  private rollAt = 0
  private refreshing: Promise<void> | null = null

  constructor(private readonly hub: Hub) {}

  activeWindow(resource: CoveredResource & { workspaceId: string }, at: number): ActiveWindow | null {
    this.roll(at)
    let found: ActiveWindow | null = null
    for (const { row, occurrences } of this.byWorkspace.get(resource.workspaceId) ?? []) {
      for (const { from, until } of occurrences) {
        if (from > at) break
        if (until <= at || (found && until <= found.until) || !isCovered(row.targets, resource)) continue
        found = { id: row.id, name: row.name, until }
      }
    }
    return found
  }

  nextBoundary(after: number): number | null {
    this.roll(after)
    let low = 0
    let high = this.boundaries.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.boundaries[middle]! <= after) low = middle + 1
      else high = middle
    }
    return this.boundaries[low] ?? null
  }

  /** Waits for a refresh in progress and then refreshes again, so that the caller sees its own changes. */
  async refresh(): Promise<void> {
    while (this.refreshing) await this.refreshing
    this.refreshing = this.reload().finally(() => {
      this.refreshing = null
    })
    await this.refreshing
  }

  private async reload(): Promise<void> {
    const [counted] = await prepared(this.hub.read, 'maintenance-count', read =>
      read.select({ value: counters.value }).from(counters).where(eq(counters.name, calendarCounter)),
    ).execute()
    const count = counted?.value ?? 0
    if (count === this.count) return
    const rows = await this.hub.read.select().from(maintenanceWindows)
    const before = this.entries
    const at = this.hub.clock.now()
    this.entries = new Map(
      rows.map(row => {
        const known = before.get(row.id)
        return [row.id, known?.row.version === row.version ? known : expand(row, at)]
      }),
    )
    this.count = count
    this.index()
    topicsOf(this.hub).wake(maintenanceTopic)
  }

  private roll(at: number): void {
    if (at >= this.from && at < this.rollAt) return
    for (const [id, entry] of this.entries) if (at < entry.from || at >= entry.rollAt) this.entries.set(id, expand(entry.row, at))
    this.index()
  }

  private index(): void {
    const all = [...this.entries.values()]
    this.from = Math.max(0, ...all.map(entry => entry.from))
    this.rollAt = Math.min(Infinity, ...all.map(entry => entry.rollAt))
    this.byWorkspace = Map.groupBy(all, ({ row }) => row.workspaceId)
    this.boundaries = [
      ...new Set(all.flatMap(({ occurrences }) => occurrences.flatMap(({ from, until }) => [from, until]))),
    ].sort((a, b) => a - b)
  }
}

function expand(row: WindowRow, at: number): Entry {
  const occurrences = occurrencesBetween(row, at, at + aheadMs, maxOccurrences)
  const rollAt = occurrences.length < maxOccurrences ? at + aheadMs / 2 : occurrences[maxOccurrences / 2]!.from
  return { row, occurrences, from: at, rollAt: Math.max(rollAt, at + minRollMs) }
}
