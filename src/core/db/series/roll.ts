import type { Beat } from '../series'
import { inTenths } from './chunk'
import { BadPacking, Packer, Unpacker } from './packer'

export const phaseNames = ['dns', 'connect', 'tls', 'firstByte'] as const
export type PhaseName = (typeof phaseNames)[number]

/** The last bucket of a histogram takes what is slower than a quarter of an hour. */
const buckets = 80

/** How many there were, what they add up to, and the least and the most of them. Milliseconds, kept to a tenth. */
export class Spread {
  n = 0
  // In tenths, which add up exactly.
  tenths = 0
  least = Number.POSITIVE_INFINITY
  most = 0
  /** By {@link bucketOf}. */
  readonly histogram = new Map<number, number>()

  add(ms: number): void {
    const bucket = bucketOf(ms)
    const tenths = inTenths(ms)
    this.n++
    this.tenths += tenths
    this.least = Math.min(this.least, tenths)
    this.most = Math.max(this.most, tenths)
    this.histogram.set(bucket, (this.histogram.get(bucket) ?? 0) + 1)
  }

  merge(other: Spread): void {
    this.n += other.n
    this.tenths += other.tenths
    this.least = Math.min(this.least, other.least)
    this.most = Math.max(this.most, other.most)
    for (const [bucket, n] of other.histogram) this.histogram.set(bucket, (this.histogram.get(bucket) ?? 0) + n)
  }

  // Each null when there was none.
  get mean(): number | null {
    return this.n === 0 ? null : this.tenths / 10 / this.n
  }
  get min(): number | null {
    return this.n === 0 ? null : this.least / 10
  }
  get max(): number | null {
    return this.n === 0 ? null : this.most / 10
  }

  /**
   * What this share of them did not exceed, from 0 to 1, by nearest rank; null when there was none. It is the middle of its bucket, so
   * off by at most a tenth, and never outside what was measured.
   */
  percentile(share: number): number | null {
    if (this.n === 0) return null
    const rank = Math.max(1, Math.ceil(share * this.n))
    let counted = 0
    for (const bucket of [...this.histogram.keys()].sort((a, b) => a - b)) {
      counted += this.histogram.get(bucket)!
      if (counted >= rank) return Math.min(this.most / 10, Math.max(this.least / 10, middleOf(bucket)))
    }
    return this.max
  }
}

/** What came of the checks of a span of time. Two of them merge into that of both spans, exactly. */
export class Roll {
  /** By status of the result. */
  up = 0
  degraded = 0
  down = 0
  readonly latency = new Spread()
  readonly phases: Record<PhaseName, Spread> = {
    dns: new Spread(),
    connect: new Spread(),
    tls: new Spread(),
    firstByte: new Spread(),
  }

  get n(): number {
    return this.up + this.degraded + this.down
  }

  add(beat: Omit<Beat, 'error'>): void {
    this[beat.status]++
    // How long a failure took says how long somebody waited, not how fast the target is.
    if (beat.status === 'down') return
    if (beat.ms !== null) this.latency.add(beat.ms)
    for (const name of phaseNames) {
      const ms = beat[name]
      if (ms !== null) this.phases[name].add(ms)
    }
  }

  merge(other: Roll): void {
    this.up += other.up
    this.degraded += other.degraded
    this.down += other.down
    this.latency.merge(other.latency)
    for (const name of phaseNames) this.phases[name].merge(other.phases[name])
  }

  packed(): Uint8Array {
    const to = new Packer()
    to.octet(version)
    for (const n of [this.up, this.degraded, this.down]) to.count(n)
    for (const spread of spreadsOf(this)) packSpread(to, spread)
    return to.bytes()
  }

  /** @throws BadPacking */
  static read(bytes: Uint8Array): Roll {
    const from = new Unpacker(bytes)
    if (from.octet() !== version) throw new BadPacking('Its form is of another version.')
    const roll = new Roll()
    roll.up = from.count()
    roll.degraded = from.count()
    roll.down = from.count()
    for (const spread of spreadsOf(roll)) readSpread(from, spread)
    return roll
  }
}

/** Four buckets to each doubling, from a millisecond up: the next bound is 19 % above the last. The first bucket takes what is faster. */
export const bucketOf = (ms: number): number => (ms <= 1 ? 0 : Math.min(buckets - 1, Math.ceil(Math.log2(ms) * 4)))

const version = 1
const middleOf = (bucket: number): number => (bucket === 0 ? 1 : 2 ** ((bucket - 0.5) / 4))
const spreadsOf = (roll: Roll): Spread[] => [roll.latency, ...phaseNames.map(name => roll.phases[name])]

function packSpread(to: Packer, spread: Spread): void {
  to.count(spread.n)
  if (spread.n === 0) return
  to.count(spread.tenths)
  to.count(spread.least)
  to.count(spread.most - spread.least)
  const filled = [...spread.histogram].sort(([a], [b]) => a - b)
  to.count(filled.length)
  let before = 0
  for (const [bucket, n] of filled) {
    to.count(bucket - before)
    to.count(n)
    before = bucket
  }
}

function readSpread(from: Unpacker, spread: Spread): void {
  spread.n = from.count()
  if (spread.n === 0) return
  spread.tenths = from.count()
  spread.least = from.count()
  spread.most = spread.least + from.count()
  let bucket = 0
  for (let left = from.count(); left > 0; left--) {
    bucket += from.count()
    spread.histogram.set(bucket, from.count())
  }
}
