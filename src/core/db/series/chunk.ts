import type { Beat } from '../series'
import { BadPacking, Packer, Unpacker } from './packer'

export const hourMs = 3_600_000

/** Whose beats a chunk holds: one monitor's, of one location, in one hour (hours since 1970, UTC). */
export interface ChunkKey {
  monitor: number
  location: number
  hour: number
}

/** The beats of an hour, packed: what is kept for long, and how long each part of them took, which is not. */
export interface PackedChunk {
  body: Uint8Array
  phases: Uint8Array
}

/**
 * Packs the beats of one monitor and location as they come. Times are kept as how much an interval differs from the one before it,
 * milliseconds in tenths as what they differ from the last, codes and errors where they change: four or five octets a beat.
 */
export class ChunkWriter {
  beats = 0
  private readonly body = new Packer()
  private readonly phases = new Packer()
  private at: number
  private interval = 0
  private ms = 0
  private code = 0
  private error = 0
  private readonly last = [0, 0, 0, 0]

  constructor(readonly key: ChunkKey) {
    this.at = key.hour * hourMs
    this.body.octet(version)
    this.phases.octet(version)
  }

  add(beat: Beat): void {
    const interval = beat.at - this.at
    const code = beat.code === null ? 0 : beat.code + 1
    const error = beat.error === null ? 0 : beat.error + 1
    const head =
      statuses.indexOf(beat.status) |
      (beat.ms === null ? 0 : hasMs) |
      (code === this.code ? 0 : codeChanged) |
      (error === this.error ? 0 : errorChanged)
    this.body.octet(head)
    this.body.signed(interval - this.interval)
    if (beat.ms !== null) {
      const ms = inTenths(beat.ms)
      this.body.signed(ms - this.ms)
      this.ms = ms
    }
    if (head & codeChanged) this.body.count(code)
    if (head & errorChanged) this.body.count(error)
    this.addPhases([beat.dns, beat.connect, beat.tls, beat.firstByte])
    this.at = beat.at
    this.interval = interval
    this.code = code
    this.error = error
    this.beats++
  }

  packed(): PackedChunk {
    return { body: this.body.bytes(), phases: this.phases.bytes() }
  }

  private addPhases(phases: readonly (number | null)[]): void {
    let present = 0
    for (const [place, ms] of phases.entries()) if (ms !== null) present |= 1 << place
    this.phases.octet(present)
    for (const [place, ms] of phases.entries()) {
      if (ms === null) continue
      const tenths = inTenths(ms)
      this.phases.signed(tenths - this.last[place]!)
      this.last[place] = tenths
    }
  }
}

/** All at once. */
export function packChunk(key: ChunkKey, beats: Iterable<Beat>): PackedChunk {
  const writer = new ChunkWriter(key)
  for (const beat of beats) writer.add(beat)
  return writer.packed()
}

/**
 * The beats of a chunk in the order in which they were added.
 * @param phases null where they are no longer kept; then those of the beats are null
 * @throws BadPacking
 */
export function readChunk(key: ChunkKey, body: Uint8Array, phases: Uint8Array | null): Beat[] {
  const from = opened(body)
  const beside = phases && opened(phases)
  const beats: Beat[] = []
  let at = key.hour * hourMs
  let interval = 0
  let ms = 0
  let code = 0
  let error = 0
  const last = [0, 0, 0, 0]
  const part = (present: number, place: number): number | null =>
    present & (1 << place) ? (last[place]! += beside!.signed()) / 10 : null
  while (!from.done) {
    const head = from.octet()
    const status = statuses[head & 3]
    if (!status) throw new BadPacking('A status is unknown.')
    interval += from.signed()
    at += interval
    if (head & hasMs) ms += from.signed()
    if (head & codeChanged) code = from.count()
    if (head & errorChanged) error = from.count()
    const present = beside && !beside.done ? beside.octet() : 0
    beats.push({
      monitor: key.monitor,
      location: key.location,
      at,
      status,
      ms: head & hasMs ? ms / 10 : null,
      code: code === 0 ? null : code - 1,
      error: error === 0 ? null : error - 1,
      dns: part(present, 0),
      connect: part(present, 1),
      tls: part(present, 2),
      firstByte: part(present, 3),
    })
  }
  return beats
}

/** Beats of one monitor and location that may have been taken down twice: each once, oldest first. Of two alike the one with phases stays. */
export function mergedBeats<B extends Timed>(...lists: readonly (readonly B[])[]): B[] {
  const byTime = new Map<number, B>()
  for (const beat of lists.flat()) {
    const other = byTime.get(beat.at)
    if (!other || phasesOf(other) < phasesOf(beat)) byTime.set(beat.at, beat)
  }
  return [...byTime.values()].sort((a, b) => a.at - b.at)
}

const version = 1
const statuses = ['up', 'degraded', 'down'] as const
const hasMs = 4
const codeChanged = 8
const errorChanged = 16

/** A tenth of a millisecond is what is kept. */
export const inTenths = (ms: number): number => Math.round(ms * 10)

function opened(bytes: Uint8Array): Unpacker {
  const unpacker = new Unpacker(bytes)
  if (unpacker.octet() !== version) throw new BadPacking('Its form is of another version.')
  return unpacker
}

type Timed = Pick<Beat, 'at' | 'dns' | 'connect' | 'tls' | 'firstByte'>

const phasesOf = (beat: Timed): number =>
  [beat.dns, beat.connect, beat.tls, beat.firstByte].reduce<number>((n, ms) => (ms === null ? n : n + 1), 0)
