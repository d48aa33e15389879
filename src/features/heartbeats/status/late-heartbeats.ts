import { and, asc, inArray, lte, min } from 'drizzle-orm'
import { jobContext, record, systemActor } from '../../../core/change'
import { insertRows } from '../../../core/db/insert-rows'
import { prepared } from '../../../core/db/prepared'
import { together } from '../../../core/db/together'
import type { Tx } from '../../../core/db/transaction'
import { updateRows } from '../../../core/db/update-rows'
import { topicsOf } from '../../../core/topics'
import type { Hub } from '../../../core/hub'
import { joined } from '../../incidents/outages/outage'
import { DueTimer } from './due-timer'
import { maintenanceTopic } from '../../maintenance/calendar'
import { reportFlip } from './alerts'
import { maintenanceHoldUntil, raiseHeldAlerts, updateMaintenanceHolds } from './maintenance-hold'
import { pingQueue } from '../pings/pings'
import { columnsAfter, flipRow, stateColumns } from './rows'
import { markLate, type Outcome } from './state'
import { flips, heartbeats } from '../tables'
import type { HeartbeatRow } from '../view'

/** Detects missed pings. */
export interface HeartbeatWatch {
  stop(): void
  /** Resolves when all queued pings are stored and nothing is overdue. */
  settled(): Promise<void>
}

// Heartbeats that are down have no due time. Paused ones have one only while a run is in progress.
const statusesWithDueTime = ['new', 'up', 'paused'] as const
const batchSize = 200
const retryDelayMs = 1000
const watches = new WeakMap<Hub, Watch>()

/**
 * Starts marking overdue heartbeats as down. The queue of due times is an index in the database: it survives restarts and is shared by
 * all hubs. A heartbeat is marked with a conditional update, so that only one hub succeeds.
 * @param beforeMarking runs before heartbeats are marked, to detect that the machine was asleep
 */
export async function startHeartbeats(hub: Hub, beforeMarking: () => Promise<unknown> = async () => {}): Promise<HeartbeatWatch> {
  const watch = new Watch(hub, beforeMarking)
  watches.set(hub, watch)
  await watch.setTimer()
  return watch
}

/** Sets the timer again, since other hubs may have added earlier due times. */
export async function catchUp(hub: Hub): Promise<void> {
  await watches.get(hub)?.setTimer()
}

class Watch implements HeartbeatWatch {
  private readonly timer: DueTimer
  private marking: Promise<void> | null = null
  private updatingHolds: Promise<void> | null = null
  private stopped = false
  private readonly unsubscribe: () => void

  constructor(
    private readonly hub: Hub,
    private readonly beforeMarking: () => Promise<unknown>,
  ) {
    this.timer = new DueTimer(hub, () => this.onDue())
    this.unsubscribe = topicsOf(hub).on(maintenanceTopic, () => this.onMaintenanceChange())
  }

  async setTimer(): Promise<void> {
    const next = await firstDue(this.hub)
    if (next !== null && !this.stopped) this.timer.set(next)
  }

  stop(): void {
    this.stopped = true
    this.unsubscribe()
    this.timer.stop()
  }

  async settled(): Promise<void> {
    await pingQueue(this.hub).settled()
    await this.updatingHolds
    while (this.marking) await this.marking
  }

  private onDue(): void {
    if (this.stopped) return
    this.marking ??= this.markAll().finally(() => {
      this.marking = null
    })
  }

  /** Held alerts may now be due sooner or later. */
  private onMaintenanceChange(): void {
    this.updatingHolds = (this.updatingHolds ?? Promise.resolve())
      .then(() => updateMaintenanceHolds(this.hub))
      .then(() => this.setTimer())
      // On failure, the holds stay as they are.
      .catch(error => this.hub.log.error({ err: error }, 'failed to update alerts held for maintenance'))
  }

  private async markAll(): Promise<void> {
    try {
      await this.beforeMarking()
      // Pings received before the due time count, even if they are still queued.
      await pingQueue(this.hub).settled()
      while ((await markDue(this.hub)) === batchSize) continue
      while ((await raiseHeldAlerts(this.hub)) > 0) continue
      await this.setTimer()
    } catch (error) {
      this.hub.log.error({ err: error }, 'failed to record missed pings')
      if (!this.stopped) this.timer.set(this.hub.clock.now() + retryDelayMs)
    }
  }
}

async function firstDue(hub: Hub): Promise<number | null> {
  const [due] = await prepared(hub.read, 'first-due-heartbeat', read =>
    read
      .select({ at: min(heartbeats.downAt) })
      .from(heartbeats)
      .where(inArray(heartbeats.status, [...statusesWithDueTime])),
  ).execute()
  const [held] = await prepared(hub.read, 'first-held-heartbeat', read =>
    read.select({ at: min(heartbeats.alertHeldUntil) }).from(heartbeats),
  ).execute()
  const times = [due?.at ?? null, held?.at ?? null].filter(at => at !== null)
  return times.length > 0 ? Math.min(...times) : null
}

/** Marks overdue heartbeats as down, earliest first. Returns how many rows were processed. */
async function markDue(hub: Hub): Promise<number> {
  return await record(hub, async tx => {
    const now = hub.clock.now()
    const rows = await tx
      .select()
      .from(heartbeats)
      .where(and(lte(heartbeats.downAt, now), inArray(heartbeats.status, [...statusesWithDueTime])))
      .orderBy(asc(heartbeats.downAt), asc(heartbeats.id))
      .limit(batchSize)
    const late = rows.map(row => {
      const outcome = markLate(row)
      const alertHeldUntil = outcome.flip ? maintenanceHoldUntil(hub, row, outcome.flip.at) : null
      return { row, outcome, alertHeldUntil }
    })
    const marked = await markRows(tx, late)
    const flipped = late.flatMap(({ row, outcome: { state, flip }, alertHeldUntil }) =>
      flip && marked.has(row.id) ? { row, state, flip, alertHeldUntil } : [],
    )
    await insertRows(
      tx,
      flips,
      flipped.map(({ row, flip }) => flipRow(row.id, flip)),
    )
    const by = { actor: systemActor('heartbeats'), context: jobContext }
    const drafts = await together(
      tx,
      flipped.map(
        ({ row, state, flip, alertHeldUntil }) =>
          () =>
            reportFlip(tx, hub, row, state, flip, by, { alertHeldUntil }),
      ),
    )
    return { result: rows.length, ...joined(...drafts) }
  })
}

interface Late {
  row: HeartbeatRow
  outcome: Outcome
  alertHeldUntil: number | null
}

/** Skips rows that another hub has already marked, and those whose due time a ping has moved. Returns the ids of the others. */
const markRows = (tx: Tx, late: readonly Late[]): Promise<Set<string>> =>
  updateRows(
    tx,
    heartbeats,
    {
      name: 'late',
      set: [...stateColumns],
      where: ['status', 'downAt'],
    },
    late.map(({ row, outcome, alertHeldUntil }) => ({ id: row.id, before: row, ...columnsAfter(row, outcome, alertHeldUntil) })),
  )
