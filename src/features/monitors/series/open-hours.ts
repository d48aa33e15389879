import { hourOf } from '../../../core/db/series/hours'
import { type Beat, type CheckSeries, checkSeries } from './check-series'
import { ChunkWriter, readChunk } from '../../../core/db/series/chunk'

/** Hours that are not over yet or not stored as chunks, packed as they will be stored: a few hundred bytes each. */
export class OpenHours {
  private readonly writers = new Map<number, ChunkWriter<CheckSeries>[]>()

  add(beat: Beat): void {
    const hour = hourOf(beat.at)
    let own = this.writers.get(beat.series)
    if (!own) this.writers.set(beat.series, (own = []))
    let writer = own.find(one => one.key.hour === hour && one.key.part === beat.part)
    if (!writer) own.push((writer = new ChunkWriter(checkSeries, { series: beat.series, part: beat.part, hour })))
    writer.add(beat)
  }

  /** The beats of a monitor in memory, for the hours from `from` to `until` (exclusive). May contain duplicates. */
  beats(monitor: number, from: number, until: number): Beat[] {
    return (this.writers.get(monitor) ?? []).filter(one => one.key.hour >= from && one.key.hour < until).flatMap(beatsIn)
  }

  /** The writers of earlier hours, oldest first. */
  before(hour: number): ChunkWriter<CheckSeries>[] {
    return [...this.writers.values()]
      .flat()
      .filter(one => one.key.hour < hour)
      .sort((a, b) => a.key.hour - b.key.hour || a.key.series - b.key.series)
  }

  /** The oldest hour in memory. */
  oldest(): number | null {
    let oldest: number | null = null
    for (const own of this.writers.values())
      for (const { key } of own) oldest = oldest === null ? key.hour : Math.min(oldest, key.hour)
    return oldest
  }

  /** The oldest hour of a monitor in memory. */
  oldestOf(monitor: number): number | null {
    const hours = (this.writers.get(monitor) ?? []).map(one => one.key.hour)
    return hours.length > 0 ? Math.min(...hours) : null
  }

  remove(writer: ChunkWriter<CheckSeries>): void {
    const left = (this.writers.get(writer.key.series) ?? []).filter(one => one !== writer)
    if (left.length > 0) this.writers.set(writer.key.series, left)
    else this.writers.delete(writer.key.series)
  }

  removeAll(monitor: number): void {
    this.writers.delete(monitor)
  }
}

/** The beats in a writer, as they will be read back. */
export function beatsIn(writer: ChunkWriter<CheckSeries>): Beat[] {
  const { body, details } = writer.packed()
  return readChunk(checkSeries, writer.key, body, details)
}
