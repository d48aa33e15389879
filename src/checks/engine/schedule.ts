import type { EngineClock } from './clock'
import { nextAtPhase, phaseOf } from './phase'
import { TimerWheel, type WheelEntry } from './timer-wheel'

/** Something that runs repeatedly. Only the schedule writes the times. */
export interface ScheduleEntry extends WheelEntry {
  id: string
  intervalMs: number
  /** When it is due, or was due when it last ran (ms UTC). */
  dueAt: number
  /** When it last started (monotonic ms). */
  startedAt: number
}

/** Due times are multiples of this. */
export const tickMs = 100

// Later runs are skipped: many that are late together must not all start together.
const maxLateMs = 1000
// The wall clock moved relative to monotonic time: it was set, or the machine slept.
const jumpMs = 1000
// How far the clocks may drift apart before the schedule follows; less is rounding.
const driftMs = 20
// With a longer interval, a skipped run is caught up within a minute: the next one would be too far away.
const longIntervalMs = 300_000
const catchUpMs = 60_000
// New entries that start together; further ones follow with the next ticks.
const maxImmediatePerTick = 50

/**
 * Decides when every monitor runs. Runs are due by wall clock, each monitor at its own phase, and start on time or not at all: missed runs
 * are counted and skipped. After a run, the next is at the monitor's phase, at least half an interval later. So runs out of schedule and
 * clock changes neither crowd runs together nor leave more than one and a half intervals between them.
 */
export class Schedule<T extends ScheduleEntry> {
  readonly #wheel = new TimerWheel<T>()
  readonly #entries = new Set<T>()
  /** Wall clock time at monotonic 0. */
  #offset: number
  /** The last tick that was processed, in ticks since the epoch. */
  #tick: number
  #immediate = { tick: 0, count: 0 }
  /** Runs skipped because they would have been too late. */
  skipped = 0

  constructor(private readonly clock: Pick<EngineClock, 'now' | 'monotonic'>) {
    this.#offset = Math.round(clock.now() - clock.monotonic())
    this.#tick = Math.floor(this.now / tickMs)
  }

  /** Wall clock time that advances like monotonic time between clock changes (ms UTC with a fraction). */
  get now(): number {
    return this.clock.monotonic() + this.#offset
  }

  /** Adds an entry at its next regular time; with a long interval, the first run is within a minute. */
  add(entry: T): void {
    this.#register(entry)
    if (entry.intervalMs > longIntervalMs) this.#catchUp(entry)
    else this.scheduleNext(entry)
  }

  /** Adds an entry at the next tick; large numbers are spread over the following ticks. */
  addImmediately(entry: T): void {
    this.#register(entry)
    const next = this.#tick + 1
    if (this.#immediate.tick < next) this.#immediate = { tick: next, count: 0 }
    else if (this.#immediate.count === maxImmediatePerTick) this.#immediate = { tick: this.#immediate.tick + 1, count: 0 }
    this.#immediate.count++
    this.#scheduleAt(entry, this.#immediate.tick * tickMs)
  }

  remove(entry: T): void {
    this.#entries.delete(entry)
    this.#wheel.remove(entry)
  }

  /** Schedules the next run at the entry's phase. */
  scheduleNext(entry: T): void {
    const { now } = this
    const startedAt = entry.startedAt + this.#offset
    const next = nextAtPhase(entry.id, entry.intervalMs, Math.max(now, startedAt + entry.intervalMs / 2))
    // Repeated clock changes must not postpone it forever.
    const latest = startedAt + entry.intervalMs * 1.5
    this.#scheduleAt(entry, latest > now - maxLateMs ? Math.min(next, latest) : next)
  }

  /** Schedules a retry a number of milliseconds after the last start, out of phase. */
  scheduleRetry(entry: T, ms: number): void {
    this.#scheduleAt(entry, entry.startedAt + this.#offset + ms)
  }

  /** Takes the entries that are due, most overdue first. They have no next run until one is scheduled. */
  due(): T[] {
    this.#followClock()
    const now = this.now
    const tick = Math.floor(now / tickMs)
    if (tick <= this.#tick) return []
    const due = this.#wheel.take(this.#tick, tick)
    this.#tick = tick
    const inTime: T[] = []
    for (const entry of due) {
      this.#wheel.remove(entry)
      if (this.isInTime(entry)) inTime.push(entry)
      else this.skip(entry)
    }
    return inTime
  }

  isInTime(entry: T): boolean {
    return this.now - entry.dueAt <= maxLateMs
  }

  /** Counts a run as skipped and schedules the next. */
  skip(entry: T): void {
    this.skipped++
    if (entry.intervalMs > longIntervalMs) this.#catchUp(entry)
    else this.scheduleNext(entry)
  }

  #register(entry: T): void {
    this.#entries.add(entry)
    entry.startedAt = this.clock.monotonic() - entry.intervalMs / 2
  }

  #followClock(): void {
    const offset = Math.round(this.clock.now() - this.clock.monotonic())
    const shift = offset - this.#offset
    if (Math.abs(shift) < driftMs) return
    this.#offset = offset
    if (Math.abs(shift) < jumpMs) return
    const now = this.now
    this.#tick = Math.floor(now / tickMs)
    for (const entry of this.#entries) {
      if (entry.tick === null) continue
      if (entry.dueAt <= now - maxLateMs) this.skip(entry)
      else this.scheduleNext(entry)
    }
  }

  #catchUp(entry: T): void {
    this.#scheduleAt(entry, this.now + phaseOf(entry.id, catchUpMs))
  }

  #scheduleAt(entry: T, dueAt: number): void {
    const tick = Math.max(this.#tick + 1, Math.ceil(dueAt / tickMs))
    entry.dueAt = tick * tickMs
    this.#wheel.schedule(entry, tick)
  }
}
