import type { CheckError, Settled } from '../../checks/check'

/** What a monitor is found to be, below what maintenance and pauses show. */
export type Verdict = 'new' | 'up' | 'degraded' | 'down' | 'unknown'

/** How one location sees a monitor. Times in ms UTC. */
export interface LocationState {
  settled: Settled
  /** Consecutive results against `settled`, and when the first of them began; 0 and null when there are none. */
  streak: number
  streakSince: number | null
  /** When it was last settled anew; of a `down` one, when the first failure began. */
  since: number
  /** Whether it is degraded while it is up; consecutive results against that, and when the first of them, or of it, began. */
  degraded: boolean
  degradedStreak: number
  degradedSince: number | null
  lastResultAt: number | null
  /** Of the last result that was not `up`. */
  lastError: CheckError | null
}

/** A time in which a monitor is not well: from the first failure until it is up again. */
export interface OutageState {
  /** When it was first not well, and when it was first down by its quorum: the first failures. Ms UTC. */
  since: number
  downSince: number | null
  /** When it was last found to be worse than before. */
  confirmedAt: number
  /** What people were told of it last. Its end is told once. */
  told: 'degraded' | 'down' | null
  /** The monitor on whose incident it is listed as affected. */
  affectedBy: string | null
  /** Since when what it depends on is well again, while it has not been looked at since. */
  recheckSince: number | null
}

/** What must survive a restart to go on judging. */
export interface MonitorState {
  verdict: Verdict
  verdictSince: number
  locations: Record<string, LocationState>
  /** Since when fewer than the quorum find it down while it still counts as down: the dwell. */
  recoveringSince: number | null
  outage: OutageState | null
  /** The last changes of the verdict, oldest first, at most 20: what flapping is scored by. */
  recent: { at: number; verdict: Verdict }[]
  flapping: boolean
  /** The maintenance window that was last in force, and since when it is not any more. */
  maintenance: { id: string; endedAt: number | null } | null
  /** Why nobody is told although it is not well. `by`: what it depends on, the window, or nothing. */
  held: { since: number; because: 'dependency' | 'maintenance' | 'flapping'; by: string | null } | null
}

/** The state of a monitor that was never checked. @param at ms UTC */
export const newMonitorState = (at: number): MonitorState => ({
  verdict: 'new',
  verdictSince: at,
  locations: {},
  recoveringSince: null,
  outage: null,
  recent: [],
  flapping: false,
  maintenance: null,
  held: null,
})
