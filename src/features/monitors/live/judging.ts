import { record } from '../../../core/change'
import { rowsById } from '../../../core/db/rows-by-id'
import { together } from '../../../core/db/together'
import type { Tx } from '../../../core/db/transaction'
import { updateRows } from '../../../core/db/update-rows'
import type { Hub } from '../../../core/hub'
import { yieldToEventLoop } from '../../../core/time-slices'
import { statusRank } from '../shapes'
import { monitors } from '../tables'
import { consequencesOf, dependsOnOthers, type Consequences } from './consequences'
import { judged, type Observation, type Judged, type Step } from './judged'
import type { MonitorRow } from '../view'
import type { LoadedMonitor, Roster, RosterChange } from './roster'
import type { Shares } from './shares'
import { isNewsToOthers, type RelatedMonitors } from './related-monitors'
import { freshFor } from '../verdict/locations'

// Monitors per transaction. SQLite writes block the whole process, so slow writes reduce the batch size.
const maxAtOnce = 100
const minAtOnce = 25
const maxWriteMs = 80
// Observations to keep per monitor while writes fail: the first ones tell when it started, the last ones how it is now.
const maxFound = 64
// Evidence is large. While writes fail, keep it for the first observations, which may open an incident, and for the last.
const maxEvidence = 4

/**
 * Judges results. Quiet outcomes stay in memory. Others wait here to be written, and are judged again within the write transaction,
 * against the state in the database. So a failed write can be retried without losing anything, and a write that succeeded unnoticed
 * is not repeated.
 */
export class Judging {
  private readonly waitingFound = new Map<string, Observation[]>()
  private atOnce = maxAtOnce

  constructor(
    private readonly hub: Hub,
    private readonly roster: Roster,
    private readonly shares: Shares,
    private readonly related: RelatedMonitors,
    private readonly changed: (change: RosterChange) => void,
    private readonly requestChecks: (monitors: readonly string[]) => void,
  ) {}

  /** The number of monitors waiting to be written. */
  get waiting(): number {
    return this.waitingFound.size
  }

  observe(monitor: LoadedMonitor, input: Omit<Observation, 'stateVersion'>): void {
    const found = { ...input, stateVersion: monitor.stateVersion }
    const before = this.waitingFound.get(monitor.id)
    if (before) {
      if (before.length >= maxFound) before.splice(maxFound / 2, 1)
      const last = before.at(-1)!
      if (before.length > maxEvidence && last.result?.evidence) last.result = { ...last.result, evidence: null }
      before.push(found)
      return
    }
    const { after, quiet } = judged(monitor, monitor, [found], this.related)
    if (!quiet) this.waitingFound.set(monitor.id, [found])
    else {
      Object.assign(monitor, { state: after.state, wakeAt: after.wakeAt })
      if (found.result) this.related.checkedAgain(monitor.id)
    }
  }

  /** After the hub itself stalled, missing results mean nothing: allow time for new ones. */
  resumeAfterStall(): void {
    const at = this.hub.clock.now()
    for (const monitor of this.roster.all())
      if (monitor.wakeAt !== null && !monitor.group)
        monitor.wakeAt = Math.max(monitor.wakeAt, at + freshFor(monitor.intervalSeconds * 1000))
  }

  /** Judges monitors whose wake-up time has come, without a result. */
  wakeDue(): void {
    const at = this.hub.clock.now()
    for (const monitor of this.roster.all())
      if (monitor.wakeAt !== null && monitor.wakeAt <= at && !monitor.paused) {
        monitor.wakeAt = null
        this.observe(monitor, { at, location: null, result: null })
      }
  }

  /** Writes waiting outcomes. @throws if the database write fails; they stay queued then */
  async write(): Promise<void> {
    for (;;) {
      const ids = this.next()
      if (ids.length === 0) return
      const startedAt = performance.now()
      await this.writeSome(ids.sort())
      const tookMs = performance.now() - startedAt
      if (tookMs > maxWriteMs) this.atOnce = Math.max(minAtOnce, Math.ceil(this.atOnce / 2))
      else if (tookMs < maxWriteMs / 2) this.atOnce = Math.min(maxAtOnce, this.atOnce * 2)
      await yieldToEventLoop()
    }
  }

  /** The next batch. Round-robin over workspaces, so that one with thousands of failing monitors doesn't delay the others. */
  private next(): string[] {
    const byWorkspace = new Map<string, string[]>()
    for (const id of this.waitingFound.keys()) {
      const monitor = this.roster.get(id)
      if (!monitor || monitor.paused) this.waitingFound.delete(id)
      else if (this.shares.owns(monitor.share)) {
        const own = byWorkspace.get(monitor.workspaceId)
        if (!own) byWorkspace.set(monitor.workspaceId, [id])
        else if (own.length < this.atOnce) own.push(id)
      }
    }
    const ids: string[] = []
    for (let turn = 0; ids.length < this.atOnce; turn++) {
      const some = [...byWorkspace.values()].flatMap(own => own[turn] ?? [])
      if (some.length === 0) break
      ids.push(...some.slice(0, this.atOnce - ids.length))
    }
    return ids
  }

