import { and, asc, eq, gt, inArray, sql } from 'drizzle-orm'
import { auditCounter } from '../../core/audit-chain'
import type { Timer } from '../../core/clock'
import { prepared } from '../../core/db/prepared'
import { auditEntries, counters } from '../../core/db/tables'
import type { Reader } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { auditTopic, topicsOf } from '../../core/topics'
import { fewer, touchesOf, type Touch } from '../../core/touches'
import { mostChanges, type Listener, type Place } from './listener'
import type { Entry } from './told'

/** How long changes are gathered that are told together. */
export const gatherMs = 250
/** Rounds of touches that are remembered for who comes back. */
const mostRounds = 100

/** The end of a workspace's audit log and what is told beside it, read once for all who listen. */
export class LogTail {
  readonly listeners = new Set<Listener>()
  /** Unlike that of any other: touches are counted by each tail for itself. */
  readonly name = crypto.randomUUID().slice(0, 8)
  /** Up to here the listeners were told, but for those who are behind. */
  private place: Place = { seq: 0, round: 0 }
  private touches: Touch[] = []
  private readonly rounds: { round: number; touches: Touch[] }[] = []
  private timer: Timer | null = null
  private isReading = false
  /** Woken while it was read: what came may have come too late for that. */
  private isStale = false
  private readonly offs: (() => void)[]
  private readonly begun: Promise<void>

  constructor(
    private readonly hub: Hub,
    readonly workspaceId: string,
  ) {
    // Heard from before the place is read, so that nothing falls in between.
    this.offs = [
      topicsOf(hub).on(auditTopic(workspaceId), () => this.gather()),
      touchesOf(hub).on(workspaceId, touches => this.touched(touches)),
    ]
    this.begun = headsOf(hub.read, [workspaceId]).then(heads => {
      this.place = { seq: heads.get(workspaceId) ?? 0, round: 0 }
    })
  }

  /**
   * Takes a listener in at a place that its client remembers, or at the end.
   * @returns false where the place is none of which all that came after it is known
   */
  async add(listener: Listener, since: string | null): Promise<boolean> {
    this.listeners.add(listener)
    await this.begun
    listener.tail = this.name
    const known = since === null ? this.place : this.placeOf(since)
    listener.place = known ?? this.place
    return known !== null
  }

  /** Tells a listener what came behind its place, or that it is too much; from then on it is told with the others. */
  async catchUp(listener: Listener): Promise<void> {
    const touches = fewer(this.rounds.filter(one => one.round > listener.place.round).flatMap(one => one.touches))
    if (touches.length > 0) listener.tell({ entries: [], touches }, { seq: listener.place.seq, round: this.rounds.at(-1)!.round })
    while (listener.place.seq < this.place.seq) {
      const entries = await entriesBehind(this.hub.read, this.workspaceId, listener.place.seq)
      // Less than a step of the log at once: what lies between was deleted.
      if (entries.length > mostChanges || entries[0]?.seq !== listener.place.seq + 1) listener.reset(this.place)
      else listener.tell({ entries, touches: [] }, { seq: entries.at(-1)!.seq, round: listener.place.round })
    }
    // Rounds that were told meanwhile passed it by.
    if (listener.place.round < this.place.round) return await this.catchUp(listener)
    listener.isBehind = false
  }

  /** Looks whether the log is longer than was told, as a look at the counters has shown. @param head number of its last entry */
  grown(head: number): void {
    if (head > this.place.seq && !this.timer) void this.read()
  }

  stop(): void {
    for (const off of this.offs) off()
    this.timer?.cancel()
  }

  private placeOf(since: string): Place | null {
    const [, seq, name, round] = /^(\d{1,15})-([0-9a-f]{8})-(\d{1,15})$/.exec(since) ?? []
    const place = { seq: Number(seq), round: Number(round) }
    if (name !== this.name || place.seq > this.place.seq || place.round > this.place.round) return null
    return place.round >= this.place.round - this.rounds.length ? place : null
  }

  private touched(touches: readonly Touch[]): void {
    this.touches.push(...touches)
    if (this.touches.length > mostChanges) this.touches = fewer(this.touches)
    this.gather()
  }

  private gather(): void {
    this.timer ??= this.hub.clock.after(gatherMs, () => {
      this.timer = null
      void this.read()
    })
  }

  private async read(): Promise<void> {
    this.isStale = true
    if (this.isReading) return
    this.isReading = true
    try {
      while (this.isStale) {
        this.isStale = false
        await this.tell()
      }
    } catch (error) {
      // The next look at the counters finds it again.
      this.hub.log.warn({ err: error }, 'changes could not be read for those who listen; it is tried again')
    } finally {
      this.isReading = false
    }
  }

  private async tell(): Promise<void> {
    await this.begun
    const entries = await entriesBehind(this.hub.read, this.workspaceId, this.place.seq)
    const isMuch = entries.length > mostChanges
    const head = isMuch ? (await headsOf(this.hub.read, [this.workspaceId])).get(this.workspaceId) : entries.at(-1)?.seq
    const touches = this.takeRound()
    if (entries.length === 0 && touches.length === 0) return
    this.place = { seq: head ?? this.place.seq, round: this.rounds.at(-1)?.round ?? 0 }
    const known = new Map()
    for (const listener of [...this.listeners].filter(one => !one.isBehind)) {
      if (isMuch) listener.reset(this.place)
      else listener.tell({ entries, touches }, this.place, known)
    }
    // Who belongs to the workspace, and may what, may be another by now.
    if (isMuch || entries.some(one => one.action.startsWith('account.')))
      await Promise.all([...this.listeners].map(one => one.recheck()))
  }

  private takeRound(): Touch[] {
    if (this.touches.length === 0) return []
    const touches = fewer(this.touches)
    this.touches = []
    this.rounds.push({ round: this.place.round + 1, touches })
    if (this.rounds.length > mostRounds) this.rounds.shift()
    return touches
  }
}

/** The numbers of the last entries of workspaces' logs. */
export async function headsOf(read: Reader, workspaceIds: readonly string[]): Promise<Map<string, number>> {
  const idOf = new Map(workspaceIds.map(id => [auditCounter(id), id]))
  const rows = await read
    .select({ name: counters.name, value: counters.value })
    .from(counters)
    .where(inArray(counters.name, [...idOf.keys()]))
  return new Map(rows.map(row => [idOf.get(row.name)!, row.value]))
}

/** One more than are told at once, so that it shows when there are more. */
const entriesBehind = (read: Reader, workspaceId: string, seq: number): Promise<Entry[]> =>
  prepared<Entry[]>(read, 'entries-behind', handle =>
    handle
      .select({
        seq: auditEntries.seq,
        action: auditEntries.action,
        outcome: auditEntries.outcome,
        targets: auditEntries.targets,
      })
      .from(auditEntries)
      .where(and(eq(auditEntries.workspaceId, sql.placeholder('workspaceId')), gt(auditEntries.seq, sql.placeholder('seq'))))
      .orderBy(asc(auditEntries.seq))
      .limit(mostChanges + 1),
  ).execute({ workspaceId, seq })
