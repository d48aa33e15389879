import { isDeepStrictEqual } from 'node:util'
import { eq, inArray } from 'drizzle-orm'
import type { Hub } from '../../../core/hub'
import { monitors } from '../tables'
import { windowInForce, type WindowInForce } from '../../maintenance/calendar'
import type { GroupOptions } from '../monitor-types'
import { groupVerdict } from '../verdict/group'
import type { JudgeInput } from '../verdict/input'
import type { MonitorRow } from '../view'
import type { Kept, Roster } from './roster'

/** What a monitor shows of itself to those that stand on it. */
export type Neighbour = Pick<MonitorRow, 'id' | 'name' | 'status' | 'state'>

const idsAtOnce = 500
const groupsEachMs = 10_000

/** The monitors that others depend on or are groups of, also those that another hub runs. */
export class Surroundings {
  /** Locations that say of themselves that they are not to be trusted. */
  impaired: string[] = []
  private isStale = true
  private outside = new Map<string, Neighbour>()
  /** Who is to be judged again when a monitor changes, by that monitor's id. */
  private followers = new Map<string, string[]>()
  /** Groups by the ids of their members. */
  private groups = new Map<string, string[]>()
  private outsideGroups: { id: string; members: string[] }[] = []
  private groupsLookedAt = Number.NEGATIVE_INFINITY

  constructor(
    private readonly hub: Hub,
    private readonly roster: Roster,
  ) {}

  /** What a monitor depends on; of a group that is excused as its members are, what those do too. */
  parentsOf(kept: Kept, group?: JudgeInput['group']): Neighbour[] {
    const by = group?.excusedBy ?? null
    return this.find(by === null || kept.dependsOn.includes(by) ? kept.dependsOn : [...kept.dependsOn, by])
  }

  groupOf({ group }: Kept): NonNullable<JudgeInput['group']> {
    const members = this.find(group?.members ?? []).map(({ status, state: { held } }) => ({
      status,
      excusedBy: held?.because === 'dependency' ? held.by : null,
    }))
    return groupVerdict(members, group?.rule === 'percent' ? { percent: group.percent ?? 100 } : (group?.rule ?? 'any'))
  }

  /** The maintenance window that covers a monitor at a time (ms UTC). */
  windowOf(kept: Kept, at: number): WindowInForce | null {
    const { id, workspaceId, tags } = kept
    return windowInForce(this.hub, { id, workspaceId, tags, groupIds: this.groupsAround(id) }, at)
  }

  /** Lets those be judged that a window covers by now, or covers no more. */
  edgesPassed(): void {
    const at = this.hub.clock.now()
    for (const kept of this.roster.all()) {
      const { maintenance } = kept.state
      const known = maintenance?.endedAt === null ? maintenance.id : null
      if ((this.windowOf(kept, at)?.id ?? null) !== known) kept.wakeAt = at
    }
  }

  /** A monitor of this hub has changed: those that stand on it are judged at the next tick. */
  moved(id: string): void {
    const at = this.hub.clock.now()
    for (const follower of this.followers.get(id) ?? []) {
      const kept = this.roster.get(follower)
      if (kept) kept.wakeAt = Math.min(kept.wakeAt ?? at, at)
    }
  }

  /** Those of this hub that are down because of a monitor, of which nobody was told. */
  affectedBy(id: string): Kept[] {
    return (this.followers.get(id) ?? []).flatMap(follower => {
      const kept = this.roster.get(follower)
      const outage = kept?.state.outage
      return kept && outage?.affectedBy === id && !outage.told ? [kept] : []
    })
  }

  /** A monitor of this hub was looked at, and is as it was: those that wait to know whose outage theirs is are judged. */
  looked(id: string): void {
    const at = this.hub.clock.now()
    for (const follower of this.followers.get(id) ?? []) {
      const kept = this.roster.get(follower)
      if (kept?.state.held?.because === 'dependency') kept.wakeAt = Math.min(kept.wakeAt ?? at, at)
    }
  }

  /** Monitors came, went or were edited: who stands on whom is found out anew. */
  changed(): void {
    this.isStale = true
  }

  /** Looks how those are that other hubs run. */
  async look(): Promise<void> {
    await this.lookForGroups()
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
    this.groups = new Map()
    for (const kept of this.roster.all()) {
      for (const id of standsOn(kept)) put(this.followers, id, kept.id)
      for (const id of kept.group?.members ?? []) put(this.groups, id, kept.id)
    }
    for (const { id, members } of this.outsideGroups) for (const member of members) put(this.groups, member, id)
  }

  /** The groups that a monitor is in, directly or not. */
  private groupsAround(id: string): readonly string[] {
    const direct = this.groups.get(id)
    if (!direct) return []
    const around = new Set(direct)
    for (const group of around) for (const outer of this.groups.get(group) ?? []) around.add(outer)
    return [...around]
  }

  /** Groups that other hubs run may hold monitors of this one. */
  private async lookForGroups(): Promise<void> {
    const now = this.hub.clock.now()
    if (this.roster.hasAllShares || (now >= this.groupsLookedAt && now - this.groupsLookedAt < groupsEachMs)) return
    this.groupsLookedAt = now
    const rows = await this.hub.read
      .select({ id: monitors.id, options: monitors.options })
      .from(monitors)
      .where(eq(monitors.type, 'group'))
    const found = rows
      .filter(row => !this.roster.get(row.id))
      .map(row => ({ id: row.id, members: (row.options as GroupOptions).members }))
    if (!isDeepStrictEqual(found, this.outsideGroups)) this.isStale = true
    this.outsideGroups = found
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

function put(lists: Map<string, string[]>, key: string, one: string): void {
  const known = lists.get(key)
  if (known) known.push(one)
  else lists.set(key, [one])
}

const standsOn = (kept: Kept): readonly string[] => [...kept.dependsOn, ...(kept.group?.members ?? [])]
