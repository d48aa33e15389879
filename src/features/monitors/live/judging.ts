import { and, eq, inArray } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { othersTurn } from '../../../core/turns'
import { monitors } from '../tables'
import { consequencesOf, type Consequences } from './consequences'
import { judged, type Found, type Judged } from './judged'
import type { MonitorRow } from '../view'
import type { Kept, Roster, RosterChange } from './roster'
import type { Shares } from './shares'
import type { Surroundings } from './surroundings'
import { freshFor } from '../verdict/locations'

// In a transaction. All else in the process waits while SQLite is written, so there are fewer where each takes long.
const mostAtOnce = 100
const leastAtOnce = 25
const longestWriteMs = 80
// Of one monitor, while nothing can be written: the first failures tell when it began, the last results how it is.
const mostFound = 64
// What came back is large. While nothing can be written it is kept of those that may open an incident, and of the last.
const mostEvidence = 4

/**
 * Judges what was found. What changes nothing that must survive a restart stays in memory; the rest waits here until it is written,
 * and is judged once more inside the transaction that writes it, upon the state that the database has. So a write that fails is
 * tried again with nothing lost, and one that succeeded unnoticed is not done twice.
 */
export class Judging {
  private readonly waitingFound = new Map<string, Found[]>()
  private atOnce = mostAtOnce

  constructor(
    private readonly hub: Hub,
    private readonly roster: Roster,
    private readonly shares: Shares,
    private readonly surroundings: Surroundings,
    private readonly changed: (change: RosterChange) => void,
    private readonly ask: (monitors: readonly string[]) => void,
  ) {}

  /** Monitors that wait to be written. */
  get waiting(): number {
    return this.waitingFound.size
  }

  take(kept: Kept, given: Omit<Found, 'upon'>): void {
    const found = { ...given, upon: kept.stateVersion }
    const before = this.waitingFound.get(kept.id)
    if (before) {
      if (before.length >= mostFound) before.splice(mostFound / 2, 1)
      const last = before.at(-1)!
      if (before.length > mostEvidence && last.result?.evidence) last.result = { ...last.result, evidence: null }
      before.push(found)
      return
    }
    const { after, quiet } = judged(kept, kept, [found], this.surroundings)
    if (!quiet) this.waitingFound.set(kept.id, [found])
    else {
      Object.assign(kept, { state: after.state, wakeAt: after.wakeAt })
      if (found.result) this.surroundings.looked(kept.id)
    }
  }

  /** Where nobody looked for a while, silence says nothing about what is checked: it has time to be heard of first. */
  stoodStill(): void {
    const at = this.hub.clock.now()
    for (const kept of this.roster.all())
      if (kept.wakeAt !== null && !kept.group) kept.wakeAt = Math.max(kept.wakeAt, at + freshFor(kept.intervalSeconds * 1000))
  }

  /** Judges those monitors anew whose time has come, without a result. */
  wakeDue(): void {
    const at = this.hub.clock.now()
    for (const kept of this.roster.all())
      if (kept.wakeAt !== null && kept.wakeAt <= at && !kept.paused) {
        kept.wakeAt = null
        this.take(kept, { at, location: null, result: null })
      }
  }

  /** Writes what waits. @throws where the database does not take it; it waits on then */
  async write(): Promise<void> {
    for (;;) {
      const ids = this.next()
      if (ids.length === 0) return
      const began = performance.now()
      await this.writeSome(ids.sort())
      const tookMs = performance.now() - began
      if (tookMs > longestWriteMs) this.atOnce = Math.max(leastAtOnce, Math.ceil(this.atOnce / 2))
      else if (tookMs < longestWriteMs / 2) this.atOnce = Math.min(mostAtOnce, this.atOnce * 2)
      await othersTurn()
    }
  }

