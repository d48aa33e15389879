import { storedValue, type AnySample, type Sample, type SeriesKind, type StoredColumn } from './kind'
import { BadPacking, Packer, Unpacker } from './packer'

type Total = Distribution | WordCounts | Folded | Mean

/** What a rollup contains: a total of each column that is rolled up. */
type Totals<K extends SeriesKind> = {
  [N in keyof K['columns'] as K['columns'][N] extends { words: unknown } | { rollup: unknown } ? N : never]: TotalOf<
    K['columns'][N]
  >
}
type TotalOf<C> = C extends { words: readonly (infer W extends string)[] }
  ? { counts: Record<W, number> }
  : C extends { rollup: 'distribution' }
    ? Distribution
    : { value: number | null }

/** Summary of the rows in a period. Summaries can be merged without loss. */
export class Rollup<K extends SeriesKind> {
  /** Number of rows. */
  n = 0
  readonly columns: Totals<K>
  private readonly totals: readonly { column: StoredColumn; total: Total }[]

  constructor(private readonly kind: K) {
    this.totals = kind.stored.all.filter(one => one.words || one.rollup).map(column => ({ column, total: totalOf(column) }))
    this.columns = Object.fromEntries(this.totals.map(({ column, total }) => [column.name, total])) as Totals<K>
  }

  /** @param row only needs the columns that are rolled up */
  add(row: object): void {
    this.n++
    const isMeasured = this.kind.isMeasured?.(row as Sample<K>) ?? true
    for (let index = 0; index < this.totals.length; index++) {
      const { column, total } = this.totals[index]!
      if (!isMeasured && !column.words) continue
      const stored = storedValue(row as AnySample, column)
      if (stored === null) continue
      if (total instanceof Mean) total.add(stored, weightOf(column, row as AnySample))
      else total.add(stored)
    }
  }

  merge(other: Rollup<K>): void {
    this.n += other.n
    for (const [index, { total }] of this.totals.entries()) total.merge(other.totals[index]!.total as never)
  }

  packed(): Uint8Array {
    const to = new Packer()
    to.byte(this.kind.version)
    to.count(this.n)
    for (const { total } of this.totals) total.pack(to)
    return to.bytes()
  }

  /** @throws BadPacking */
  static read<K extends SeriesKind>(kind: K, bytes: Uint8Array): Rollup<K> {
    const from = new Unpacker(bytes)
    if (from.byte() !== kind.version) throw new BadPacking('Unsupported version.')
    const roll = new Rollup(kind)
    roll.n = from.count()
    for (const { total } of roll.totals) total.read(from)
    return roll
  }
}

function totalOf({ words, rollup, factor }: StoredColumn): Total {
  if (words) return new WordCounts(words)
  if (rollup === 'distribution') return new Distribution(factor)
  return typeof rollup === 'object' ? new Mean(factor) : new Folded(rollup!, factor)
}

/** The weight of a row in the average of a column. */
const weightOf = ({ rollup }: StoredColumn, row: AnySample): number =>
  (typeof rollup === 'object' && (row[rollup.meanBy] as number | null)) || 0

/** The last bucket of a histogram contains everything above 900,000. */
const buckets = 80

/** Count, sum, minimum, maximum and histogram of values that are not negative. */
export class Distribution {
  n = 0
  // As stored integers, so that the sum is exact.
  private sum = 0
  private least = Number.POSITIVE_INFINITY
  private most = 0
  /** Counts by {@link bucketOf}. */
  readonly histogram = new Map<number, number>()

  constructor(private readonly factor: number) {}

  add(stored: number): void {
    const bucket = bucketOf(stored / this.factor)
    this.n++
    this.sum += stored
    this.least = Math.min(this.least, stored)
    this.most = Math.max(this.most, stored)
    this.histogram.set(bucket, (this.histogram.get(bucket) ?? 0) + 1)
  }

  merge(other: Distribution): void {
    this.n += other.n
    this.sum += other.sum
    this.least = Math.min(this.least, other.least)
    this.most = Math.max(this.most, other.most)
    for (const [bucket, n] of other.histogram) this.histogram.set(bucket, (this.histogram.get(bucket) ?? 0) + n)
  }

