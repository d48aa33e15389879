import { and, asc, eq, gt, inArray, sql } from 'drizzle-orm'
import { auditCounter } from '../../core/audit-chain'
import type { Timer } from '../../core/clock'
import { prepared } from '../../core/db/prepared'
import { auditEntries, counters } from '../../core/db/tables'
import type { Reader } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { auditTopic, topicsOf } from '../../core/topics'
import { mergeHints, changeHintsOf, type ChangeHint } from '../../core/change-hints'
import { maxChanges, type Listener, type Position } from './listener'
import type { Entry } from './visible-changes'

/** How long changes are collected before they are sent together. */
export const gatherMs = 250
/** Number of batches of hints kept for clients that reconnect. */
const maxBatches = 100

/** Follows the audit log and the change hints of a workspace, and notifies all its listeners. The log is read once for all of them. */
export class LogTail {
  readonly listeners = new Set<Listener>()
  /** Unique, because each tail numbers its batches itself. */
  readonly name = crypto.randomUUID().slice(0, 8)
  /** The last position sent to all listeners except those catching up. */
  private position: Position = { seq: 0, batch: 0 }
  private hints: ChangeHint[] = []
  private readonly batches: { batch: number; hints: ChangeHint[] }[] = []
  private timer: Timer | null = null
  private isReading = false
  /** Set when woken during a read, which may have missed the new changes. */
  private isStale = false
  private readonly unsubscribe: (() => void)[]
  private readonly started: Promise<void>

  constructor(
    private readonly hub: Hub,
    readonly workspaceId: string,
  ) {
    // Subscribe before reading the position, so that no change is missed in between.
    this.unsubscribe = [
      topicsOf(hub).on(auditTopic(workspaceId), () => this.gather()),
      changeHintsOf(hub).on(workspaceId, hints => this.addHints(hints)),
    ]
    this.started = headsOf(hub.read, [workspaceId]).then(heads => {
      this.position = { seq: heads.get(workspaceId) ?? 0, batch: 0 }
    })
  }

  /**
   * Adds a listener at the position its client remembers, or at the end.
   * @returns false if some changes after that position are no longer known
   */
  async add(listener: Listener, since: string | null): Promise<boolean> {
    this.listeners.add(listener)
    await this.started
    listener.tail = this.name
    const known = since === null ? this.position : this.parsePosition(since)
    listener.position = known ?? this.position
    return known !== null
  }

  /** Sends a listener the changes after its position, or `reset` if there are too many. From then on it is notified with the others. */
  async catchUp(listener: Listener): Promise<void> {
    const hints = mergeHints(this.batches.filter(one => one.batch > listener.position.batch).flatMap(one => one.hints))
    if (hints.length > 0)
      listener.notify({ entries: [], hints }, { seq: listener.position.seq, batch: this.batches.at(-1)!.batch })
    while (listener.position.seq < this.position.seq) {
      const entries = await entriesAfter(this.hub.read, this.workspaceId, listener.position.seq)
      // A gap at the start means that entries were deleted.
      if (entries.length > maxChanges || entries[0]?.seq !== listener.position.seq + 1) listener.reset(this.position)
      else listener.notify({ entries, hints: [] }, { seq: entries.at(-1)!.seq, batch: listener.position.batch })
    }
    // Batches sent meanwhile skipped this listener.
    if (listener.position.batch < this.position.batch) return await this.catchUp(listener)
    listener.isCatchingUp = false
  }

  /** Reads the log if it has grown. @param head the sequence number of its last entry */
  advanceTo(head: number): void {
    if (head > this.position.seq && !this.timer) void this.read()
  }

  stop(): void {
    for (const off of this.unsubscribe) off()
    this.timer?.cancel()
  }

  private parsePosition(eventId: string): Position | null {
    const [, seq, name, batch] = /^(\d{1,15})-([0-9a-f]{8})-(\d{1,15})$/.exec(eventId) ?? []
    const position = { seq: Number(seq), batch: Number(batch) }
    if (name !== this.name || position.seq > this.position.seq || position.batch > this.position.batch) return null
    return position.batch >= this.position.batch - this.batches.length ? position : null
  }

  private addHints(hints: readonly ChangeHint[]): void {
    this.hints.push(...hints)
    if (this.hints.length > maxChanges) this.hints = mergeHints(this.hints)
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
        await this.notifyListeners()
      }
    } catch (error) {
      // The next poll finds the changes again.
      this.hub.log.warn({ err: error }, 'could not read changes for streams; retrying')
    } finally {
      this.isReading = false
    }
  }

  private async notifyListeners(): Promise<void> {
    await this.started
    const entries = await entriesAfter(this.hub.read, this.workspaceId, this.position.seq)
    const isTooMany = entries.length > maxChanges
    const head = isTooMany ? (await headsOf(this.hub.read, [this.workspaceId])).get(this.workspaceId) : entries.at(-1)?.seq
    const hints = this.takeBatch()
    if (entries.length === 0 && hints.length === 0) return
    this.position = { seq: head ?? this.position.seq, batch: this.batches.at(-1)?.batch ?? 0 }
    const cache = new Map()
    for (const listener of [...this.listeners].filter(one => !one.isCatchingUp)) {
      if (isTooMany) listener.reset(this.position)
      else listener.notify({ entries, hints }, this.position, cache)
    }
    // Memberships, roles or tokens may have changed.
    if (isTooMany || entries.some(one => one.action.startsWith('account.')))
      await Promise.all([...this.listeners].map(one => one.recheck()))
  }

  private takeBatch(): ChangeHint[] {
    if (this.hints.length === 0) return []
    const hints = mergeHints(this.hints)
    this.hints = []
    this.batches.push({ batch: this.position.batch + 1, hints })
    if (this.batches.length > maxBatches) this.batches.shift()
    return hints
  }
}

/** Returns the sequence numbers of the last entries of the logs of workspaces. */
export async function headsOf(read: Reader, workspaceIds: readonly string[]): Promise<Map<string, number>> {
  const idOf = new Map(workspaceIds.map(id => [auditCounter(id), id]))
  const rows = await read
    .select({ name: counters.name, value: counters.value })
    .from(counters)
    .where(inArray(counters.name, [...idOf.keys()]))
  return new Map(rows.map(row => [idOf.get(row.name)!, row.value]))
}

/** Reads one entry more than is sent at once, to detect that there are more. */
const entriesAfter = (read: Reader, workspaceId: string, seq: number): Promise<Entry[]> =>
  prepared<Entry[]>(read, 'audit-entries-after', handle =>
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
      .limit(maxChanges + 1),
  ).execute({ workspaceId, seq })
