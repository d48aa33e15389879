import { isDeepStrictEqual } from 'node:util'
import { eq, inArray } from 'drizzle-orm'
import type { Hub } from '../../../core/hub'
import { monitors } from '../tables'
import { activeWindow, type ActiveWindow } from '../../maintenance/calendar'
import type { GroupOptions } from '../definition/types'
import { groupVerdict } from '../verdict/group'
import type { AgentSign } from '../server-states'
import type { JudgeInput, Parent } from '../verdict/input'
import type { MonitorRow } from '../view'
import type { LoadedMonitor, Roster } from './roster'

/** The columns of a monitor that matter to monitors related to it. */
type RelatedMonitor = Pick<MonitorRow, 'id' | 'type' | 'target' | 'name' | 'status' | 'state'>

/** Whether monitors that depend on or contain a monitor must be judged again after this change of it. */
export const isNewsToOthers = (
  before: Pick<RelatedMonitor, 'status' | 'state'> | undefined,
  after: Pick<RelatedMonitor, 'status' | 'state'> | undefined,
): boolean =>
  before?.status !== after?.status ||
  before?.state.verdict !== after?.state.verdict ||
  !isDeepStrictEqual(before?.state.suppressed, after?.state.suppressed)

const idsAtOnce = 500
const groupsRefreshMs = 10_000
const signsRefreshMs = 5_000

/** Dependencies and groups of this hub's monitors, including monitors that other hubs run. */
export class RelatedMonitors {
  /** Locations that report connectivity problems of their own. */
  impaired: string[] = []
  private isStale = true
  private outside = new Map<string, RelatedMonitor>()
  /** Monitors to judge again when a monitor changes, by the id of that monitor. */
  private followers = new Map<string, string[]>()
  /** Groups by the ids of their members. */
  private groups = new Map<string, string[]>()
  private outsideGroups: { id: string; members: string[] }[] = []
  private groupsReadAt = Number.NEGATIVE_INFINITY
  /** Signs of the agents of servers that monitors depend on. */
  private signs = new Map<string, AgentSign>()
  private signsReadAt = Number.NEGATIVE_INFINITY

  constructor(
    private readonly hub: Hub,
    private readonly roster: Roster,
  ) {}

  /** The dependencies of a monitor; for an excused group, also the dependency of its members. */
  parentsOf(monitor: LoadedMonitor, group?: JudgeInput['group']): Parent[] {
    const by = group?.excusedBy ?? null
    const parents = this.find(by === null || monitor.dependsOn.includes(by) ? monitor.dependsOn : [...monitor.dependsOn, by])
    return parents.map(one =>
      one.type === 'server' ? { id: one.id, name: one.name, state: one.state, agent: this.signs.get(one.target) } : one,
    )
  }

  groupOf({ group }: LoadedMonitor): NonNullable<JudgeInput['group']> {
    const members = this.find(group?.members ?? []).map(({ status, state: { suppressed } }) => ({
      status,
      excusedBy: suppressed?.cause === 'dependency' ? suppressed.by : null,
    }))
    return groupVerdict(members, group?.rule === 'percent' ? { percent: group.percent ?? 100 } : (group?.rule ?? 'any'))
  }

  /** The maintenance window that covers a monitor at a time (ms UTC). */
  windowOf(monitor: LoadedMonitor, at: number): ActiveWindow | null {
    const { id, workspaceId, tags } = monitor
    return activeWindow(this.hub, { id, workspaceId, tags, groupIds: this.groupsContaining(id) }, at)
  }

  /** Wakes the monitors whose maintenance window started or ended. */
  windowEdgePassed(): void {
    const at = this.hub.clock.now()
    for (const monitor of this.roster.all()) {
      const { maintenance } = monitor.state
      const known = maintenance?.endedAt === null ? maintenance.id : null
      if ((this.windowOf(monitor, at)?.id ?? null) !== known) monitor.wakeAt = at
    }
  }

  /** Wakes the monitors that depend on or contain a monitor, to be judged at the next tick. */
  statusChanged(id: string): void {
    const at = this.hub.clock.now()
    for (const follower of this.followers.get(id) ?? []) {
      const monitor = this.roster.get(follower)
      if (monitor) monitor.wakeAt = Math.min(monitor.wakeAt ?? at, at)
    }
  }

