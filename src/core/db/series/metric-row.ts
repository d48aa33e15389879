import { BadPacking, Packer, Unpacker } from './packer'

/** What was measured in a period: the average and the maximum of `n` samples. */
export interface Measured {
  n: number
  avg: number
  max: number
}

/** The highest absolute value that can be stored: a maximum is rounded up, and must remain a 32-bit float. */
const maxValue = 1e38
/** The highest number of samples in a minute, so that those of years can be summed up. */
const maxSamples = 3_600

/** Whether what was measured in a minute can be stored. */
export const isStorable = ({ n, avg, max }: Measured): boolean =>
  Number.isInteger(n) && n >= 1 && n <= maxSamples && Math.abs(avg) <= maxValue && Math.abs(max) <= maxValue

/** Averages of several samples or periods, each weighted by its number of samples. */
export class Mean {
  n = 0
  max = Number.NEGATIVE_INFINITY
  /** The average that was added last. */
  last = Number.NaN
  private sum = 0

  add(avg: number, max: number, n: number): void {
    this.n += n
    this.last = avg
    this.sum += avg * n
    if (max > this.max) this.max = max
  }

  get avg(): number {
    // Rounding must not put the average above the maximum.
    return Math.min(this.sum / this.n, this.max)
  }
}

const bytesPerColumn = 5
// Not a number as a 32-bit float, whose last octet is left out.
const missing = 0xffffff

/**
 * Packs what was measured in a period, column by column: three octets for the average (a 32-bit float without its last octet), and two
 * for the maximum, which is rounded up.
 * @param columns in the order of the layout
 */
export function packRow(columns: readonly (Measured | undefined)[]): Uint8Array {
  const counts = columns.map(one => one?.n ?? 0)
  const n = counts.reduce((most, one) => Math.max(most, one), 0)
  // Mostly, all columns have the same number of samples.
  const isEven = counts.every(one => one === n || one === 0)
  const to = new Packer()
  to.byte(isEven ? 0 : 1)
  to.count(n)
  if (!isEven) for (const one of counts) to.count(one)
  const head = to.bytes()
  const bytes = new Uint8Array(head.length + columns.length * bytesPerColumn)
  bytes.set(head)
  let at = head.length
  for (const one of columns) {
    const avg = one && one.n > 0 ? shortened(one.avg) : missing
    const max = avg === missing ? 0 : roundedUp(one!.max)
    bytes[at] = avg >>> 16
    bytes[at + 1] = (avg >>> 8) & 255
    bytes[at + 2] = avg & 255
    bytes[at + 3] = max >>> 8
    bytes[at + 4] = max & 255
    at += bytesPerColumn
  }
  return bytes
}

/**
 * Reads a packed row.
 * @param visit called for each column that has a value
 * @param places the columns to read; null for all
 * @throws BadPacking
 */
export function readRow(
  bytes: Uint8Array,
  columns: number,
  visit: (column: number, avg: number, max: number, n: number) => void,
  places: readonly number[] | null = null,
): void {
  const from = new Unpacker(bytes)
  const isEven = from.byte() === 0
  const n = from.count()
  const counts = isEven ? null : Array.from({ length: columns }, () => from.count())
  const first = bytes.length - columns * bytesPerColumn
  if (first < 2) throw new BadPacking('A row is too short.')
  const count = places ? places.length : columns
  for (let index = 0; index < count; index++) {
    const column = places ? places[index]! : index
    const at = first + column * bytesPerColumn
    const avg = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
    if (avg === missing) continue
    const max = ((bytes[at + 3]! << 24) | (bytes[at + 4]! << 16)) >>> 0
    visit(column, floatOf((avg << 8) >>> 0), floatOf(max), counts ? counts[column]! : n)
  }
}

const floats = new Float32Array(1)
const bits = new Uint32Array(floats.buffer)

function floatOf(stored: number): number {
  bits[0] = stored
  return floats[0]!
}

function shortened(value: number): number {
  floats[0] = value
  return Math.min(bits[0]! + 0x80, 0xffffff00) >>> 8
}

function roundedUp(value: number): number {
  floats[0] = value
  const isLess = floats[0] < value
  const all = bits[0]! + (isLess ? (value > 0 ? 1 : -1) : 0)
  // Leaving out digits rounds negative values up.
  return value > 0 && (all & 0xffff) !== 0 ? (all >>> 16) + 1 : all >>> 16
}
