import { hourMs } from './hours'
import { storedValue, valueOf, type AnySample, type Sample, type SeriesKind, type StoredColumn } from './kind'
import { BadPacking, BitPacker, BitUnpacker, Packer, Unpacker } from './packer'

/** Identifies a chunk: an hour (hours since 1970, UTC) of a part of a series. */
export interface ChunkKey {
  series: number
  part: number
  hour: number
}

/** The packed rows of an hour: their columns, and their details, which are stored for a shorter time. */
export interface PackedChunk {
  body: Uint8Array
  details: Uint8Array
}

/**
 * Packs the rows of one part of a series. Stores the change of the interval between rows, the change of similar columns, and steady
 * columns only when they change: four or five bytes for a row of a few columns.
 */
export class ChunkWriter<K extends SeriesKind> {
  rows = 0
  /** Whether the rows were added oldest first, without duplicates. */
  isOrdered = true
  private readonly body = new Packer()
  private readonly details = new Packer()
  private readonly bodyBits = new BitPacker(this.body)
  private readonly detailBits = new BitPacker(this.details)
  private at: number
  private interval = 0
  private readonly steady: number[]
  private readonly changed: number[] = []
  private readonly similar: number[]
  private readonly detailed: number[]

  constructor(
    private readonly kind: K,
    readonly key: ChunkKey,
  ) {
    const { stored, version } = kind
    this.at = key.hour * hourMs
    this.steady = zeros(stored.steady)
    this.similar = zeros(stored.similar)
    this.detailed = zeros(stored.details)
    this.body.byte(version)
    this.details.byte(version)
  }

  add(sample: Sample<K>): void {
    const { words, steady, similar, details } = this.kind.stored
    const row = sample as AnySample
    const interval = sample.at - this.at
    if (interval <= 0 && this.rows > 0) this.isOrdered = false
    for (let index = 0; index < words.length; index++) {
      const column = words[index]!
      this.bodyBits.number(storedValue(row, column)!, column.bits)
    }
    for (let index = 0; index < similar.length; index++) this.bodyBits.bit(row[similar[index]!.name] !== null)
    for (let index = 0; index < steady.length; index++) {
      const value = (storedValue(row, steady[index]!) ?? -1) + 1
      this.bodyBits.bit(value !== this.steady[index])
      this.changed[index] = value
    }
    this.bodyBits.end()
    this.body.signed(interval - this.interval)
    packChanges(this.body, row, similar, this.similar)
    for (let index = 0; index < steady.length; index++) {
      const value = this.changed[index]!
      if (value === this.steady[index]) continue
      this.body.count(value)
      this.steady[index] = value
    }
    for (let index = 0; index < details.length; index++) this.detailBits.bit(row[details[index]!.name] !== null)
    this.detailBits.end()
    packChanges(this.details, row, details, this.detailed)
    this.at = sample.at
    this.interval = interval
    this.rows++
  }

  packed(): PackedChunk {
    return { body: this.body.bytes(), details: this.details.bytes() }
  }
}

/** Packs a list of rows. */
export function packChunk<K extends SeriesKind>(kind: K, key: ChunkKey, rows: Iterable<Sample<K>>): PackedChunk {
  const writer = new ChunkWriter(kind, key)
  for (const row of rows) writer.add(row)
  return writer.packed()
}

/**
 * Unpacks the rows of a chunk, in the order in which they were added.
 * @param details null if they were deleted; those columns are then null
 * @throws BadPacking
 */
export function readChunk<K extends SeriesKind>(
  kind: K,
  key: ChunkKey,
  body: Uint8Array,
  details: Uint8Array | null,
): Sample<K>[] {
  const { stored, version } = kind
  const from = unpackerOf(body, version)
  const detailsFrom = details && unpackerOf(details, version)
  const bits = new BitUnpacker(from)
  const detailBits = detailsFrom && new BitUnpacker(detailsFrom)
  const rows: AnySample[] = []
  const steady = zeros(stored.steady)
  const similar = zeros(stored.similar)
  const detailed = zeros(stored.details)
  const present: boolean[] = []
  const empty: AnySample = { ...stored.empty, series: key.series, part: key.part }
  let at = key.hour * hourMs
  let interval = 0
  while (!from.done) {
    const row = { ...empty }
    for (let index = 0; index < stored.words.length; index++) {
      const { name, words, bits: length } = stored.words[index]!
      const word = words![bits.number(length)]
      if (word === undefined) throw new BadPacking('Unknown word.')
      row[name] = word
    }
    const numbers = stored.similar.length
    for (let index = 0; index < numbers + stored.steady.length; index++) present[index] = bits.bit()
    bits.end()
    interval += from.signed()
    at += interval
    row.at = at
    readChanges(from, row, stored.similar, present, similar)
    for (let index = 0; index < stored.steady.length; index++) {
      if (present[numbers + index]) steady[index] = from.count()
      if (steady[index] !== 0) row[stored.steady[index]!.name] = valueOf(stored.steady[index]!, steady[index]! - 1)
    }
    if (detailsFrom && !detailsFrom.done) {
      for (let index = 0; index < stored.details.length; index++) present[index] = detailBits!.bit()
      detailBits!.end()
      readChanges(detailsFrom, row, stored.details, present, detailed)
    }
    rows.push(row)
  }
  return rows as Sample<K>[]
}

/** Merges rows of one part of a series, oldest first. Of duplicates, keeps the one with more details. */
export function mergedRows<R extends { at: number }>({ stored }: SeriesKind, ...lists: readonly (readonly R[])[]): R[] {
  const details = (row: R) => stored.details.filter(({ name }) => (row as unknown as AnySample)[name] !== null).length
  const byTime = new Map<number, R>()
  for (const row of lists.flat()) {
    const other = byTime.get(row.at)
    if (!other || details(other) < details(row)) byTime.set(row.at, row)
  }
  return [...byTime.values()].sort((a, b) => a.at - b.at)
}

const zeros = (columns: readonly StoredColumn[]): number[] => columns.map(() => 0)

/** Writes how values that are not null differ from the last ones. */
function packChanges(to: Packer, row: AnySample, columns: readonly StoredColumn[], last: number[]): void {
  for (let index = 0; index < columns.length; index++) {
    const value = storedValue(row, columns[index]!)
    if (value === null) continue
    to.signed(value - last[index]!)
    last[index] = value
  }
}

function readChanges(
  from: Unpacker,
  row: AnySample,
  columns: readonly StoredColumn[],
  present: readonly boolean[],
  last: number[],
): void {
  for (let index = 0; index < columns.length; index++)
    if (present[index]) row[columns[index]!.name] = valueOf(columns[index]!, (last[index]! += from.signed()))
}

function unpackerOf(bytes: Uint8Array, version: number): Unpacker {
  const unpacker = new Unpacker(bytes)
  if (unpacker.byte() !== version) throw new BadPacking('Unsupported version.')
  return unpacker
}
