import type { CheckResult } from '../../../checks/check'
import type { MonitorState } from '../state'
import type { Follow, JudgeInput, MonitorStatus, Transition } from '../verdict/input'
import { judge } from '../verdict/judge'
import type { Kept } from './roster'
import type { Surroundings } from './surroundings'

/** Something to judge by: a result, or that it is time to look again. */
export interface Found {
  /** When it is judged (ms UTC): the same however often that is tried. */
  at: number
  location: string | null
  result: CheckResult | null
  /** The version of the state that was known then. */
  upon: number
}

/** One judgement after which something is to be told. */
export interface Step {
  found: Found
  before: MonitorStatus
  after: MonitorStatus
  transition: Transition | null
  follows: Follow[]
}

/** How a monitor stands. Times in ms UTC. */
export interface Standing {
  state: MonitorState
  status: MonitorStatus
  statusSince: number
}

export interface Judged {
  after: Standing & { wakeAt: number | null }
  steps: Step[]
  /** Nothing of it needs to survive a restart. */
  quiet: boolean
}

/** Judges what was found, one after the other, upon how the monitor stands. */
export function judged(kept: Kept, base: Standing, found: readonly Found[], around: Surroundings): Judged {
  let { state, status, statusSince } = base
  let wakeAt = kept.wakeAt
  let quiet = true
  const steps: Step[] = []
  for (const one of found) {
    const said = judge(state, inputOf(kept, status, one, around), one.at)
    const { transition, follows } = said
    if (transition || follows.length > 0) steps.push({ found: one, before: status, after: said.status, transition, follows })
    if (!said.quiet || !doubtsAlike(state, said.state)) quiet = false
    if (transition) statusSince = Math.max(statusSince, transition.since)
    ;({ state, status, wakeAt } = said)
  }
  return { after: { state, status, statusSince, wakeAt }, steps, quiet }
}

function inputOf(kept: Kept, status: MonitorStatus, { at, location, result }: Found, around: Surroundings): JudgeInput {
  const group = kept.group ? around.groupOf(kept) : undefined
  return {
    rules: {
      locations: kept.locations,
      intervalMs: kept.intervalSeconds * 1000,
      confirm: kept.confirm,
      recover: kept.recover,
      recoveryMs: kept.recoverySeconds * 1000,
      quorum: kept.quorum,
      dependencyGraceMs: kept.dependencyGraceSeconds * 1000,
    },
    status,
    results: result && location !== null ? [{ location, at: result.at, status: result.status, error: result.error }] : [],
    impaired: around.impaired,
    maintenance: around.windowOf(kept, at),
    parents: around.parentsOf(kept, group),
    ...(group && { group }),
  }
}

/** Whether as many results speak against what each location found before: after a restart that is gone on with. */
const doubtsAlike = ({ locations: before }: MonitorState, { locations: after }: MonitorState): boolean =>
  Object.entries(after).every(
    ([name, { streak, degradedStreak }]) =>
      streak === (before[name]?.streak ?? 0) && degradedStreak === (before[name]?.degradedStreak ?? 0),
  )
