import type { AgentReport } from '../wire/agent'
import type { MeasuredMinute } from './transport/minutes'

/** Parts of a report that are only sent when they changed. */
export type ReportParts = Partial<Pick<AgentReport, 'facts' | 'containers' | 'units' | 'disks' | 'arrays' | 'problems'>>

/** The server, as the agent measures it. */
export interface Machine {
  readonly bootId: string
  /** Measures it now. @param at current time (ms UTC) */
  sample(at: number): void
  /** The samples of a minute, summed up; null if there were none. @param start start of the minute (ms UTC) */
  minute(start: number): MeasuredMinute | null
  parts(): Promise<ReportParts>
  /** Units of systemd whose state is reported. */
  watch(units: readonly string[]): void
}
