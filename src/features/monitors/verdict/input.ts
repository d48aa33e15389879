import type { CheckResult } from '../../../checks/check'
import type { Quorum } from '../quorum'
import type { MonitorState, Verdict } from '../state'
import type { monitorStatuses } from '../tables'

export type MonitorStatus = (typeof monitorStatuses)[number]

/** What of a monitor's configuration its verdict depends on. */
export interface Rules {
  /** Those it is assigned to. What others have said is forgotten. */
  locations: readonly string[]
  intervalMs: number
  confirm: number
  recover: number
  /** The dwell: how long fewer than the quorum must find it down before it is not down any more. */
  recoveryMs: number
  quorum: Quorum
  dependencyGraceMs: number
}

export interface LocationResult extends Pick<CheckResult, 'at' | 'status' | 'error'> {
  location: string
}

/** What it depends on. */
export interface Parent {
  id: string
  name: string
  state: MonitorState
}

/** What is known when a monitor is judged. All times are ms UTC. */
export interface JudgeInput {
  rules: Rules
  /** What is shown until now. */
  status: MonitorStatus
  /** New ones; none when it is only time to look again. Of one location in any order, of several too. */
  results: readonly LocationResult[]
  /** Locations whose own connection is not to be trusted now. */
  impaired?: readonly string[]
  paused?: boolean
  /** The window that is in force. */
  maintenance?: { id: string; name: string; until: number } | null
  parents?: readonly Parent[]
  /**
   * Of a group: what its members make of it, and why. Locations have no say then. `excusedBy`: what those depend on that alone make
   * it so, where nobody is told of them because of that; it is among the parents.
   */
  group?: { verdict: Verdict; reason: string; excusedBy: string | null }
}

/** What is to be done after a judgement. */
export type Follow =
  /**
   * People are to be told that it is down, or degraded: once each of an outage, and again only where it `eased` between. Never
   * `degraded` after `alert`.
   * `startedAt`: the first failure. `locations`: those that find it so.
   */
  | { kind: 'alert' | 'degraded'; reason: string; startedAt: number; confirmedAt: number; locations: string[] }
  /** What people were told is down answers again, though not well. */
  | { kind: 'eased'; reason: string; startedAt: number; at: number; locations: string[] }
  /** What people were told of is over: exactly once for each outage that they were told of. */
  | { kind: 'recovered'; because: 'recovered' | 'paused'; told: 'degraded' | 'down'; reason: string; startedAt: number }
  /** Its outage is that of `by`: it is listed there, and nobody is told. */
  | { kind: 'affected'; by: string; reason: string; startedAt: number }
  /** It goes up and down; of its single changes nobody is told until it ends. `score` is a share of 1. */
  | { kind: 'flapping_began' | 'flapping_ended'; score: number }
  /** Those locations are to look at once, so that it is decided soon. */
  | { kind: 'ask'; locations: string[] }
  /** So are those it depends on, to know whose outage it is. */
  | { kind: 'ask_parents'; parents: string[] }
  /** So is it itself, since what it depends on is well again. */
  | { kind: 'recheck' }

export interface Transition {
  from: MonitorStatus
  to: MonitorStatus
  at: number
  /** When what it tells began: the first failure where it is that, else `at`. Never before the verdict of before. */
  since: number
  /** A sentence. */
  reason: string
}

export interface Judged {
  state: MonitorState
  status: MonitorStatus
  transition: Transition | null
  follows: Follow[]
  /** When it must be judged again without a result, at the latest. */
  wakeAt: number | null
  /** Nothing but times and counts of results changed: it need not be written down. */
  quiet: boolean
}
