import type { AgentReport } from '../../wire/agent'
import { maxColumns, maxMinutes } from '../../wire/agent-limits'
import type { MeasuredMinute } from '../sample/minutes'

/** A minute that waits to be sent. */
export interface WaitingMinute extends MeasuredMinute {
  /** Set if the time of the hub was unknown: the boot, and when the minute was first measured (ms since then). */
  unsure?: { bootId: string; steady: number }
}

/** Minutes in one table, as a report contains them. */
type MinuteTable = Pick<AgentReport, 'columns' | 'minutes'>

/** Puts minutes into one table, and as many of them as a report may have. Returns the number of those. */
export function tableOf(measured: readonly WaitingMinute[], limit: number = maxMinutes): MinuteTable & { count: number } {
  const places = new Map<string, number>()
  const taken: WaitingMinute[] = []
  for (const minute of measured.slice(0, limit)) {
    const added = minute.columns.filter(column => !places.has(column))
    if (places.size + added.length > maxColumns && taken.length > 0) break
    for (const column of added.slice(0, maxColumns - places.size)) places.set(column, places.size)
    taken.push(minute)
  }
  const minutes = taken.map(({ columns, row: [start, samples, averages, maximums] }): AgentReport['minutes'][number] => {
    const spread = (values: readonly (number | null)[]) => {
      const row = Array.from<number | null>({ length: places.size }).fill(null)
      columns.forEach((column, at) => {
        const place = places.get(column)
        if (place !== undefined) row[place] = values[at] ?? null
      })
      return row
    }
    return [start, samples, spread(averages), spread(maximums)]
  })
  return { columns: [...places.keys()], minutes, count: taken.length }
}
