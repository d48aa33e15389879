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
  /** Consecutive degraded results while it is up. */
  degradedStreak: number
  lastResultAt: number | null
  lastError: CheckError | null
}

/** What must survive a restart to go on judging. */
export interface MonitorState {
  verdict: Verdict
  verdictSince: number
  locations: Record<string, LocationState>
  /** Since when fewer than the quorum find it down while it still counts as down: the dwell. */
  recoveringSince: number | null
  /** The last verdicts, oldest first, at most 20: what flapping is scored by. */
  recent: { at: number; verdict: Verdict }[]
  flapping: boolean
  /** Why its alert is held back although it is down. */
  held: { since: number; because: 'dependency' | 'maintenance'; by: string } | null
}
