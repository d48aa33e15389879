import type { Take } from '../../../core/db/series/metric-columns'
import { parseColumn, unitOf, type MetricSource } from './names'
import type { ServerMetricsQuery, ServerMetricsView } from './shapes'
import type { Window } from './window'

type Series = ServerMetricsView['series'][number]

const maxSeries = 300
/** At most this many columns are collected, in the order in which they are found: some of them have no values in the window. */
const maxColumns = 1000

interface Column {
  name: string
  device: string | null
  /** Where its values begin. */
  offset: number
}

// In `values`, a point of a column has its number of samples, their sum, and their maximum.
const perPoint = 3
const firstColumns = 100
/** A larger list is not kept for the next grid. */
const maxSpareBytes = 4 * 1024 * 1024
/** Of the last grid, for the next one: the pages of a new list take as long as a third of the values. */
let spare: Float64Array | null = null

/** Collects what a source measured on the grid of a window. */
export class Grid {
  private readonly columns = new Map<string, Column | null>()
  // One list of numbers for all columns: a list for each of them takes twice as long, and an object for each point several times.
  private values: Float64Array
  private length = 0
  // The values of a row have the same time, so its point is computed only once for all of them.
  private at = Number.NaN
  private point = -1

  constructor(
    private readonly window: Window,
    private readonly source: MetricSource,
    private readonly wanted: Pick<ServerMetricsQuery, 'type' | 'device'>,
  ) {
    this.values = spare ?? new Float64Array(firstColumns * window.points * perPoint)
    spare = null
  }

  /** Where the values of a column are collected, for `take`; null if it is not wanted, or there are too many. */
  columnOf(name: string): number | null {
    let found = this.columns.get(name)
    if (found === undefined) this.columns.set(name, (found = this.found(name)))
    return found && found.offset
  }

  readonly take: Take<number> = (offset, at, avg, max, n) => {
    if (at !== this.at) {
      this.at = at
      this.point = Math.floor((at - this.window.from) / this.window.stepMs)
    }
    const { point, values } = this
    if (point < 0 || point >= this.window.points) return
    const place = offset + point * perPoint
    const isFirst = values[place] === 0
    values[place]! += n
    values[place + 1]! += avg * n
    if (isFirst || max > values[place + 2]!) values[place + 2] = max
  }

  /** The series with at least one value. Can be called only once. */
  series(): Series[] {
    const series: Series[] = []
    for (const column of this.columns.values()) {
      if (column === null || series.length === maxSeries) continue
      const { name, device } = column
      const values = this.valuesOf(column)
      if (values) series.push({ name, device, unit: unitOf(name), source: this.source, ...values })
    }
    spare = this.values.byteLength <= maxSpareBytes ? this.values : null
    this.values = new Float64Array(0)
    return series
  }

  /** Null if all points are empty. */
  private valuesOf({ offset }: Column): Pick<Series, 'avg' | 'max'> | null {
    const { values } = this
    const avg: (number | null)[] = []
    const max: (number | null)[] = []
    let isEmpty = true
    for (let place = offset; place < offset + this.window.points * perPoint; place += perPoint) {
      const samples = values[place]!
      if (samples === 0) {
        avg.push(null)
        max.push(null)
        continue
      }
      isEmpty = false
      const most = values[place + 2]!
      // Rounding must not put the average above the maximum.
      avg.push(rounded(Math.min(values[place + 1]! / samples, most)))
      max.push(rounded(most))
    }
    return isEmpty ? null : { avg, max }
  }

  private found(column: string): Column | null {
    const { type, device } = this.wanted
    const parsed = parseColumn(column)
    if ((type && !type.some(one => one === parsed.type)) || (device !== undefined && parsed.device !== device)) return null
    const offset = this.length
    if (offset >= maxColumns * this.window.points * perPoint) return null
    this.length += this.window.points * perPoint
    if (this.length > this.values.length) {
      const larger = new Float64Array(this.length * 2)
      larger.set(this.values)
      this.values = larger
    }
    this.values.fill(0, offset, this.length)
    return { name: parsed.name, device: parsed.device, offset }
  }
}

/** Rounds to what is stored: about five digits. The same as by `toPrecision`, which takes ten times as long. */
export function rounded(value: number): number {
  const size = Math.abs(value)
  // Smaller and larger powers of ten are not exact, and neither would be what is computed with them.
  if (size < 1e-17 || size >= 1e26) return Number(value.toPrecision(5))
  double[0] = size
  // IEEE 754: the exponent of a double is in bits 20 to 30 of its upper half, which is the second one on little-endian systems.
  const least = leastExponents[words[1]! >>> 20]!
  const exponent = 4 - (size >= powers[least + 1 + zeroPower]! ? least + 1 : least)
  const power = powers[Math.abs(exponent) + zeroPower]!
  return exponent < 0 ? Math.round(value / power) * power : Math.round(value * power) / power
}

const double = new Float64Array(1)
const words = new Uint32Array(double.buffer)
const zeroPower = 30
/** Powers of ten from -30 to 30. */
const powers = Float64Array.from({ length: 61 }, (_, place) => Number(`1e${place - zeroPower}`))
/** The decimal exponent of the least number with a binary exponent. A greater number can have an exponent that is higher by one. */
const leastExponents = Int16Array.from({ length: 2048 }, (_, biased) => Math.floor((biased - 1023) * Math.log10(2)))
