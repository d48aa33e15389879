import type { AgentReport } from '../../wire/agent'
import { maxColumns, maxSamples } from '../../wire/agent-limits'

const minuteMs = 60_000

/** A minute as it was measured, with the columns of its values. Plain values, which can be stored as JSON. */
export interface MeasuredMinute {
  columns: readonly string[]
  /** Start (ms UTC), number of samples, averages, maximums. */
  row: AgentReport['minutes'][number]
}

/** Combines samples into minutes. */
export class MinuteSums {
  private start = 0
  private samples = 0
  private readonly sums = new Map<string, { count: number; sum: number; most: number }>()

  /**
   * Adds a sample.
   * @param at when it was taken (ms UTC)
   * @param since the start of the time that it is about (ms UTC). The sample is in the minute that contains most of this time
   * @returns the minute that ended before this sample, or with it
   */
  add(at: number, values: ReadonlyMap<string, number>, since = at): MeasuredMinute | null {
    const start = minuteOf((since + at) / 2)
    const ended = start === this.start ? null : this.end()
    this.start = start
    this.samples++
    for (const [column, value] of values) {
      const known = this.sums.get(column)
      if (known) {
        known.count++
        known.sum += value
        known.most = Math.max(known.most, value)
      } else if (this.sums.size < maxColumns) this.sums.set(column, { count: 1, sum: value, most: value })
    }
    return ended ?? (minuteOf(at) > start ? this.end() : null)
  }

  /** Ends the minute early, such as when the agent stops. Null without samples. */
  end(): MeasuredMinute | null {
    if (this.samples === 0) return null
    const sums = [...this.sums.values()]
    const averages = sums.map(({ sum, count }) => rounded(sum / count))
    const maximums = sums.map(({ most }) => rounded(most))
    // The hub would refuse more, such as those of a minute that a clock repeated again and again.
    const samples = Math.min(this.samples, maxSamples)
    const minute: MeasuredMinute = { columns: [...this.sums.keys()], row: [this.start, samples, averages, maximums] }
    this.samples = 0
    this.sums.clear()
    return minute
  }
}

const minuteOf = (at: number): number => Math.floor(at / minuteMs) * minuteMs

/** The hub stores fewer digits, so more would only make reports longer. */
const rounded = (value: number): number => Number(value.toPrecision(6))
