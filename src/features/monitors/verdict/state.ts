import type { CheckError, ConfirmedStatus } from '../../../checks/check'

/** The outcome of checks, regardless of maintenance and pauses. */
export type Verdict = 'new' | 'up' | 'degraded' | 'down' | 'unknown'

/** The state of a monitor at one location. Times in ms UTC. */
export interface LocationState {
  settled: ConfirmedStatus
  /** Consecutive results that contradict `settled`, and when the first of them started; 0 and null if there are none. */
  streak: number
  streakSince: number | null
  /** When `settled` last changed; for `down`, when the first failure started. */
  since: number
  /** Whether it is degraded while up, the consecutive results that contradict that, and when the first of them, or the degradation, started. */
  degraded: boolean
  degradedStreak: number
  degradedSince: number | null
  lastResultAt: number | null
  /** The error of the last result that was not `up`. */
  lastError: CheckError | null
}

/** An outage: from the first failure until the monitor is up again. */
export interface OutageState {
  /** The first failure of the outage, and the first failure that led to being down by quorum. Ms UTC. */
  since: number
  downSince: number | null
  /** When it last got worse. */
  confirmedAt: number
  /** What notifications last reported. Recovery is reported once. */
  notified: 'degraded' | 'down' | null
  /** The monitor whose incident lists this one as affected. */
  affectedBy: string | null
  /** When the dependency recovered, if this monitor has not been checked since. */
  recheckSince: number | null
}

/** The state that must survive a restart. */
export interface MonitorState {
  verdict: Verdict
  verdictSince: number
  locations: Record<string, LocationState>
  /** Since when fewer locations than the quorum report it as down, while it still counts as down. */
  recoveringSince: number | null
  outage: OutageState | null
  /** The last changes of the verdict, oldest first, at most 20. The flapping score is based on them. */
  recent: { at: number; verdict: Verdict }[]
  flapping: boolean
  /** The last active maintenance window, and when it ended. */
  maintenance: { id: string; endedAt: number | null } | null
  /** Why notifications are suppressed. `by`: the dependency, the maintenance window, or null. */
  suppressed: { since: number; cause: 'dependency' | 'maintenance' | 'flapping'; by: string | null } | null
}

/** The state of a monitor that has not been checked yet. @param at ms UTC */
export const newMonitorState = (at: number): MonitorState => ({
  verdict: 'new',
  verdictSince: at,
  locations: {},
  recoveringSince: null,
  outage: null,
  recent: [],
  flapping: false,
  maintenance: null,
  suppressed: null,
})
