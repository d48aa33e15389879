import type { Measured } from '../../../core/db/series/metric-row'
import { keptSince, tiers } from '../../../core/db/series/metric-tiers'
import type { Hub } from '../../../core/hub'
import { columnOf, subjectOf } from '../metrics/names'
import type { AgentRow } from './rows'

/** Minutes as an agent measured them, in the order of its columns. */
export interface AgentMinutes {
  /** Metrics, each with its device after a colon if it has one: `cpu.used_percent`, `disk.busy_percent:sda`. */
  columns: string[]
  /** Start of the minute (ms UTC), number of samples, averages, and maximums. Null where nothing was measured. */
  minutes: [start: number, samples: number, averages: (number | null)[], most: (number | null)[]][]
}

/** The clock of a server may be ahead by this much. */
export const maxAheadMs = 120_000
/** An agent measures at most this many metrics. The others are ignored. */
const maxColumns = 300

/**
 * Stores minutes of an agent, current ones and those of a backlog, in any order. A minute that is stored already is replaced, so
 * reports can be repeated. Metrics that this version doesn’t know are stored as they are. Columns without a valid name are ignored,
 * and so are values and numbers of samples that can’t be right. Minutes older than two days are dropped: coarser rows are computed
 * from minutes, which are no longer kept.
 * @returns how many were too old
 * @throws if they could not be stored, so that the agent sends them again
 */
export async function recordMinutes(
  hub: Hub,
  { serverId }: Pick<AgentRow, 'serverId'>,
  { columns, minutes }: AgentMinutes,
): Promise<number> {
  const now = hub.clock.now()
  const subject = subjectOf(serverId, 'agent')
  const names = columns.slice(0, maxColumns).map(storedColumn)
  const oldest = keptSince(tiers[0], now, null)
  const rows = minutes
    .filter(([start]) => start >= oldest && start <= now + maxAheadMs)
    .map(([at, samples, averages, most]) => {
      const values = new Map<string, Measured | null>()
      for (const [place, name] of names.entries()) {
        const avg = averages[place]
        if (name === null) continue
        values.set(name, avg == null ? (values.get(name) ?? null) : { n: samples, avg, max: Math.max(avg, most[place] ?? avg) })
      }
      return { subject, at, values }
    })
  await hub.series.metrics.append(rows, now)
  return minutes.filter(([start]) => start < oldest).length
}

/** The column of the store for a column of an agent; null if it has no valid name. */
export function storedColumn(column: string): string | null {
  const [, name, device = null] = /^([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+)(?::(.+))?$/.exec(column) ?? []
  return name === undefined ? null : columnOf(name, device)
}
