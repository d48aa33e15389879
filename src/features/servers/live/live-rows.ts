import { maxColumns } from '../../../wire/agent-limits'

/** What a server did at a time (ms UTC). The names of metrics contain the device after a colon if they have one. */
export interface LiveRow {
  readonly at: number
  readonly metrics: Readonly<Record<string, number>>
}

/** Rows that are kept for each server, in memory. */
export const maxRows = 60

/**
 * The last rows of a server. They share the names of their columns, which take more memory than the values: with 300 columns that have
 * the longest names, all rows take less than 256 KiB.
 */
export class LiveRows {
  private places: Map<string, number> = new Map()
  private rows: PackedRow[] = []

  /** Oldest first. */
  get all(): readonly LiveRow[] {
    return this.rows
  }

  add({ at, metrics }: LiveRow): void {
    const names = Object.keys(metrics).slice(0, maxColumns)
    const added = names.filter(name => !this.places.has(name))
    if (this.places.size + added.length > maxColumns) {
      // Rows with names that are too different are forgotten.
      this.places = new Map()
      this.rows = []
    }
    for (const name of names) if (!this.places.has(name)) this.places.set(name, this.places.size)
    const values = new Float64Array(this.places.size).fill(NaN)
    for (const name of names) values[this.places.get(name)!] = metrics[name]!
    this.rows.push(new PackedRow(at, this.places, values))
    if (this.rows.length > maxRows) this.rows.shift()
  }
}

class PackedRow implements LiveRow {
  /** @param values those that are unknown are NaN, or missing at the end */
  constructor(
    readonly at: number,
    private readonly places: ReadonlyMap<string, number>,
    private readonly values: Float64Array,
  ) {}

  get metrics(): LiveRow['metrics'] {
    const metrics: Record<string, number> = {}
    for (const [name, place] of this.places) {
      const value = this.values[place]
      if (value !== undefined && !Number.isNaN(value)) metrics[name] = value
    }
    return metrics
  }
}
