import type { Take } from '../../../core/db/series/metric-columns'
import { parseColumn, unitOf, type MetricSource } from './names'
import type { ServerMetricsQuery, ServerMetricsView } from './shapes'
import type { Window } from './window'

type Series = ServerMetricsView['series'][number]

const maxSeries = 300

/** Collects what a source measured on the grid of a window. */
export class Grid {
  readonly #columns = new Map<string, GridColumn | null>()

  constructor(
    private readonly window: Window,
    private readonly source: MetricSource,
    private readonly wanted: Pick<ServerMetricsQuery, 'type' | 'device'>,
  ) {}

  /** What takes the values of a column; null if it is not wanted. */
  takerOf(column: string): Take | null {
    let found = this.#columns.get(column)
    if (found === undefined) this.#columns.set(column, (found = this.#found(column)))
    return found?.add ?? null
  }

  /** The series with at least one value. */
  series(): Series[] {
    return [...this.#columns.values()]
      .filter(one => one !== null && !one.isEmpty)
      .slice(0, maxSeries)
      .map(one => {
        const { name, device, avg, max } = one!
        return { name, device, unit: unitOf(name), source: this.source, avg: avg(), max: max() }
      })
  }

  #found(column: string): GridColumn | null {
    const { type, device } = this.wanted
    const parsed = parseColumn(column)
    if ((type && !type.some(one => one === parsed.type)) || (device !== undefined && parsed.device !== device)) return null
    return new GridColumn(parsed.name, parsed.device, this.window)
  }
}

/** What was measured in a column by point, in lists of numbers: an object for each point would take several times as long. */
class GridColumn {
  readonly #samples: Float64Array
  readonly #sums: Float64Array
  readonly #most: Float64Array
  isEmpty = true

  constructor(
    readonly name: string,
    readonly device: string | null,
    private readonly window: Pick<Window, 'from' | 'stepMs' | 'points'>,
  ) {
    const { points } = window
    this.#samples = new Float64Array(points)
    this.#sums = new Float64Array(points)
    this.#most = new Float64Array(points).fill(Number.NEGATIVE_INFINITY)
  }

  readonly add: Take = (at, avg, max, n) => {
    const { from, stepMs, points } = this.window
    const place = Math.floor((at - from) / stepMs)
    if (place < 0 || place >= points) return
    this.isEmpty = false
    this.#samples[place]! += n
    this.#sums[place]! += avg * n
    if (max > this.#most[place]!) this.#most[place] = max
  }

  // Rounding must not put the average above the maximum.
  readonly avg = () => this.#values(place => Math.min(this.#sums[place]! / this.#samples[place]!, this.#most[place]!))
  readonly max = () => this.#values(place => this.#most[place]!)

  #values(value: (place: number) => number): (number | null)[] {
    const values: (number | null)[] = []
    for (let place = 0; place < this.window.points; place++)
      values.push(this.#samples[place] === 0 ? null : rounded(value(place)))
    return values
  }
}

/** Rounds to what is stored: about five digits. The same as by `toPrecision`, which takes ten times as long. */
export function rounded(value: number): number {
  if (value === 0) return 0
  const exponent = 4 - Math.floor(Math.log10(Math.abs(value)))
  const power = powers[Math.abs(exponent)]
  if (power === undefined) return Number(value.toPrecision(5))
  return exponent < 0 ? Math.round(value / power) * power : Math.round(value * power) / power
}

/** Higher powers of ten are not exact, and neither would be what is computed with them. */
const powers = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`))
