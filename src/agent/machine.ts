import type { AgentLiveMetrics, AgentReport } from '../wire/agent'
import type { News } from './news'
import type { MeasuredMinute } from './sample/minutes'

/** Names of the parts of a report that are only sent when they changed. */
export const reportParts = [
  'facts',
  'containers',
  'units',
  'disks',
  'arrays',
  'certificates',
  'sockets',
  'mounts',
  'sessions',
  'processes',
  'packages',
  'problems',
  'update',
] as const
type ReportPart = (typeof reportParts)[number]

/** Parts of a report that are only sent when they changed. */
export type ReportParts = Partial<Pick<AgentReport, ReportPart>>

/** The server, as the agent measures it. */
export interface Machine {
  readonly bootId: string
  /** Time since it booted (s). */
  uptimeSeconds(): number
  /** Measures it now. @param at current time (ms UTC) @returns the minute that ended, if any */
  sample(at: number): Promise<MeasuredMinute | null>
  /** Ends the current minute, before the agent stops. Null without samples. */
  end(): MeasuredMinute | null
  /** @param now current time (ms UTC) @param isForced reads everything, also what was read recently */
  parts(now: number, isForced: boolean): Promise<ReportParts>
  /** Whether someone wants current parts, and some of them were not read in time, so that they must be read again soon. */
  readonly isLate?: boolean
  /** What has happened and was not reported yet. */
  readonly news: Pick<News, 'next' | 'remove'>
  /** Units of systemd whose state is reported, and programs whose processes are counted. */
  watch(units: readonly string[], processes: readonly string[]): void
}

/** Measures what a server does now. */
export interface LiveSampler {
  /**
   * @param at current time (ms UTC)
   * @returns values by column, and the busiest processes. Rates and CPU time are those since the previous call, so processes are
   * missing at the first one.
   */
  sample(at: number): Promise<{ metrics: ReadonlyMap<string, number>; processes?: NonNullable<AgentLiveMetrics['processes']> }>
}