  /** The monitors of this hub that are down because of a monitor and were not reported. */
  affectedBy(id: string): LoadedMonitor[] {
    return (this.followers.get(id) ?? []).flatMap(follower => {
      const monitor = this.roster.get(follower)
      const outage = monitor?.state.outage
      return monitor && outage?.affectedBy === id && !outage.notified ? [monitor] : []
    })
  }

  /** A monitor of this hub was checked without a change: wakes monitors that wait for it to find the cause of their outage. */
  checkedAgain(id: string): void {
    const at = this.hub.clock.now()
    for (const follower of this.followers.get(id) ?? []) {
      const monitor = this.roster.get(follower)
      if (monitor?.state.suppressed?.cause === 'dependency') monitor.wakeAt = Math.min(monitor.wakeAt ?? at, at)
    }
  }

  /** Monitors were added, removed, or updated, so relations must be rebuilt. */
  invalidate(): void {
    this.isStale = true
  }

  /** Reads the related monitors that other hubs run. */
  async refresh(): Promise<void> {
    await this.refreshOutsideGroups()
    if (this.isStale) this.rebuild()
    const ids = [...this.followers.keys()].filter(id => !this.roster.get(id))
    const found = new Map<string, RelatedMonitor>()
    for (let at = 0; at < ids.length; at += idsAtOnce) {
      const rows = await this.hub.read
        .select(relatedColumns)
        .from(monitors)
        .where(inArray(monitors.id, ids.slice(at, at + idsAtOnce)))
      for (const row of rows) found.set(row.id, row)
    }
    const before = this.outside
    this.outside = found
    for (const id of ids) if (isNewsToOthers(before.get(id), found.get(id))) this.statusChanged(id)
    await this.refreshSigns()
  }

  private async refreshSigns(): Promise<void> {
    const now = this.hub.clock.now()
    if (now >= this.signsReadAt && now - this.signsReadAt < signsRefreshMs) return
    this.signsReadAt = now
    const followed = this.find([...this.followers.keys()]).filter(one => one.type === 'server')
    const found = new Map<string, AgentSign>()
    for (let at = 0; at < followed.length; at += idsAtOnce) {
      const ids = new Set(followed.slice(at, at + idsAtOnce).map(one => one.target))
      for (const one of await this.hub.serverStates.signsOf(this.hub.read, [...ids])) found.set(...one)
    }
    const before = this.signs
    this.signs = found
    for (const { id, target } of followed) if (!isDeepStrictEqual(before.get(target), found.get(target))) this.checkedAgain(id)
  }

  private rebuild(): void {
    this.isStale = false
    this.followers = new Map()
    this.groups = new Map()
    for (const monitor of this.roster.all()) {
      for (const id of dependencyIdsOf(monitor)) append(this.followers, id, monitor.id)
      for (const id of monitor.group?.members ?? []) append(this.groups, id, monitor.id)
    }
    for (const { id, members } of this.outsideGroups) for (const member of members) append(this.groups, member, id)
  }

  /** The groups that contain a monitor, directly or indirectly. */
  private groupsContaining(id: string): readonly string[] {
    const direct = this.groups.get(id)
    if (!direct) return []
    const containing = new Set(direct)
    for (const group of containing) for (const outer of this.groups.get(group) ?? []) containing.add(outer)
    return [...containing]
  }

  /** Groups that other hubs run may contain monitors of this hub. */
  private async refreshOutsideGroups(): Promise<void> {
    const now = this.hub.clock.now()
    if (this.roster.hasAllShares || (now >= this.groupsReadAt && now - this.groupsReadAt < groupsRefreshMs)) return
    this.groupsReadAt = now
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

  private find(ids: readonly string[]): RelatedMonitor[] {
    return ids.flatMap(id => this.roster.get(id) ?? this.outside.get(id) ?? [])
  }
}

const relatedColumns = {
  id: monitors.id,
  type: monitors.type,
  target: monitors.target,
  name: monitors.name,
  status: monitors.status,
  state: monitors.state,
}

function append(lists: Map<string, string[]>, key: string, one: string): void {
  const known = lists.get(key)
  if (known) known.push(one)
  else lists.set(key, [one])
}

const dependencyIdsOf = (monitor: LoadedMonitor): readonly string[] => [...monitor.dependsOn, ...(monitor.group?.members ?? [])]
