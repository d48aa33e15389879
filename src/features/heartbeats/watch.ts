import { and, asc, eq, inArray, lte, min } from 'drizzle-orm'
import { jobContext, record, systemActor } from '../../core/change'
import { prepared } from '../../core/db/prepared'
import { topicsOf } from '../../core/topics'
import type { Hub } from '../../core/hub'
import { joined, type Drafts } from '../incidents/outage'
import { Alarm } from './alarm'
import { maintenanceTopic } from '../maintenance/calendar'
import { tell } from './alerts'
import { heldUntil, raiseHeld, reconsiderHeld } from './held'
import { pingQueue } from './pings'
import { columnsAfter, flipRow } from './rows'
import { markLate } from './state'
import { flips, heartbeats } from './tables'

/** Watches for pings that do not come. */
export interface HeartbeatWatch {
  stop(): void
  /** Resolves when no ping is being written and nothing is overdue. */
  settled(): Promise<void>
}

// Down heartbeats have no due time; of paused ones only a run that started and did not end is waited for.
const waiting = ['new', 'up', 'paused'] as const
const mostAtOnce = 200
const tryAgainMs = 1000
const watches = new WeakMap<Hub, Watch>()

/**
 * Sets the alarm to the head of the queue of due times, which is an index of the database: it is exact, survives a restart
 * as it is, and is one for all hubs. Whoever marks a heartbeat down does so by an update that only one can win.
 * @param beforeRinging runs before anything is marked: the place to notice that the machine slept
 */
export async function startHeartbeats(hub: Hub, beforeRinging: () => Promise<unknown> = async () => {}): Promise<HeartbeatWatch> {
  const watch = new Watch(hub, beforeRinging)
  watches.set(hub, watch)
  await watch.arm()
  return watch
}

/** Looks again at the head of the queue: other hubs may have put something there. */
export async function catchUp(hub: Hub): Promise<void> {
  await watches.get(hub)?.arm()
}

class Watch implements HeartbeatWatch {
  private readonly alarm: Alarm
  private ringing: Promise<void> | null = null
  private reconsidering: Promise<void> | null = null
  private stopped = false
  private readonly offTopic: () => void

  constructor(
    private readonly hub: Hub,
    private readonly beforeRinging: () => Promise<unknown>,
  ) {
    this.alarm = new Alarm(hub, () => this.ring())
    this.offTopic = topicsOf(hub).on(maintenanceTopic, () => this.reconsider())
  }

  async arm(): Promise<void> {
    const next = await firstDue(this.hub)
    if (next !== null && !this.stopped) this.alarm.set(next)
  }

  stop(): void {
    this.stopped = true
    this.offTopic()
    this.alarm.off()
  }

  async settled(): Promise<void> {
    await pingQueue(this.hub).settled()
    await this.reconsidering
    while (this.ringing) await this.ringing
  }

  private ring(): void {
    if (this.stopped) return
    this.ringing ??= this.markAll().finally(() => {
      this.ringing = null
    })
  }

  /** Windows are others than before: what is held may be told sooner, or later. */
  private reconsider(): void {
    this.reconsidering = (this.reconsidering ?? Promise.resolve())
      .then(() => reconsiderHeld(this.hub))
      .then(() => this.arm())
      // What was held stays held as long as it was.
      .catch(error => this.hub.log.error({ err: error }, 'maintenance of heartbeats could not be looked at'))
  }

  private async markAll(): Promise<void> {
    try {
      await this.beforeRinging()
      // Pings that came before the due time count, even where they still wait to be written.
      await pingQueue(this.hub).settled()
      while ((await markDue(this.hub)) === mostAtOnce) continue
      while ((await raiseHeld(this.hub)) > 0) continue
      await this.arm()
    } catch (error) {
      this.hub.log.error({ err: error }, 'missed pings could not be recorded')
      if (!this.stopped) this.alarm.set(this.hub.clock.now() + tryAgainMs)
    }
  }
}

async function firstDue(hub: Hub): Promise<number | null> {
  const [due] = await prepared(hub.read, 'first-due-heartbeat', read =>
    read
      .select({ at: min(heartbeats.downAt) })
      .from(heartbeats)
      .where(inArray(heartbeats.status, [...waiting])),
  ).execute()
  const [held] = await prepared(hub.read, 'first-held-heartbeat', read =>
    read.select({ at: min(heartbeats.heldUntil) }).from(heartbeats),
  ).execute()
  const times = [due?.at ?? null, held?.at ?? null].filter(at => at !== null)
  return times.length > 0 ? Math.min(...times) : null
}

/** Marks what is overdue, the earliest first. Returns how many were looked at. */
async function markDue(hub: Hub): Promise<number> {
  return await record(hub, async tx => {
    const now = hub.clock.now()
    const rows = await tx
      .select()
      .from(heartbeats)
      .where(and(lte(heartbeats.downAt, now), inArray(heartbeats.status, [...waiting])))
      .orderBy(asc(heartbeats.downAt), asc(heartbeats.id))
      .limit(mostAtOnce)
    const told: Drafts[] = []
    for (const row of rows) {
      const outcome = markLate(row)
      const { state, flip } = outcome
      const held = flip ? heldUntil(hub, row, flip.at) : null
      // Of several hubs that get here, the first changes the row; a ping that was quicker has moved its due time.
      const won = await tx
        .update(heartbeats)
        .set(columnsAfter(row, outcome, held))
        .where(and(eq(heartbeats.id, row.id), eq(heartbeats.status, row.status), eq(heartbeats.downAt, row.downAt!)))
        .returning({ id: heartbeats.id })
      if (won.length === 0 || !flip) continue
      await tx.insert(flips).values(flipRow(row.id, flip))
      told.push(
        await tell(tx, hub, row, state, flip, { actor: systemActor('heartbeats'), context: jobContext }, { heldUntil: held }),
      )
    }
    return { result: rows.length, ...joined(...told) }
  })
}
