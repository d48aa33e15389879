import type { CheckResult } from '../../../checks/check'
import type { MonitorState } from '../verdict/state'
import type { FollowUp, JudgeInput, LocationResult, MonitorStatus, Transition } from '../verdict/input'
import { judge } from '../verdict/judge'
import type { LoadedMonitor } from './roster'
import type { RelatedMonitors } from './related-monitors'

/** A result to judge, or a wake-up without one. */
export interface Observation {
  /** The time to judge it at (ms UTC). Stays the same when retried. */
  at: number
  location: string | null
  result: CheckResult | null
  /** The version of the state that was current then. */
  stateVersion: number
}

/** A judgment that leads to a status change or other actions. */
export interface Step {
  found: Observation
  before: MonitorStatus
  after: MonitorStatus
  transition: Transition | null
  followUps: FollowUp[]
}

/** The current state of a monitor. Times in ms UTC. */
interface CurrentState {
  state: MonitorState
  status: MonitorStatus
  statusSince: number
}

export interface Judged {
  after: CurrentState & { wakeAt: number | null }
  steps: Step[]
  /** Nothing needs to be stored. */
  quiet: boolean
}

/** Judges observations in order, starting from the current state. */
export function judged(
  monitor: LoadedMonitor,
  base: CurrentState,
  found: readonly Observation[],
  related: RelatedMonitors,
): Judged {
  let { state, status, statusSince } = base
  let wakeAt = monitor.wakeAt
  let quiet = true
  const steps: Step[] = []
  for (const one of found) {
    const judgment = judge(state, inputOf(monitor, status, one, related), one.at)
    const { transition, followUps } = judgment
    if (transition || followUps.length > 0)
      steps.push({ found: one, before: status, after: judgment.status, transition, followUps })
    if (!judgment.quiet || !hasSameStreaks(state, judgment.state)) quiet = false
    if (transition) statusSince = Math.max(statusSince, transition.since)
    ;({ state, status, wakeAt } = judgment)
  }
  return { after: { state, status, statusSince, wakeAt }, steps, quiet }
}

function inputOf(
  monitor: LoadedMonitor,
  status: MonitorStatus,
  { at, location, result }: Observation,
  related: RelatedMonitors,
): JudgeInput {
  const group = monitor.group ? related.groupOf(monitor) : undefined
  return {
    rules: {
      locations: monitor.locations,
      intervalMs: monitor.intervalSeconds * 1000,
      confirm: monitor.confirm,
      recover: monitor.recover,
      recoveryMs: monitor.recoverySeconds * 1000,
      quorum: monitor.quorum,
      dependencyGraceMs: monitor.dependencyGraceSeconds * 1000,
    },
    status,
    results: result && location !== null ? [locationResult(location, result)] : [],
    impaired: related.impaired,
    maintenance: related.windowOf(monitor, at),
    parents: related.parentsOf(monitor, group),
    ...(group && { group }),
  }
}

const locationResult = (location: string, { at, status, error, conditions }: CheckResult): LocationResult => ({
  location,
  at,
  status,
  error,
  isCertain: status === 'degraded' && conditions.some(one => expiry.test(one.condition)),
})

// On either side of the comparison.
const expiry = /^\s*(?:not\s+)?\[(?:CERTIFICATE|DOMAIN)_EXPIRATION\]|(?:[<>=]=?|!=)\s*\[(?:CERTIFICATE|DOMAIN)_EXPIRATION\]\s*$/i

/** Whether all streaks are unchanged. A changed streak is stored, so that confirmation continues after a restart. */
const hasSameStreaks = ({ locations: before }: MonitorState, { locations: after }: MonitorState): boolean =>
  Object.entries(after).every(
    ([name, { streak, degradedStreak }]) =>
      streak === (before[name]?.streak ?? 0) && degradedStreak === (before[name]?.degradedStreak ?? 0),
  )
