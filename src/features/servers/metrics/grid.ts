import { Mean } from '../../../core/db/series/metric-row'
import { parseColumn, unitOf, type MetricSource } from './names'
import type { ServerMetricsQuery, ServerMetricsView } from './shapes'
import type { Window } from './window'

type Series = ServerMetricsView['series'][number]

interface Found {
  name: string
  device: string | null
  points: (Mean | undefined)[]
}

const maxSeries = 300

/** Collects what a source measured on the grid of a window. */
export class Grid {
  readonly #columns = new Map<string, Found | null>()

  constructor(
    private readonly window: Window,
    private readonly source: MetricSource,
    private readonly wanted: Pick<ServerMetricsQuery, 'type' | 'device'>,
  ) {}

  add(at: number, column: string, avg: number, max: number, n: number): void {
    let found = this.#columns.get(column)
    if (found === undefined) this.#columns.set(column, (found = this.#found(column)))
    const place = Math.floor((at - this.window.from) / this.window.stepMs)
    if (!found || place < 0 || place >= this.window.points) return
    const mean = (found.points[place] ??= new Mean())
    mean.add(avg, max, n)
  }

  /** The series with at least one value. */
  series(): Series[] {
    return [...this.#columns.values()]
      .filter(one => one !== null && one.points.length > 0)
      .slice(0, maxSeries)
      .map(one => {
        const { name, device, points } = one!
        const valuesOf = (value: (mean: Mean) => number) =>
          Array.from({ length: this.window.points }, (_, place) => {
            const mean = points[place]
            return mean ? rounded(value(mean)) : null
          })
        return {
          ...{ name, device, unit: unitOf(name), source: this.source },
          avg: valuesOf(mean => mean.avg),
          max: valuesOf(mean => mean.max),
        }
      })
  }

  #found(column: string): Found | null {
    const { type, device } = this.wanted
    const parsed = parseColumn(column)
    if ((type && !type.some(one => one === parsed.type)) || (device !== undefined && parsed.device !== device)) return null
    return { name: parsed.name, device: parsed.device, points: [] }
  }
}

/** Rounds to what is stored: about five digits. */
const rounded = (value: number): number => Number(value.toPrecision(5))
