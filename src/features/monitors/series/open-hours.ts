import type { Beat } from '../../../core/db/series'
import { ChunkWriter, readChunk } from '../../../core/db/series/chunk'
import { hourOf } from '../../../core/db/series/store'

/** The hours that are not over yet, or not written down as chunks: packed as they will be stored, a few hundred octets each. */
export class OpenHours {
  private readonly writers = new Map<number, ChunkWriter[]>()

  add(beat: Beat): void {
    const hour = hourOf(beat.at)
    let own = this.writers.get(beat.monitor)
    if (!own) this.writers.set(beat.monitor, (own = []))
    let writer = own.find(one => one.key.hour === hour && one.key.location === beat.location)
    if (!writer) own.push((writer = new ChunkWriter({ monitor: beat.monitor, location: beat.location, hour })))
    writer.add(beat)
  }

  /** The beats of a monitor that are here, of hours from `from` up to but not including `until`. A beat may be there twice. */
  beats(monitor: number, from: number, until: number): Beat[] {
    return (this.writers.get(monitor) ?? []).filter(one => one.key.hour >= from && one.key.hour < until).flatMap(beatsIn)
  }

  /** Those of hours before this one, oldest first. */
  before(hour: number): ChunkWriter[] {
    return [...this.writers.values()]
      .flat()
      .filter(one => one.key.hour < hour)
      .sort((a, b) => a.key.hour - b.key.hour || a.key.monitor - b.key.monitor)
  }

  /** The oldest hour that is here. */
  oldest(): number | null {
    let oldest: number | null = null
    for (const own of this.writers.values())
      for (const { key } of own) oldest = oldest === null ? key.hour : Math.min(oldest, key.hour)
    return oldest
  }

  /** The oldest hour of a monitor that is here. */
  oldestOf(monitor: number): number | null {
    const hours = (this.writers.get(monitor) ?? []).map(one => one.key.hour)
    return hours.length > 0 ? Math.min(...hours) : null
  }

  remove(writer: ChunkWriter): void {
    const left = (this.writers.get(writer.key.monitor) ?? []).filter(one => one !== writer)
    if (left.length > 0) this.writers.set(writer.key.monitor, left)
    else this.writers.delete(writer.key.monitor)
  }

  removeAll(monitor: number): void {
    this.writers.delete(monitor)
  }
}

/** What a writer was given, as it will be read back. */
export function beatsIn(writer: ChunkWriter): Beat[] {
  const { body, phases } = writer.packed()
  return readChunk(writer.key, body, phases)
}