  /** Those that are written next. Workspaces take turns: of one with thousands of monitors that fail no other has to wait. */
  private next(): string[] {
    const byWorkspace = new Map<string, string[]>()
    for (const id of this.waitingFound.keys()) {
      const kept = this.roster.get(id)
      if (!kept || kept.paused) this.waitingFound.delete(id)
      else if (this.shares.owns(kept.share)) {
        const own = byWorkspace.get(kept.workspaceId)
        if (!own) byWorkspace.set(kept.workspaceId, [id])
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
      const rows = new Map((await tx.select().from(monitors).where(inArray(monitors.id, ids))).map(row => [row.id, row]))
      const own = await this.shares.confirm(tx)
      const outcomes: Outcome[] = []
      for (const id of ids) {
        const kept = this.roster.get(id)
        if (kept && !own.has(kept.share)) outcomes.push({ kept, row: null, lost: true })
        else if (kept) outcomes.push(await this.writeOne(tx, kept, rows.get(id) ?? null, found.get(id)!))
      }
      const all = outcomes.flatMap(one => one.consequences ?? [])
      return {
        result: outcomes,
        audits: all.flatMap(one => one.audits),
        events: all.flatMap(one => one.events),
        jobs: all.flatMap(one => one.jobs),
        notices: all.flatMap(one => one.notices),
        wakes: all.flatMap(one => one.wakes),
      }
    })
    for (const one of written) await this.apply(one, new Set(found.get(one.kept.id)))
  }

  /** Judges one monitor upon the row that the database has, and writes what follows. */
  private async writeOne(tx: Tx, kept: Kept, row: MonitorRow | null, found: readonly Found[]): Promise<Outcome> {
    if (!row) return { kept, row }
    // Edited or paused meanwhile: what was found before says nothing about it as it is now.
    if (row.version !== kept.version || row.paused) return { kept, row }
    const isOurs = row.stateVersion === kept.stateVersion
    const news = found.filter(one => one.upon === row.stateVersion || !isIn(row, one))
    const { after, steps, quiet } = judged(kept, isOurs ? kept : row, news, this.surroundings)
    if (quiet) return { kept, row, after }
    const won = await tx
      .update(monitors)
      .set({
        status: after.status,
        statusSince: after.statusSince,
        state: after.state,
        stateVersion: row.stateVersion + 1,
        lastCheckAt: kept.lastCheckAt,
        certificateExpiresAt: kept.certificateExpiresAt,
      })
      .where(and(eq(monitors.id, row.id), eq(monitors.stateVersion, row.stateVersion), eq(monitors.version, row.version)))
      .returning({ id: monitors.id })
    if (won.length === 0) return { kept, row: null, again: true }
    const consequences: Consequences[] = []
    for (const step of steps)
      consequences.push(await consequencesOf(tx, this.hub, kept, step, this.surroundings.affectedBy(kept.id)))
    return { kept, row: { ...row, stateVersion: row.stateVersion + 1 }, after, consequences }
  }

  /** Takes over into memory what was committed. */
  private async apply({ kept, row, after, consequences, again, lost }: Outcome, done: ReadonlySet<Found>): Promise<void> {
    if (again) return
    if (lost) {
      this.waitingFound.delete(kept.id)
      return
    }
    const left = this.waitingFound.get(kept.id)?.filter(one => !done.has(one)) ?? []
    this.waitingFound.delete(kept.id)
    if (!row) return this.changed(this.roster.forget(kept.id))
    if (!after) return this.changed(await this.roster.reread(row))
    const { state, status, statusSince, wakeAt } = after
    Object.assign(kept, { state, status, statusSince, wakeAt, stateVersion: row.stateVersion })
    if (consequences) kept.checkWrittenAt = kept.lastCheckAt
    if (consequences && consequences.length > 0) {
      this.surroundings.moved(kept.id)
      this.ask([...new Set(consequences.flatMap(one => one.asks))])
    }
    for (const one of left) this.take(kept, one)
  }
}

interface Outcome {
  kept: Kept
  /** As it is in the database by now; null: it is gone. */
  row: MonitorRow | null
  /** Absent where it was edited or paused meanwhile. */
  after?: Judged['after']
  consequences?: Consequences[]
  /** Somebody else wrote at the same moment. */
  again?: boolean
  /** Another hub has its share by now. */
  lost?: boolean
}

/** Whether what was found is part of a state already that somebody wrote since: where the success of a write was not heard of. */
function isIn(row: MonitorRow, { location, result }: Found): boolean {
  const last = location === null ? null : (row.state.locations[location]?.lastResultAt ?? null)
  return result !== null && last !== null && result.at <= last
}