  private async writeSome(ids: string[]): Promise<void> {
    const found = new Map(ids.map(id => [id, [...this.waitingFound.get(id)!]]))
    const written = await record(this.hub, async tx => {
      const rows = await rowsById<MonitorRow>(tx, 'monitors', monitors, monitors.id, new Set(ids))
      const own = await this.shares.confirm(tx)
      const outcomes: Outcome[] = []
      for (const id of ids) {
        const monitor = this.roster.get(id)
        if (monitor && !own.has(monitor.share)) outcomes.push({ monitor, row: null, lost: true })
        else if (monitor) outcomes.push(this.judgeOne(monitor, rows.get(id) ?? null, found.get(id)!))
      }
      await this.writeOutcomes(tx, outcomes)
      const all = outcomes.flatMap(one => one.consequences ?? [])
      return {
        result: outcomes,
        audits: all.flatMap(one => one.audits),
        events: all.flatMap(one => one.events),
        jobs: all.flatMap(one => one.jobs),
        notices: all.flatMap(one => one.notices),
        wakeTopics: all.flatMap(one => one.wakes),
      }
    })
    for (const one of written) await this.apply(one, new Set(found.get(one.monitor.id)))
  }

  /** Judges one monitor against its row in the database. */
  private judgeOne(monitor: LoadedMonitor, row: MonitorRow | null, found: readonly Observation[]): Outcome {
    if (!row) return { monitor, row }
    // Updated or paused in the meantime: older results no longer apply.
    if (row.version !== monitor.version || row.paused) return { monitor, row }
    const isOurs = row.stateVersion === monitor.stateVersion
    const fresh = found.filter(one => one.stateVersion === row.stateVersion || !isIn(row, one))
    // Wake-ups from here on are about changes that this judgment doesn't see, such as those of the same batch. A state that was
    // stored unnoticed is judged again, because its own wake-up got lost.
    monitor.wakeAt = isOurs ? null : this.hub.clock.now()
    const { after, steps, quiet } = judged(monitor, isOurs ? monitor : row, fresh, this.related)
    return { monitor, row, after, ...(!quiet && { steps }) }
  }

  /** Writes the outcomes that aren't quiet, with their consequences. */
  private async writeOutcomes(tx: Tx, outcomes: readonly Outcome[]): Promise<void> {
    const changes = outcomes.flatMap(({ monitor, row, after, steps }) =>
      steps
        ? {
            id: monitor.id,
            before: row!,
            stateVersion: row!.stateVersion + 1,
            status: after!.status,
            statusRank: statusRank(after!.status),
            statusSince: after!.statusSince,
            state: after!.state,
            lastCheckAt: monitor.lastCheckAt,
            certificateExpiresAt: monitor.certificateExpiresAt,
          }
        : [],
    )
    const won = await updateRows(
      tx,
      monitors,
      {
        name: 'state',
        set: ['status', 'statusRank', 'statusSince', 'state', 'stateVersion', 'lastCheckAt', 'certificateExpiresAt'],
        where: ['stateVersion', 'version'],
      },
      changes,
    )
    const written: Outcome[] = []
    for (const one of outcomes) {
      if (!one.steps) continue
      if (won.has(one.monitor.id)) {
        one.row = { ...one.row!, stateVersion: one.row!.stateVersion + 1 }
        written.push(one)
      } else Object.assign(one, { row: null, after: undefined, again: true })
    }
    const consequences = async ({ monitor, steps }: Outcome): Promise<Consequences[]> => {
      const all: Consequences[] = []
      for (const step of steps!) all.push(await consequencesOf(tx, this.hub, monitor, step, this.related.affectedBy(monitor.id)))
      return all
    }
    // An affected monitor is added to the incident of another, which must be written first.
    const [last, first] = [
      written.filter(one => one.steps!.some(dependsOnOthers)),
      written.filter(one => !one.steps!.some(dependsOnOthers)),
    ]
    const done = await together(
      tx,
      first.map(one => () => consequences(one)),
    )
    first.forEach((one, index) => (one.consequences = done[index]!))
    for (const one of last) one.consequences = await consequences(one)
  }

  /** Applies what was committed to memory. */
  private async apply(
    { monitor, row, after, consequences, again, lost }: Outcome,
    done: ReadonlySet<Observation>,
  ): Promise<void> {
    if (again) return
    if (lost) {
      this.waitingFound.delete(monitor.id)
      // Judge it again if this hub gets the share back before it unloads the monitor.
      monitor.wakeAt = this.hub.clock.now()
      return
    }
    const left = this.waitingFound.get(monitor.id)?.filter(one => !done.has(one)) ?? []
    this.waitingFound.delete(monitor.id)
    if (!row) return this.changed(this.roster.forget(monitor.id))
    if (!after) return this.changed(await this.roster.reread(row))
    const isNews = isNewsToOthers(monitor, after)
    const wakeAt = Math.min(after.wakeAt ?? Infinity, monitor.wakeAt ?? Infinity)
    Object.assign(monitor, { ...after, wakeAt: wakeAt === Infinity ? null : wakeAt, stateVersion: row.stateVersion })
    if (consequences) {
      monitor.checkWrittenAt = monitor.lastCheckAt
      this.requestChecks([...new Set(consequences.flatMap(one => one.checks))])
    }
    if (isNews) this.related.statusChanged(monitor.id)
    else this.related.checkedAgain(monitor.id)
    for (const one of left) this.observe(monitor, one)
  }
}

interface Outcome {
  monitor: LoadedMonitor
  /** The row in the database; null if it was deleted. */
  row: MonitorRow | null
  /** Absent if it was updated or paused in the meantime. */
  after?: Judged['after']
  /** Absent if nothing needs to be stored. */
  steps?: readonly Step[]
  consequences?: Consequences[]
  /** Another writer won a concurrent update. */
  again?: boolean
  /** Another hub owns its share now. */
  lost?: boolean
}

/** Whether a result is already part of the stored state, because an earlier write succeeded unnoticed. */
function isIn(row: MonitorRow, { location, result }: Observation): boolean {
  const last = location === null ? null : (row.state.locations[location]?.lastResultAt ?? null)
  return result !== null && last !== null && result.at <= last
}
