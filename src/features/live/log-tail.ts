import { and, asc, eq, gt, inArray, sql } from 'drizzle-orm'
import { auditCounter } from '../../core/audit-chain'
import type { Timer } from '../../core/clock'
import { prepared } from '../../core/db/prepared'
import { auditEntries, counters } from '../../core/db/tables'
import type { Reader } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { auditTopic, topicsOf } from '../../core/topics'
import { mostChanges, type Listener } from './listener'
import type { Entry } from './told'

/** How long changes are gathered that are told together. */
export const gatherMs = 250

/** The end of a workspace's audit log, read once for all who listen to it. */
export class LogTail {
  readonly listeners = new Set<Listener>()
  /** Up to here the listeners were told, but for those who are behind. */
  private place = 0
  private timer: Timer | null = null
  private isReading = false
  /** Woken while it was read: what came may have come too late for that. */
  private isStale = false
  private readonly off: () => void
  private readonly begun: Promise<void>

  constructor(
    private readonly hub: Hub,
    readonly workspaceId: string,
  ) {
    // Heard from before the place is read, so that nothing falls in between.
    this.off = topicsOf(hub).on(auditTopic(workspaceId), () => this.gather())
    this.begun = headOf(hub.read, workspaceId).then(head => void (this.place = head))
  }

  /** Takes a listener in, from the end of the log. */
  async add(listener: Listener): Promise<void> {
    this.listeners.add(listener)
    await this.begun
    listener.place = this.place
  }

  /** Tells a listener what came behind its place, or that it is too much; from then on it is told with the others. */
  async catchUp(listener: Listener): Promise<void> {
    while (listener.place < this.place) {
      const entries = await entriesBehind(this.hub.read, this.workspaceId, listener.place)
      // Less than a step of the log at once: what lies between was deleted.
      if (entries.length > mostChanges || entries[0]?.seq !== listener.place + 1) listener.reset(this.place)
      else listener.tell(entries)
    }
    listener.isBehind = false
  }

  /** Looks whether the log is longer than was told, as a look at the counters has shown. @param head number of its last entry */
  grown(head: number): void {
    if (head > this.place && !this.timer) void this.read()
  }

  stop(): void {
    this.off()
    this.timer?.cancel()
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
    const entries = await entriesBehind(this.hub.read, this.workspaceId, this.place)
    if (entries.length === 0) return
    const isMuch = entries.length > mostChanges
    this.place = isMuch ? await headOf(this.hub.read, this.workspaceId) : entries.at(-1)!.seq
    const known = new Map()
    for (const listener of [...this.listeners].filter(one => !one.isBehind)) {
      if (isMuch) listener.reset(this.place)
      else listener.tell(entries, known)
    }
    // Who belongs to the workspace, and may what, may be another by now.
    if (isMuch || entries.some(one => one.action.startsWith('account.')))
      await Promise.all([...this.listeners].map(one => one.recheck()))
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

const headOf = async (read: Reader, workspaceId: string): Promise<number> =>
  (await headsOf(read, [workspaceId])).get(workspaceId) ?? 0

/** One more than are told at once, so that it shows when there are more. */
const entriesBehind = (read: Reader, workspaceId: string, place: number): Promise<Entry[]> =>
  prepared<Entry[]>(read, 'entries-behind', handle =>
    handle
      .select({
        seq: auditEntries.seq,
        action: auditEntries.action,
        outcome: auditEntries.outcome,
        targets: auditEntries.targets,
      })
      .from(auditEntries)
      .where(and(eq(auditEntries.workspaceId, sql.placeholder('workspaceId')), gt(auditEntries.seq, sql.placeholder('place'))))
      .orderBy(asc(auditEntries.seq))
      .limit(mostChanges + 1),
  ).execute({ workspaceId, place })
