import { inArray } from 'drizzle-orm'
import type { Hub } from '../../../core/hub'
import { monitors } from '../tables'
import type { Verdict } from '../state'
import { groupVerdict } from '../verdict/group'
import type { MonitorRow } from '../view'
import type { Kept, Roster } from './roster'

/** What a monitor shows of itself to those that stand on it. */
export type Neighbour = Pick<MonitorRow, 'id' | 'name' | 'status' | 'state'>

const idsAtOnce = 500

/** The monitors that others depend on or are groups of, also those that another hub runs. */
export class Surroundings {
  /** Locations that say of themselves that they are not to be trusted. */
  impaired: string[] = []
  private isStale = true
  private outside = new Map<string, Neighbour>()
  /** Who is to be judged again when a monitor changes, by that monitor's id. */
  private followers = new Map<string, string[]>()

  constructor(
    private readonly hub: Hub,
    private readonly roster: Roster,
  ) {}

  parentsOf(kept: Kept): Neighbour[] {
    return this.find(kept.dependsOn)
  }

  groupOf({ group }: Kept): { verdict: Verdict; reason: string } {
    const statuses = this.find(group?.members ?? []).map(one => one.status)
    return groupVerdict(statuses, group?.rule === 'percent' ? { percent: group.percent ?? 100 } : (group?.rule ?? 'any'))
  }

  /** A monitor of this hub has changed: those that stand on it are judged at the next tick. */
  moved(id: string): void {
    const at = this.hub.clock.now()
    for (const follower of this.followers.get(id) ?? []) {
      const kept = this.roster.get(follower)
      if (kept) kept.wakeAt = Math.min(kept.wakeAt ?? at, at)
    }
  }

  /** Monitors came, went or were edited: who stands on whom is found out anew. */
  changed(): void {
    this.isStale = true
  }

  /** Looks how those are that other hubs run. */
  async look(): Promise<void> {
    if (this.isStale) this.follow()
    const ids = [...this.followers.keys()].filter(id => !this.roster.get(id))
    const found = new Map<string, Neighbour>()
    for (let at = 0; at < ids.length; at += idsAtOnce) {
      const rows = await this.hub.read
        .select(neighbourColumns)
        .from(monitors)
        .where(inArray(monitors.id, ids.slice(at, at + idsAtOnce)))
      for (const row of rows) found.set(row.id, row)
    }
    const before = this.outside
    this.outside = found
    for (const id of ids) if (before.get(id)?.status !== found.get(id)?.status) this.moved(id)
  }

  private follow(): void {
    this.isStale = false
    this.followers = new Map()
    for (const kept of this.roster.all())
      for (const id of standsOn(kept)) {
        const known = this.followers.get(id)
        if (known) known.push(kept.id)
        else this.followers.set(id, [kept.id])
      }
  }

  private find(ids: readonly string[]): Neighbour[] {
    return ids.flatMap(id => this.roster.get(id) ?? this.outside.get(id) ?? [])
  }
}

const neighbourColumns = {
  id: monitors.id,
  name: monitors.name,
  status: monitors.status,
  state: monitors.state,
}

const standsOn = (kept: Kept): readonly string[] => [...kept.dependsOn, ...(kept.group?.members ?? [])]
