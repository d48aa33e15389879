import { textNumber, type Beat } from '../../../core/db/series'
import { dayOfHour, hourOf } from '../../../core/db/series/store'
import type { Hub } from '../../../core/hub'
import { tally } from '../../../core/tally'
import { othersTurn } from '../../../core/turns'
import { ErrorTexts } from './error-texts'
import { OpenHours } from './open-hours'
import { tellMovedAside } from './moved-aside'
import { textOf, type Taken } from './taken'

const beatsAtOnce = 2_000
/** Results that are kept in memory while they cannot be written; of more, the oldest are lost. */
export const mostWaiting = 200_000
const lostAtOnce = mostWaiting / 20
// Long enough for a server that restarts.
const toldAfterMs = 30_000

/** Takes the results of checks of the monitors that this hub runs, and writes them down once a second. */
export class Recorder {
  readonly openHours = new OpenHours()
  readonly errors: ErrorTexts
  readonly startedAt: number
  private waiting: Taken[] = []
  private writing: Taken[] = []
  private flushing: Promise<void> | null = null
  private failingSince: number | null = null
  /** The monitors that were taken over, and when (ms UTC). */
  private readonly own = new Map<number, number>()
  private adopting: Promise<void> = Promise.resolve()

  constructor(private readonly hub: Hub) {
    this.errors = new ErrorTexts(hub.series)
    this.startedAt = hub.clock.now()
  }

  /** Never waits and never fails: it is written with the next {@link flush}, and read from here until then. */
  take(beat: Taken): void {
    if (this.waiting.length >= mostWaiting) {
      this.waiting.splice(0, lostAtOnce)
      tally(this.hub, 'monitor_results', 'lost', lostAtOnce)
      this.hub.log.error({ lost: lostAtOnce }, 'results of checks could not be written for too long, and the oldest were let go')
    }
    this.waiting.push(beat)
  }

  /** Writes down what was taken. Never throws: what cannot be written waits, and is told by {@link trouble}. */
  flush(): Promise<void> {
    return (this.flushing ??= this.writeAndTell().finally(() => (this.flushing = null)))
  }

  /** Why results are not written, in a sentence; null when they are. */
  trouble(): string | null {
    const { hub } = this
    if (hub.series.isFull()) return 'The disk of the series is full, and results of checks wait in memory: make room.'
    return this.failingSince !== null && hub.clock.now() - this.failingSince >= toldAfterMs
      ? 'Results of checks cannot be written, and wait in memory.'
      : null
  }

  /**
   * Takes over monitors, by their numbers: their open hours are read back from what was written, by whichever hub. Results may be taken
   * meanwhile; what was read of a monitor that was let go again is let go too.
   * @returns when all of it was read; nothing else has to wait for that
   */
  adopt(monitors: Iterable<number>): Promise<void> {
    const own = new Set(monitors)
    for (const monitor of own) this.own.set(monitor, this.hub.clock.now())
    return (this.adopting = this.adopting.catch(() => undefined).then(() => this.readBack(own)))
  }

  /** Lets go of monitors that another hub runs by now, or that are no more. */
  async release(monitors: Iterable<number>): Promise<void> {
    const gone = new Set(monitors)
    for (const monitor of gone) this.own.delete(monitor)
    await this.flush()
    // Those that came back meanwhile stay.
    for (const monitor of gone) if (this.own.has(monitor)) gone.delete(monitor)
    for (const monitor of gone) this.openHours.removeAll(monitor)
    this.waiting = this.waiting.filter(beat => !gone.has(beat.monitor))
  }

  /** Those of some monitors that were taken over since a moment (ms UTC): what came before may be written by others alone. */
  takenOverSince(since: number, monitors: readonly number[]): Set<number> {
    return new Set(monitors.filter(monitor => (this.own.get(monitor) ?? Number.NEGATIVE_INFINITY) >= since))
  }

  /** What is in memory of a monitor, of hours from `from` up to but not including `until`. A beat may be there twice. */
  async beats(monitor: number, from: number, until: number): Promise<Taken[]> {
    const open = this.openHours.beats(monitor, from, until)
    const waiting = [...this.writing, ...this.waiting].filter(
      beat => beat.monitor === monitor && hourOf(beat.at) >= from && hourOf(beat.at) < until,
    )
    return [...(await this.named(open)), ...waiting]
  }

  /** The first hour of which something of a monitor may be in memory alone. */
  oldestHour(monitor: number): number {
    const waiting = this.writing[0] ?? this.waiting[0]
    const open = this.openHours.oldestOf(monitor)
    const now = hourOf(this.hub.clock.now())
    return Math.min(now, open ?? now, waiting ? hourOf(waiting.at) : now)
  }

  /** Beats with their errors told. */
  async named(beats: readonly Beat[]): Promise<Taken[]> {
    const errorOf = await this.errors.find(beats.map(beat => beat.error))
    return beats.map(beat => ({ ...beat, error: errorOf(beat.error) }))
  }

  private async readBack(monitors: ReadonlySet<number>): Promise<void> {
    if (monitors.size === 0) return
    for (const hour of await this.hub.series.beatHours()) {
      for await (const beats of this.hub.series.beatsOf(hour, monitors)) {
        for (const beat of beats) if (this.own.has(beat.monitor)) this.openHours.add(beat)
        await othersTurn()
      }
    }
  }

  private async writeAndTell(): Promise<void> {
    await this.writeAll()
    if (await tellMovedAside(this.hub)) this.errors.forget()
  }

  private async writeAll(): Promise<void> {
    while (this.waiting.length > 0) {
      this.writing = this.waiting.slice(0, beatsAtOnce)
      this.waiting = this.waiting.slice(this.writing.length)
      try {
        const beats = await this.numbered(this.writing)
        await this.hub.series.append(beats)
        for (const beat of beats) this.openHours.add(beat)
        tally(this.hub, 'monitor_results', 'written', beats.length)
        this.went()
      } catch (error) {
        this.waiting = [...this.writing, ...this.waiting]
        this.failed(error)
        return
      } finally {
        this.writing = []
      }
      await othersTurn()
    }
  }

  private async numbered(taken: readonly Taken[]): Promise<Beat[]> {
    await this.errors.write(
      taken.flatMap(beat => beat.error ?? []),
      dayOfHour(hourOf(this.hub.clock.now())),
    )
    return taken.map(beat => ({ ...beat, error: beat.error && textNumber(textOf(beat.error)) }))
  }

  private went(): void {
    if (this.failingSince !== null) this.hub.log.info('results of checks are written again')
    this.failingSince = null
  }

  private failed(error: unknown): void {
    if (this.failingSince === null)
      this.hub.log.error(
        { err: error },
        'results of checks cannot be written: they wait in memory, and are tried again each second',
      )
    this.failingSince ??= this.hub.clock.now()
  }
}

const recorders = new WeakMap<Hub, Recorder>()
/** The recorder of this process. */
export function recorderOf(hub: Hub): Recorder {
  let recorder = recorders.get(hub)
  if (!recorder) recorders.set(hub, (recorder = new Recorder(hub)))
  return recorder
}
