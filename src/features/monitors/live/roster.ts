import { count, gte, inArray } from 'drizzle-orm'
import { workspaces } from '../../../access/tables'
import type { CheckResult, CheckSpec } from '../../../checks/check'
import type { Reader } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { Alike } from '../../../core/alike'
import { networkPolicy } from '../../../core/net/egress'
import { othersTurn } from '../../../core/turns'
import { latestOf } from '../latest'
import type { GroupOptions } from '../monitor-types'
import { carriesSecret, isChecked, specOf } from '../spec'
import type { MonitorState } from '../state'
import { monitors } from '../tables'
import type { MonitorRow } from '../view'
import { afterEdit } from '../verdict/judge'
import { freshFor } from '../verdict/locations'
import { localLocation } from '../locations'
import { shareCount } from './shares'

const keptMembers = [
  'id',
  'workspaceId',
  'number',
  'share',
  'type',
  'name',
  'target',
  'intervalSeconds',
  'confirm',
  'recover',
  'recoverySeconds',
  'quorum',
  'locations',
  'tags',
  'dependsOn',
  'dependencyGraceSeconds',
  'channelIds',
  'severity',
  'paused',
  'status',
  'statusSince',
  'state',
  'stateVersion',
  'lastCheckAt',
  'certificateExpiresAt',
  'version',
] as const satisfies (keyof MonitorRow)[]

// Of most monitors the others are alike.
const ownMembers: ReadonlySet<string> = new Set<keyof MonitorRow>(['id', 'name', 'target', 'state'])

type KeptRow = Pick<MonitorRow, (typeof keptMembers)[number]>

/** A monitor of this hub's shares, as it is kept in memory: what it is judged and told of by, and how it stands. */
export interface Kept extends KeptRow {
  /** When it must be judged again without a result. */
  wakeAt: number | null
  /** How it is made of others; null where it is checked itself. */
  group: GroupOptions | null
  /** The last result that was not `up`, with its evidence, as long as none was `up` since. */
  lastBad: CheckResult | null
  /** `lastCheckAt` as the database has it. */
  checkWrittenAt: number | null
}

/** What changed in memory, for the engine. */
export interface RosterChange {
  upsert: CheckSpec[]
  remove: string[]
}

const sharesAtOnce = 16
const rowsAtOnce = 500
// Clocks of hubs differ, and a change that was written earlier may be committed later.
const overlapMs = 60_000

/** The monitors of the shares that this hub holds. */
export class Roster {
  private readonly byId = new Map<string, Kept>()
  private shares = new Set<number>()
  private lookedAt: number
  private readonly policies = new Map<string, number>()
  private readonly alike = new Alike()

  constructor(private readonly hub: Hub) {
    this.lookedAt = hub.clock.now()
  }

  get(id: string): Kept | undefined {
    return this.byId.get(id)
  }

  all(): IterableIterator<Kept> {
    return this.byId.values()
  }

  get hasAllShares(): boolean {
    return this.shares.size === shareCount
  }

  get size(): number {
    return this.byId.size
  }

  /**
   * Reads the monitors of shares that this hub has from now on, some hundreds at a time: all rows at once would take far more room
   * than what is kept of them.
   */
  async *take(taken: readonly number[]): AsyncGenerator<RosterChange> {
    let change: RosterChange = { upsert: [], remove: [] }
    for (let at = 0; at < taken.length; at += sharesAtOnce) {
      const some = taken.slice(at, at + sharesAtOnce)
      const rows = await this.hub.read.select().from(monitors).where(inArray(monitors.share, some))
      for (const share of some) this.shares.add(share)
      await this.keep(rows, change)
      if (change.upsert.length >= rowsAtOnce) {
        yield change
        change = { upsert: [], remove: [] }
      }
      await othersTurn()
    }
    yield change
  }

  /** Leaves the monitors of shares that this hub has no more. */
  leave(shares: readonly number[]): RosterChange {
    const change: RosterChange = { upsert: [], remove: [] }
    for (const share of shares) this.shares.delete(share)
    for (const one of this.byId.values()) if (!this.shares.has(one.share)) this.drop(one.id, change)
    return change
  }

  /** Looks for monitors that were made, edited, paused or deleted, by whichever hub. */
  async look(): Promise<RosterChange> {
    const change: RosterChange = { upsert: [], remove: [] }
    if (this.shares.size === 0) return change
    const { read, clock } = this.hub
    // A clock that was set back makes edits that look old.
    const now = clock.now()
    const since = Math.min(this.lookedAt, now) - overlapMs
    const changed = await read
      .select({
        id: monitors.id,
        share: monitors.share,
        version: monitors.version,
        stateVersion: monitors.stateVersion,
      })
      .from(monitors)
      .where(gte(monitors.updatedAt, since))
    const news = changed.filter(row => this.shares.has(row.share) && !this.isKnown(row)).map(row => row.id)
    for (let at = 0; at < news.length; at += rowsAtOnce)
      await this.keep(
        await read
          .select()
          .from(monitors)
          .where(inArray(monitors.id, news.slice(at, at + rowsAtOnce))),
        change,
      )
    const ofShares = this.hasAllShares ? undefined : inArray(monitors.share, [...this.shares])
    const [there] = await read.select({ n: count() }).from(monitors).where(ofShares)
    if (there!.n < this.byId.size) {
      const ids = new Set((await read.select({ id: monitors.id }).from(monitors).where(ofShares)).map(row => row.id))
      for (const id of [...this.byId.keys()]) if (!ids.has(id)) this.drop(id, change)
    }
    await this.followPolicies(since, change)
    this.lookedAt = now
    return change
  }

