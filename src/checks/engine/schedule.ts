import type { EngineClock } from './clock'
import { phaseOf } from './phase'
import { Wheel, type Ticked } from './wheel'

/** What has its turn again and again. Only the schedule writes the times. */
export interface Turn extends Ticked {
  id: string
  intervalMs: number
  /** When it is due, or was when it was taken (ms UTC). */
  dueAt: number
  /** When it last began (monotonic ms). */
  begunAt: number
}

/** Turns lie on multiples of this. */
export const tickMs = 100

// More than that late, a turn is left out: many that are late together must not all begin together.
const mostLateMs = 1000
// The time of day went another way than time: it was set, or the machine slept.
const jumpMs = 1000
// How far both may drift apart before the schedule follows; below it is the rounding of both.
const driftMs = 20
// With a longer interval a turn that was left out is made up for within a minute: the next would be too far away.
const longIntervalMs = 300_000
const makeUpMs = 60_000
// New ones that begin together; the rest of many follows with the next ticks.
const atOncePerTick = 50

/**
 * When every monitor has its turn. Turns lie on the time of day, each monitor's at its own phase, and a turn begins in time or not at
 * all: what was missed is counted and left out. What has run goes on at its phase no sooner than half an interval later, so that
 * runs out of turn, and clocks that are set, neither crowd runs together nor leave more than one and a half intervals between them.
 */
export class Schedule<T extends Turn> {
  readonly #wheel = new Wheel<T>()
  readonly #all = new Set<T>()
  /** The time of day at monotonic 0. */
  #offset: number
  /** The last that was taken, in ticks since the epoch. */
  #tick: number
  #atOnce = { tick: 0, count: 0 }
  /** Turns that were left out since they would have been too late. */
  skipped = 0

  constructor(private readonly clock: Pick<EngineClock, 'now' | 'monotonic'>) {
    this.#offset = Math.round(clock.now() - clock.monotonic())
    this.#tick = Math.floor(this.now / tickMs)
  }

  /** The time of day that goes as evenly as monotonic time between the moments when clocks are set (ms UTC with a fraction). */
  get now(): number {
    return this.clock.monotonic() + this.#offset
  }

  /** Puts it at its next turn; of a long interval that comes within a minute the first time. */
  join(turn: T): void {
    this.#add(turn)
    if (turn.intervalMs > longIntervalMs) this.#makeUp(turn)
    else this.again(turn)
  }

  /** Puts it at the next tick, or of many as soon as those before it have had theirs. */
  joinAtOnce(turn: T): void {
    this.#add(turn)
    const next = this.#tick + 1
    if (this.#atOnce.tick < next) this.#atOnce = { tick: next, count: 0 }
    else if (this.#atOnce.count === atOncePerTick) this.#atOnce = { tick: this.#atOnce.tick + 1, count: 0 }
    this.#atOnce.count++
    this.#put(turn, this.#atOnce.tick * tickMs)
  }

  leave(turn: T): void {
    this.#all.delete(turn)
    this.#wheel.drop(turn)
  }

  /** Puts it at its next turn at its phase. */
  again(turn: T): void {
    const { now } = this
    const begunAt = turn.begunAt + this.#offset
    const phase = phaseOf(turn.id, turn.intervalMs)
    const after = Math.max(now, begunAt + turn.intervalMs / 2)
    const next = Math.floor((after - phase) / turn.intervalMs + 1) * turn.intervalMs + phase
    // Clocks that are set again and again must not put it off for ever.
    const latest = begunAt + turn.intervalMs * 1.5
    this.#put(turn, latest > now - mostLateMs ? Math.min(next, latest) : next)
  }

  /** Puts it at the first tick that is so many milliseconds after it last began: out of phase, for retries. */
  soon(turn: T, ms: number): void {
    this.#put(turn, turn.begunAt + this.#offset + ms)
  }

  /** Those whose turn it is, the longest due first; they have no turn any more until they are put at one. */
  due(): T[] {
    this.#follow()
    const now = this.now
    const tick = Math.floor(now / tickMs)
    if (tick <= this.#tick) return []
    const due = this.#wheel.take(this.#tick, tick)
    this.#tick = tick
    const inTime: T[] = []
    for (const turn of due) {
      this.#wheel.drop(turn)
      if (this.isInTime(turn)) inTime.push(turn)
      else this.leaveOut(turn)
    }
    return inTime
  }

  isInTime(turn: T): boolean {
    return this.now - turn.dueAt <= mostLateMs
  }

  /** Counts its turn as left out and puts it at the next. */
  leaveOut(turn: T): void {
    this.skipped++
    if (turn.intervalMs > longIntervalMs) this.#makeUp(turn)
    else this.again(turn)
  }

  #add(turn: T): void {
    this.#all.add(turn)
    turn.begunAt = this.clock.monotonic() - turn.intervalMs / 2
  }

  #follow(): void {
    const offset = Math.round(this.clock.now() - this.clock.monotonic())
    const ahead = offset - this.#offset
    if (Math.abs(ahead) < driftMs) return
    this.#offset = offset
    if (Math.abs(ahead) < jumpMs) return
    const now = this.now
    this.#tick = Math.floor(now / tickMs)
    for (const turn of this.#all) {
      if (turn.tick === null) continue
      if (turn.dueAt <= now - mostLateMs) this.leaveOut(turn)
      else this.again(turn)
    }
  }

  #makeUp(turn: T): void {
    this.#put(turn, this.now + phaseOf(turn.id, makeUpMs))
  }

  #put(turn: T, dueAt: number): void {
    const tick = Math.max(this.#tick + 1, Math.ceil(dueAt / tickMs))
    turn.dueAt = tick * tickMs
    this.#wheel.put(turn, tick)
  }
}
