import { edenGC } from 'bun:jsc'
import { count, gte, inArray, sql } from 'drizzle-orm'
import { workspaces } from '../../../access/tables'
import type { CheckResult, CheckSpec } from '../../../checks/check'
import { prepared } from '../../../core/db/prepared'
import type { Reader } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { InternPool } from '../../../core/intern-pool'
import { networkPolicy } from '../../../core/net/egress'
import { yieldToEventLoop } from '../../../core/time-slices'
import { changedEndsOfHolders, endsOfHolders } from '../../registry/interests'
import { usesDomain } from '../domain'
import { latestOf } from './latest'
import type { GroupOptions } from '../definition/types'
import { carriesSecret, isChecked, specOf } from '../definition/spec'
import type { MonitorState } from '../verdict/state'
import { monitors } from '../tables'
import type { MonitorRow } from '../view'
import { afterEdit } from '../verdict/judge'
import { freshFor } from '../verdict/locations'
import { localLocation } from './locations'
import { shareCount } from './shares'

const loadedColumns = [
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

// All other columns have the same values for most monitors, so equal values are shared.
const distinctColumns: ReadonlySet<string> = new Set<keyof MonitorRow>(['id', 'name', 'target', 'state'])

type LoadedRow = Pick<MonitorRow, (typeof loadedColumns)[number]>

/** A monitor of this hub's shares in memory, with the columns needed to judge and report it. */
export interface LoadedMonitor extends LoadedRow {
  /** When it must be judged again even without a result. */
  wakeAt: number | null
  /** The options of a group; null for other types. */
  group: GroupOptions | null
  /** The last result that was not `up`, with its evidence; null once a result is `up`. */
  lastBad: CheckResult | null
  /** `lastCheckAt` as stored in the database. */
  checkWrittenAt: number | null
}

/** Changes to send to the engine. */
export interface RosterChange {
  upsert: CheckSpec[]
  remove: string[]
}

const sharesAtOnce = 16
const rowsAtOnce = 500
const rowsPerCollection = 100
// The clocks of hubs differ, and a change written earlier may be committed later.
const overlapMs = 60_000

/** The monitors of the shares this hub owns. */
export class Roster {
  private readonly byId = new Map<string, LoadedMonitor>()
  private shares = new Set<number>()
  private refreshedAt: number
  private readonly policies = new Map<string, number>()
  /** When the domains of monitors expire, as far as conditions use it. */
  private readonly domainEnds = new Map<string, number | null>()
  private readonly pool = new InternPool()

  constructor(private readonly hub: Hub) {
    this.refreshedAt = hub.clock.now()
  }

  get(id: string): LoadedMonitor | undefined {
    return this.byId.get(id)
  }

  all(): IterableIterator<LoadedMonitor> {
    return this.byId.values()
  }

  get hasAllShares(): boolean {
    return this.shares.size === shareCount
  }

  get size(): number {
    return this.byId.size
  }

  /**
   * Loads the monitors of newly acquired shares in batches: all rows at once would take far more memory than what is kept of them.
   */
  async *load(shares: readonly number[]): AsyncGenerator<RosterChange> {
    let change: RosterChange = { upsert: [], remove: [] }
    let sinceCollected = 0
    for (let at = 0; at < shares.length; at += sharesAtOnce) {
      const some = shares.slice(at, at + sharesAtOnce)
      const rows = await this.hub.read.select().from(monitors).where(inArray(monitors.share, some))
      for (const share of some) this.shares.add(share)
      await this.store(rows, change)
      sinceCollected += rows.length
      if (sinceCollected >= rowsPerCollection) {
        // Else what is kept would be spread over all memory that loading used, which could then not be released.
        edenGC()
        sinceCollected = 0
      }
      if (change.upsert.length >= rowsAtOnce) {
        yield change
        change = { upsert: [], remove: [] }
      }
      await yieldToEventLoop()
    }
    yield change
  }

  /** Unloads the monitors of shares this hub no longer owns. */
  unload(shares: readonly number[]): RosterChange {
    const change: RosterChange = { upsert: [], remove: [] }
    for (const share of shares) this.shares.delete(share)
    for (const one of this.byId.values()) if (!this.shares.has(one.share)) this.drop(one.id, change)
    return change
  }

  /** Picks up monitors that any hub created, updated, paused, or deleted. */
  async refresh(): Promise<RosterChange> {
    const change: RosterChange = { upsert: [], remove: [] }
    if (this.shares.size === 0) return change
    const { read, clock } = this.hub
    // After the clock was set back, new updates look old.
    const now = clock.now()
    const since = Math.min(this.refreshedAt, now) - overlapMs
    const changed = await prepared(read, 'changed-monitors', handle =>
      handle
        .select({
          id: monitors.id,
          share: monitors.share,
          version: monitors.version,
          stateVersion: monitors.stateVersion,
        })
        .from(monitors)
        .where(gte(monitors.updatedAt, sql.placeholder('since'))),
    ).execute({ since })
    const news = changed.filter(row => this.shares.has(row.share) && !this.isKnown(row)).map(row => row.id)
    for (let at = 0; at < news.length; at += rowsAtOnce)
      await this.store(
        await read
          .select()
          .from(monitors)
          .where(inArray(monitors.id, news.slice(at, at + rowsAtOnce))),
        change,
      )
    const ofShares = this.hasAllShares ? undefined : inArray(monitors.share, [...this.shares])
    const counted = (handle: Reader) => handle.select({ n: count() }).from(monitors).where(ofShares)
    const [there] = await (this.hasAllShares ? prepared(read, 'monitor-count', counted).execute() : counted(read))
    if (there!.n < this.byId.size) {
      const ids = new Set((await read.select({ id: monitors.id }).from(monitors).where(ofShares)).map(row => row.id))
      for (const id of [...this.byId.keys()]) if (!ids.has(id)) this.drop(id, change)
    }
    await this.applyPolicyChanges(since, change)
    await this.applyDomainChanges(since, change)
    this.refreshedAt = now
    return change
  }

  /** Reloads a row that another writer changed. */
  async reread(row: MonitorRow): Promise<RosterChange> {
    const change: RosterChange = { upsert: [], remove: [] }
    if (this.shares.has(row.share)) await this.store([row], change)
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

  private async store(rows: readonly MonitorRow[], change: RosterChange): Promise<void> {
    for (const row of rows) {
      const before = this.byId.get(row.id)
      const now = this.hub.clock.now()
      const isEdited = before && before.version !== row.version && before.stateVersion === row.stateVersion && !row.paused
      this.byId.set(row.id, {
        ...this.loaded(row),
        state: isEdited ? afterEdit(row.state, row.locations, now) : before ? row.state : withLastCheck(row),
        // Missing results from before may be due to the hubs, not the monitor.
        wakeAt: before || row.type === 'group' ? now : now + freshFor(row.intervalSeconds * 1000),
        group: row.type === 'group' ? (row.options as GroupOptions) : null,
        lastBad: before?.lastBad ?? null,
        lastCheckAt: Math.max(before?.lastCheckAt ?? 0, row.lastCheckAt ?? 0) || null,
        checkWrittenAt: row.lastCheckAt,
        // The value in memory may be newer, unless the monitor was updated.
        certificateExpiresAt: (before?.version === row.version ? before : row).certificateExpiresAt,
      })
    }
    await this.specify(rows, change)
  }

  private loaded(row: MonitorRow): LoadedRow {
    const members = loadedColumns.map(name => [name, distinctColumns.has(name) ? row[name] : this.pool.intern(row[name])])
    return Object.fromEntries(members) as LoadedRow
  }

  private async specify(rows: readonly MonitorRow[], change: RosterChange): Promise<void> {
    const policies = await policiesOf(this.hub.read, new Set(rows.map(row => row.workspaceId)))
    const wanting = rows.filter(usesDomain).map(row => row.id)
    const domainEnds = await endsOfHolders(this.hub.read, 'monitor', wanting)
    for (const row of rows) {
      const stored = policies.get(row.workspaceId)
      const settled = row.state.locations[localLocation]?.settled ?? 'new'
      const domainEnd = domainEnds.get(row.id) ?? null
      if (domainEnds.has(row.id)) this.domainEnds.set(row.id, domainEnd)
      if (!stored || !isChecked(row)) change.remove.push(row.id)
      else {
        const secret = carriesSecret(row)
        const policy = this.pool.intern(networkPolicy(stored, { carriesSecret: secret }))
        const spec = await specOf(this.hub, row, policy, domainEnd, settled)
        change.upsert.push({
          ...spec,
          // Options with secrets are not shared, so that they are released with their monitor.
          options: secret ? spec.options : this.pool.intern(spec.options),
          down_if: this.pool.intern(spec.down_if),
          degraded_if: this.pool.intern(spec.degraded_if),
        })
      }
    }
  }

  private async applyPolicyChanges(since: number, change: RosterChange): Promise<void> {
    const { read } = this.hub
    const changed = await prepared(read, 'changed-workspaces', handle =>
      handle
        .select({ id: workspaces.id, at: workspaces.updatedAt })
        .from(workspaces)
        .where(gte(workspaces.updatedAt, sql.placeholder('since'))),
    ).execute({ since })
    for (const { id, at } of changed) {
      if (this.policies.get(id) === at) continue
      this.policies.set(id, at)
      await this.specifyAgain(
        [...this.byId.values()].filter(one => one.workspaceId === id).map(one => one.id),
        change,
      )
    }
  }

  private async applyDomainChanges(since: number, change: RosterChange): Promise<void> {
    const changed = [...(await changedEndsOfHolders(this.hub.read, 'monitor', since))]
    const isNew = ([id, end]: [string, number | null]) => this.byId.has(id) && this.domainEnds.get(id) !== end
    await this.specifyAgain(
      changed.filter(isNew).map(([id]) => id),
      change,
    )
  }

  private async specifyAgain(ids: readonly string[], change: RosterChange): Promise<void> {
    for (let from = 0; from < ids.length; from += rowsAtOnce)
      await this.specify(
        await this.hub.read
          .select()
          .from(monitors)
          .where(inArray(monitors.id, ids.slice(from, from + rowsAtOnce))),
        change,
      )
  }

  private drop(id: string, change: RosterChange): void {
    if (!this.byId.delete(id)) return
    latestOf(this.hub).delete(id)
    this.domainEnds.delete(id)
    change.remove.push(id)
  }
}

/** The state with the time of the last check, which is stored more often than the state itself. */
function withLastCheck({ state, lastCheckAt }: MonitorRow): MonitorState {
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