  /** Takes a row over as it is in the database: somebody else wrote it. */
  async reread(row: MonitorRow): Promise<RosterChange> {
    const change: RosterChange = { upsert: [], remove: [] }
    if (this.shares.has(row.share)) await this.keep([row], change)
    return change
  }

  forget(id: string): RosterChange {
    const change: RosterChange = { upsert: [], remove: [] }
    this.drop(id, change)
    return change
  }

  private isKnown(row: Pick<MonitorRow, 'id' | 'version' | 'stateVersion'>): boolean {
    const known = this.byId.get(row.id)
    return known !== undefined && known.version === row.version && known.stateVersion >= row.stateVersion
  }

  private async keep(rows: readonly MonitorRow[], change: RosterChange): Promise<void> {
    for (const row of rows) {
      const before = this.byId.get(row.id)
      const now = this.hub.clock.now()
      const isEdited = before && before.version !== row.version && before.stateVersion === row.stateVersion && !row.paused
      this.byId.set(row.id, {
        ...this.kept(row),
        state: isEdited ? afterEdit(row.state, row.locations, now) : before ? row.state : heardLately(row),
        // Older silence says nothing about the monitor, only about the hubs.
        wakeAt: before || row.type === 'group' ? now : now + freshFor(row.intervalSeconds * 1000),
        group: row.type === 'group' ? (row.options as GroupOptions) : null,
        lastBad: before?.lastBad ?? null,
        lastCheckAt: Math.max(before?.lastCheckAt ?? 0, row.lastCheckAt ?? 0) || null,
        checkWrittenAt: row.lastCheckAt,
        // What is remembered may be newer; of a monitor that was edited it says nothing.
        certificateExpiresAt: (before?.version === row.version ? before : row).certificateExpiresAt,
      })
    }
    await this.specify(rows, change)
  }

  private kept(row: MonitorRow): KeptRow {
    const members = keptMembers.map(name => [name, ownMembers.has(name) ? row[name] : this.alike.of(row[name])])
    return Object.fromEntries(members) as KeptRow
  }

  private async specify(rows: readonly MonitorRow[], change: RosterChange): Promise<void> {
    const policies = await policiesOf(this.hub.read, new Set(rows.map(row => row.workspaceId)))
    for (const row of rows) {
      const stored = policies.get(row.workspaceId)
      const settled = row.state.locations[localLocation]?.settled ?? 'new'
      if (!stored || !isChecked(row)) change.remove.push(row.id)
      else {
        const secret = carriesSecret(row)
        const policy = this.alike.of(networkPolicy(stored, { carriesSecret: secret }))
        const spec = await specOf(this.hub, row, policy, settled)
        change.upsert.push({
          ...spec,
          // Secrets are remembered no longer than their monitor.
          options: secret ? spec.options : this.alike.of(spec.options),
          down_if: this.alike.of(spec.down_if),
          degraded_if: this.alike.of(spec.degraded_if),
        })
      }
    }
  }

  private async followPolicies(since: number, change: RosterChange): Promise<void> {
    const { read } = this.hub
    const changed = await read
      .select({ id: workspaces.id, at: workspaces.updatedAt })
      .from(workspaces)
      .where(gte(workspaces.updatedAt, since))
    for (const { id, at } of changed) {
      if (this.policies.get(id) === at) continue
      this.policies.set(id, at)
      const own = [...this.byId.values()].filter(one => one.workspaceId === id).map(one => one.id)
      for (let from = 0; from < own.length; from += rowsAtOnce)
        await this.specify(
          await read
            .select()
            .from(monitors)
            .where(inArray(monitors.id, own.slice(from, from + rowsAtOnce))),
          change,
        )
    }
  }

  private drop(id: string, change: RosterChange): void {
    if (!this.byId.delete(id)) return
    latestOf(this.hub).delete(id)
    change.remove.push(id)
  }
}

/** Its state with the time of the last check, which is written down more often than what it found: that was nothing new. */
function heardLately({ state, lastCheckAt }: MonitorRow): MonitorState {
  const local = state.locations[localLocation]
  if (!local?.lastResultAt || !lastCheckAt || lastCheckAt <= local.lastResultAt) return state
  return { ...state, locations: { ...state.locations, [localLocation]: { ...local, lastResultAt: lastCheckAt } } }
}

type Policy = typeof workspaces.$inferSelect.networkPolicy

async function policiesOf(read: Reader, ids: ReadonlySet<string>): Promise<Map<string, Policy>> {
  if (ids.size === 0) return new Map()
  const rows = await read
    .select({ id: workspaces.id, policy: workspaces.networkPolicy })
    .from(workspaces)
    .where(inArray(workspaces.id, [...ids]))
  return new Map(rows.map(row => [row.id, row.policy]))
}
