import { dayOfHour, hourOf } from '../../../core/db/series/hours'
import { type Beat, checksOf } from './check-series'
import { textNumber } from '../../../core/db/series/series'
import type { Hub } from '../../../core/hub'
import { incrementCounter } from '../../../core/metric-counters'
import { yieldToEventLoop } from '../../../core/time-slices'
import { ErrorTexts } from './error-texts'
import { OpenHours } from './open-hours'
import { reportMovedAside } from './moved-aside'
import { textOf, type ResultBeat } from './result-beat'

const beatsAtOnce = 2_000
/** Results kept in memory while writing fails. Beyond that, the oldest are dropped. */
export const maxWaiting = 200_000
const droppedAtOnce = maxWaiting / 20
// Long enough for a restart of the database server.
const reportAfterMs = 30_000

/** Buffers the results of this hub's monitors and writes them once a second. */
export class Recorder {
  readonly openHours = new OpenHours()
  readonly errors: ErrorTexts
  readonly startedAt: number
  private waiting: ResultBeat[] = []
  private writing: ResultBeat[] = []
  private flushing: Promise<void> | null = null
  private failingSince: number | null = null
  /** The monitors this hub adopted, and when (ms UTC). */
  private readonly own = new Map<number, number>()
  private adopting: Promise<void> = Promise.resolve()

  constructor(private readonly hub: Hub) {
    this.errors = new ErrorTexts(checksOf(hub))
    this.startedAt = hub.clock.now()
  }

  /** Never blocks and never fails. The result is written with the next {@link flush} and read from memory until then. */
  add(beat: ResultBeat): void {
    if (this.waiting.length >= maxWaiting) {
      this.waiting.splice(0, droppedAtOnce)
      incrementCounter(this.hub, 'monitor_results', 'lost', droppedAtOnce)
      this.hub.log.error({ lost: droppedAtOnce }, 'check results could not be written for too long; dropped the oldest')
    }
    this.waiting.push(beat)
  }

  /** Writes buffered results. Never throws: results that can't be written stay buffered, and {@link trouble} reports it. */
  flush(): Promise<void> {
    return (this.flushing ??= this.writeAndReport().finally(() => (this.flushing = null)))
  }

  /** Why results can't be written, as a sentence; null if they can. */
  trouble(): string | null {
    const { hub } = this
    if (hub.series.isFull()) return 'The disk is full and check results are buffered in memory. Free up disk space.'
    return this.failingSince !== null && hub.clock.now() - this.failingSince >= reportAfterMs
      ? 'Check results can’t be written and are buffered in memory.'
      : null
  }

  /**
   * Adopts monitors, by number, and reads back their open hours, whichever hub wrote them. New results can be added meanwhile.
   * @returns resolves when everything was read; nothing else has to wait for it
   */
  adopt(monitors: Iterable<number>): Promise<void> {
    const own = new Set(monitors)
    for (const monitor of own) this.own.set(monitor, this.hub.clock.now())
    return (this.adopting = this.adopting.catch(() => undefined).then(() => this.readBack(own)))
  }

  /** Releases monitors that another hub runs now or that were deleted. */
  async release(monitors: Iterable<number>): Promise<void> {
    const released = new Set(monitors)
    for (const monitor of released) this.own.delete(monitor)
    await this.flush()
    // Keep monitors that were adopted again in the meantime.
    for (const monitor of released) if (this.own.has(monitor)) released.delete(monitor)
    for (const monitor of released) this.openHours.removeAll(monitor)
    this.waiting = this.waiting.filter(beat => !released.has(beat.series))
  }

  /** Which of these monitors were adopted since a time (ms UTC). Earlier results may have been written only by other hubs. */
  adoptedSince(since: number, monitors: readonly number[]): Set<number> {
    return new Set(monitors.filter(monitor => (this.own.get(monitor) ?? Number.NEGATIVE_INFINITY) >= since))
  }

  /** The results of a monitor in memory, for the hours from `from` to `until` (exclusive). May contain duplicates. */
  async beats(monitor: number, from: number, until: number): Promise<ResultBeat[]> {
    const open = this.openHours.beats(monitor, from, until)
    const waiting = [...this.writing, ...this.waiting].filter(
      beat => beat.series === monitor && hourOf(beat.at) >= from && hourOf(beat.at) < until,
    )
    return [...(await this.withErrors(open)), ...waiting]
  }

  /** The oldest hour for which results of a monitor may exist only in memory. */
  oldestHour(monitor: number): number {
    const waiting = this.writing[0] ?? this.waiting[0]
    const open = this.openHours.oldestOf(monitor)
    const now = hourOf(this.hub.clock.now())
    return Math.min(now, open ?? now, waiting ? hourOf(waiting.at) : now)
  }

  /** Beats with their errors resolved. */
  async withErrors(beats: readonly Beat[]): Promise<ResultBeat[]> {
    const errorOf = await this.errors.find(beats.map(beat => beat.error))
    return beats.map(beat => ({ ...beat, error: errorOf(beat.error) }))
  }

  private async readBack(monitors: ReadonlySet<number>): Promise<void> {
    if (monitors.size === 0) return
    for (const hour of await checksOf(this.hub).hours()) {
      for await (const beats of checksOf(this.hub).rowsOf(hour, monitors)) {
        for (const beat of beats) if (this.own.has(beat.series)) this.openHours.add(beat)
        await yieldToEventLoop()
      }
    }
  }

  private async writeAndReport(): Promise<void> {
    await this.writeAll()
    if (await reportMovedAside(this.hub)) this.errors.forget()
  }

  private async writeAll(): Promise<void> {
    while (this.waiting.length > 0) {
      this.writing = this.waiting.slice(0, beatsAtOnce)
      this.waiting = this.waiting.slice(this.writing.length)
      try {
        const beats = await this.numbered(this.writing)
        await checksOf(this.hub).append(beats)
        for (const beat of beats) this.openHours.add(beat)
        incrementCounter(this.hub, 'monitor_results', 'written', beats.length)
        this.writeSucceeded()
      } catch (error) {
        this.waiting = [...this.writing, ...this.waiting]
        this.writeFailed(error)
        return
      } finally {
        this.writing = []
      }
      await yieldToEventLoop()
    }
  }

  private async numbered(results: readonly ResultBeat[]): Promise<Beat[]> {
    await this.errors.write(
      results.flatMap(beat => beat.error ?? []),
      dayOfHour(hourOf(this.hub.clock.now())),
    )
    return results.map(beat => ({ ...beat, error: beat.error && textNumber(textOf(beat.error)) }))
  }

  private writeSucceeded(): void {
    if (this.failingSince !== null) this.hub.log.info('check results can be written again')
    this.failingSince = null
  }

  private writeFailed(error: unknown): void {
    if (this.failingSince === null)
      this.hub.log.error({ err: error }, 'check results cannot be written; buffering them in memory and retrying every second')
    this.failingSince ??= this.hub.clock.now()
  }
}

const recorders = new WeakMap<Hub, Recorder>()
/** The recorder of this hub. */
export function recorderOf(hub: Hub): Recorder {
  let recorder = recorders.get(hub)
  if (!recorder) recorders.set(hub, (recorder = new Recorder(hub)))
  return recorder
}
