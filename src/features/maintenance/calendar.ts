import { eq } from 'drizzle-orm'
import { prepared } from '../../core/db/prepared'
import { counters } from '../../core/db/tables'
import type { Hub } from '../../core/hub'
import { topicsOf } from '../../core/topics'
import { calendarCounter } from './calendar-counter'
import { occurrencesBetween, type Occurrence } from './occurrences'
import { maintenanceWindows } from './tables'
import { isCovered, type Covered } from './targets'
import type { WindowRow } from './view'

/** Woken when what is in force, now or later, may be something else than before, but for time passing. */
export const maintenanceTopic = 'maintenance'

/** A window that is in force. `until`: ms UTC. */
export interface WindowInForce {
  id: string
  name: string
  until: number
}

/**
 * The maintenance window that covers a monitor or heartbeat at a time (ms UTC), of several the one that ends last; null when there is
 * none. Answered from memory.
 */
export function windowInForce(hub: Hub, covered: Covered & { workspaceId: string }, at: number): WindowInForce | null {
  return calendars.get(hub)?.inForce(covered, at) ?? null
}

/** When any window next begins or ends after a time (ms UTC); null when that is not within the next weeks. Answered from memory. */
export const nextEdge = (hub: Hub, after: number): number | null => calendars.get(hub)?.nextEdge(after) ?? null

/** Reads the windows that changed since they were last read, by this hub or another. The first time it reads all. */
export async function readCalendar(hub: Hub): Promise<void> {
  let calendar = calendars.get(hub)
  if (!calendar) calendars.set(hub, (calendar = new Calendar(hub)))
  await calendar.read()
}

const calendars = new WeakMap<Hub, Calendar>()

const aheadMs = 35 * 86_400_000
// Half of them are used up before more are worked out: of a window that comes each minute that is within the hour.
const mostOccurrences = 100
const shortestRollMs = 60_000

interface Entry {
  row: WindowRow
  /** Those that were not over at `from`, in order; they are enough for times before `rollAt`. */
  occurrences: Occurrence[]
  from: number
  rollAt: number
}

class Calendar {
  private entries = new Map<string, Entry>()
  private byWorkspace = new Map<string, Entry[]>()
  private edges: number[] = []
  private count = -1
  /** The time for which the occurrences of all are enough: `from <= t < rollAt`. */
  private from = 0
  private rollAt = 0
  private reading: Promise<void> | null = null

  constructor(private readonly hub: Hub) {}

  inForce(covered: Covered & { workspaceId: string }, at: number): WindowInForce | null {
    this.roll(at)
    let found: WindowInForce | null = null
    for (const { row, occurrences } of this.byWorkspace.get(covered.workspaceId) ?? []) {
      for (const { from, until } of occurrences) {
        if (from > at) break
        if (until <= at || (found && until <= found.until) || !isCovered(row.targets, covered)) continue
        found = { id: row.id, name: row.name, until }
      }
    }
    return found
  }

  nextEdge(after: number): number | null {
    this.roll(after)
    let low = 0
    let high = this.edges.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.edges[middle]! <= after) low = middle + 1
      else high = middle
    }
    return this.edges[low] ?? null
  }

  /** Of several who ask at once, those that come while it is read are answered by one more reading. */
  async read(): Promise<void> {
    while (this.reading) await this.reading
    this.reading = this.readOnce().finally(() => {
      this.reading = null
    })
    await this.reading
  }

  private async readOnce(): Promise<void> {
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
        return [row.id, known?.row.version === row.version ? known : expanded(row, at)]
      }),
    )
    this.count = count
    this.index()
    topicsOf(this.hub).wake(maintenanceTopic)
  }

  private roll(at: number): void {
    if (at >= this.from && at < this.rollAt) return
    for (const [id, entry] of this.entries)
      if (at < entry.from || at >= entry.rollAt) this.entries.set(id, expanded(entry.row, at))
    this.index()
  }

  private index(): void {
    const all = [...this.entries.values()]
    this.from = Math.max(0, ...all.map(entry => entry.from))
    this.rollAt = Math.min(Infinity, ...all.map(entry => entry.rollAt))
    this.byWorkspace = Map.groupBy(all, ({ row }) => row.workspaceId)
    this.edges = [...new Set(all.flatMap(({ occurrences }) => occurrences.flatMap(({ from, until }) => [from, until])))].sort(
      (a, b) => a - b,
    )
  }
}

function expanded(row: WindowRow, at: number): Entry {
  const occurrences = occurrencesBetween(row, at, at + aheadMs, mostOccurrences)
  const rollAt = occurrences.length < mostOccurrences ? at + aheadMs / 2 : occurrences[mostOccurrences / 2]!.from
  return { row, occurrences, from: at, rollAt: Math.max(rollAt, at + shortestRollMs) }
}