  // Null without values.
  get mean(): number | null {
    return this.n === 0 ? null : this.sum / this.factor / this.n
  }
  get min(): number | null {
    return this.n === 0 ? null : this.least / this.factor
  }
  get max(): number | null {
    return this.n === 0 ? null : this.most / this.factor
  }

  /**
   * Returns a percentile by nearest rank, with `share` from 0 to 1; null without values. It is the middle of its bucket, so the
   * error is at most 10%, and it is never outside the measured range.
   */
  percentile(share: number): number | null {
    if (this.n === 0) return null
    const rank = Math.max(1, Math.ceil(share * this.n))
    let counted = 0
    for (const bucket of [...this.histogram.keys()].sort((a, b) => a - b)) {
      counted += this.histogram.get(bucket)!
      if (counted >= rank) return Math.min(this.most / this.factor, Math.max(this.least / this.factor, middleOf(bucket)))
    }
    return this.max
  }

  pack(to: Packer): void {
    to.count(this.n)
    if (this.n === 0) return
    to.count(this.sum)
    to.count(this.least)
    to.count(this.most - this.least)
    const filled = [...this.histogram].sort(([a], [b]) => a - b)
    to.count(filled.length)
    let before = 0
    for (const [bucket, n] of filled) {
      to.count(bucket - before)
      to.count(n)
      before = bucket
    }
  }

  read(from: Unpacker): void {
    this.n = from.count()
    if (this.n === 0) return
    this.sum = from.count()
    this.least = from.count()
    this.most = this.least + from.count()
    let bucket = 0
    for (let left = from.count(); left > 0; left--) {
      bucket += from.count()
      this.histogram.set(bucket, from.count())
    }
  }
}

/** How many rows had each word. */
class WordCounts {
  readonly counts: Record<string, number>

  constructor(private readonly words: readonly string[]) {
    this.counts = Object.fromEntries(words.map(word => [word, 0]))
  }

  add(stored: number): void {
    this.counts[this.words[stored]!]!++
  }

  merge(other: WordCounts): void {
    for (const word of this.words) this.counts[word]! += other.counts[word]!
  }

  pack(to: Packer): void {
    for (const word of this.words) to.count(this.counts[word]!)
  }

  read(from: Unpacker): void {
    for (const word of this.words) this.counts[word] = from.count()
  }
}

const folds = {
  sum: (before: number, next: number) => before + next,
  min: Math.min,
  max: Math.max,
  last: (_: number, next: number) => next,
}

/** The sum, minimum, maximum or last of values, in the order in which they are added and merged. */
class Folded {
  private stored: number | null = null

  constructor(
    private readonly fold: keyof typeof folds,
    private readonly factor: number,
  ) {}

  get value(): number | null {
    return this.stored === null ? null : this.stored / this.factor
  }

  add(stored: number): void {
    this.stored = this.stored === null ? stored : folds[this.fold](this.stored, stored)
  }

  merge(other: Folded): void {
    if (other.stored !== null) this.add(other.stored)
  }

  pack(to: Packer): void {
    to.byte(this.stored === null ? 0 : 1)
    if (this.stored !== null) to.signed(this.stored)
  }

  read(from: Unpacker): void {
    if (from.byte() === 1) this.stored = from.signed()
  }
}

/** The average of values by weight. */
class Mean {
  private sum = 0
  private weight = 0

  constructor(private readonly factor: number) {}

  get value(): number | null {
    return this.weight === 0 ? null : this.sum / this.weight / this.factor
  }

  add(stored: number, weight: number): void {
    this.sum += stored * weight
    this.weight += weight
  }

  merge(other: Mean): void {
    this.sum += other.sum
    this.weight += other.weight
  }

  pack(to: Packer): void {
    to.signed(this.sum)
    to.count(this.weight)
  }

  read(from: Unpacker): void {
    this.sum = from.signed()
    this.weight = from.count()
  }
}

/**
 * Four buckets per factor of two, starting at 1: each bound is 19% above the previous one. The first bucket contains
 * everything below.
 */
const bucketOf = (value: number): number => (value <= 1 ? 0 : Math.min(buckets - 1, Math.ceil(Math.log2(value) * 4)))

const middleOf = (bucket: number): number => (bucket === 0 ? 1 : 2 ** ((bucket - 0.5) / 4))
