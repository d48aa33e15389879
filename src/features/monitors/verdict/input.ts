import type { CheckResult } from '../../../checks/check'
import type { AgentSign } from '../server-states'
import type { Quorum } from './quorum'
import type { MonitorState, Verdict } from './state'
import type { monitorStatuses } from '../shapes'

export type MonitorStatus = (typeof monitorStatuses)[number]

/** The settings of a monitor that affect its verdict. */
export interface Rules {
  /** The assigned locations. Results from other locations are discarded. */
  locations: readonly string[]
  intervalMs: number
  confirm: number
  recover: number
  /** How long fewer locations than the quorum must report it as down before it recovers. */
  recoveryMs: number
  quorum: Quorum
  dependencyGraceMs: number
}

export interface LocationResult extends Pick<CheckResult, 'at' | 'status' | 'error'> {
  location: string
  /** Whether a degraded result needs no confirmation, because another check would find the same: a certificate expires soon. */
  isCertain?: boolean
}

/** A monitor it depends on. */
export interface Parent {
  id: string
  name: string
  state: MonitorState
  /** For a monitor of a server with an agent. */
  agent?: AgentSign | undefined
}

/** The input for judging a monitor. All times are ms UTC. */
export interface JudgeInput {
  rules: Rules
  /** The status shown so far. */
  status: MonitorStatus
  /** New results in any order, from any locations; empty if only time has passed. */
  results: readonly LocationResult[]
  /** Locations whose own connectivity is currently impaired. */
  impaired?: readonly string[]
  paused?: boolean
  /** The active maintenance window. */
  maintenance?: { id: string; name: string; until: number } | null
  parents?: readonly Parent[]
  /**
   * For a group: the verdict from its members, used instead of locations. `excusedBy`: the dependency, if only members fail whose alerts
   * are suppressed by it. It is also in `parents`.
   */
  group?: { verdict: Verdict; reason: string; excusedBy: string | null }
}

/** An action to take after a judgment. */
export type FollowUp =
  /**
   * Notify that it is down (`alert`) or degraded: once each per outage, again only after `improved`. Never `degraded` after `alert`.
   * `startedAt`: the first failure. `locations`: the locations that report it.
   */
  | { kind: 'alert' | 'degraded'; reason: string; startedAt: number; confirmedAt: number; locations: string[] }
  /** It was reported as down and is now only degraded. */
  | { kind: 'improved'; reason: string; startedAt: number; at: number; locations: string[] }
  /** The outage is over: exactly once for each outage that was reported. */
  | { kind: 'recovered'; resolution: 'recovered' | 'paused'; notified: 'degraded' | 'down'; reason: string; startedAt: number }
  /** The outage is caused by the dependency `by`: list it on that incident instead of sending an alert. */
  | { kind: 'affected'; by: string; reason: string; startedAt: number }
  /** Status changes are not reported while it is flapping. `score` is from 0 to 1. */
  | { kind: 'flapping_started' | 'flapping_stopped'; score: number }
  /** Check from these locations immediately, to reach a verdict soon. */
  | { kind: 'check_locations'; locations: string[] }
  /** Check its dependencies immediately, to find the cause of the outage. */
  | { kind: 'check_parents'; parents: string[] }
  /** Check the monitor itself immediately, because its dependency recovered. */
  | { kind: 'recheck' }

export interface Transition {
  from: MonitorStatus
  to: MonitorStatus
  at: number
  /** When the new status started: the first failure, or else `at`. Never before the previous verdict. */
  since: number
  /** A sentence. */
  reason: string
}

export interface Judged {
  state: MonitorState
  status: MonitorStatus
  transition: Transition | null
  followUps: FollowUp[]
  /** When it must be judged again even without a result. */
  wakeAt: number | null
  /** Only times and counts of results changed, so it needn't be stored. */
  quiet: boolean
}
