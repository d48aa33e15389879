import type { LocationState, MonitorState, OutageState } from './state'
import type { FollowUp, JudgeInput, Parent } from './input'
import type { Count } from './votes'

/** The input for updating an outage. `state` is up to date, except for `outage` and `suppressed`. */
interface Scene {
  state: MonitorState
  input: JudgeInput
  count: Count
  reason: string
  /** ms UTC */
  at: number
}

/** The updated outage, and whether notifications are suppressed. */
interface OutageStep {
  outage: MonitorState['outage']
  suppressed: MonitorState['suppressed']
  followUps: FollowUp[]
  wakeAt: number | null
}

const nothing: Omit<OutageStep, 'outage'> = { suppressed: null, followUps: [], wakeAt: null }

/** Starts, updates, reports, and ends the outage of a monitor. Works from the current state, not from changes, and reports nothing twice. */
export function stepOutage(scene: Scene): OutageStep {
  const { state, at } = scene
  const { verdict } = state
  if (verdict === 'up') return stepUp(scene)
  // Unknown whether it continues: keep the outage as it is and report nothing.
  if (verdict !== 'down' && verdict !== 'degraded') return { ...nothing, outage: state.outage, suppressed: state.suppressed }
  const outage = continuedOutage(scene, verdict)
  if (outage.notified === verdict) return { ...nothing, outage }
  const suppression = suppressionOf(scene, outage)
  if (outage.notified === 'down') {
    const wakeAt = suppression ? suppression.wakeAt : recoveryWait(scene)
    if (suppression || wakeAt !== null) return { ...nothing, outage, wakeAt }
    return { ...nothing, outage: { ...outage, notified: verdict }, followUps: [improvementOf(scene, outage)] }
  }
  if (suppression) {
    const isUnchanged =
      suppression.followUps.length === 0 &&
      state.suppressed?.cause === suppression.cause &&
      state.suppressed.by === suppression.by
    const { cause, by, followUps, wakeAt } = suppression
    return {
      outage: suppression.outage ?? outage,
      suppressed: { since: isUnchanged ? state.suppressed!.since : at, cause, by },
      followUps,
      wakeAt,
    }
  }
  const wakeAt = verdict === 'degraded' ? degradedWait(scene) : null
  if (wakeAt !== null) return { ...nothing, outage, wakeAt }
  const followUp: FollowUp = {
    kind: verdict === 'down' ? 'alert' : 'degraded',
    reason: scene.reason,
    startedAt: startOf(outage),
    confirmedAt: outage.confirmedAt,
    locations: verdict === 'down' ? scene.count.downs : scene.count.worse,
  }
  return { ...nothing, outage: { ...outage, notified: verdict, affectedBy: null, recheckSince: null }, followUps: [followUp] }
}

/** The recovery from an outage, if the outage was reported. */
export function recovered(outage: OutageState, resolution: 'recovered' | 'paused', reason: string): FollowUp[] {
  return outage.notified ? [{ kind: 'recovered', resolution, notified: outage.notified, reason, startedAt: startOf(outage) }] : []
}

/** Some locations or members may recover before others: wait an interval before reporting an improvement to degraded. */
function recoveryWait({ state, input, count, at }: Scene): number | null {
  const until = state.verdictSince + input.rules.intervalMs
  return (input.group || count.downs.length > 0) && until > at && state.verdictSince <= at ? until : null
}

/** Members of a group are checked one after another: wait an interval before reporting it as degraded, it may yet go down or recover. */
function degradedWait({ state, input, at }: Scene): number | null {
  const until = state.verdictSince + input.rules.intervalMs
  return input.group && until > at && state.verdictSince <= at ? until : null
}

const improvementOf = ({ reason, count, at }: Scene, outage: OutageState): FollowUp => ({
  kind: 'improved',
  reason,
  startedAt: startOf(outage),
  at,
  locations: count.worse,
})

const startOf = ({ since, downSince }: OutageState): number => downSince ?? since

function stepUp({ state, reason }: Scene): OutageStep {
  const { outage, flapping } = state
  if (!outage) return { ...nothing, outage: null }
  if (!flapping) return { ...nothing, outage: null, followUps: recovered(outage, 'recovered', reason) }
  // While flapping it may fail again at any moment: a reported outage continues until flapping stops.
  return { ...nothing, outage: outage.notified ? outage : null }
}

function continuedOutage({ state, count, at }: Scene, verdict: 'down' | 'degraded'): OutageState {
  const found = verdict === 'down' ? count.downSince : count.worseSince
  const first = Math.min(found ?? at, at)
  const { outage } = state
  if (!outage) {
    const started = { confirmedAt: at, notified: null, affectedBy: null, recheckSince: null }
    return { ...started, since: first, downSince: verdict === 'down' ? first : null }
  }
  if (verdict !== 'down' || outage.downSince !== null) return outage
  return { ...outage, downSince: Math.max(first, outage.since), confirmedAt: at }
}

interface Suppression {
  cause: NonNullable<MonitorState['suppressed']>['cause']
  by: string | null
  outage?: OutageState
  followUps: FollowUp[]
  wakeAt: number | null
}

function suppressionOf(scene: Scene, outage: OutageState): Suppression | null {
  const { state, input, at } = scene
  const { maintenance } = state
  if (maintenance) {
    const { id, endedAt } = maintenance
    // After maintenance, allow one interval for a check to succeed.
    const until = endedAt === null ? (input.maintenance?.until ?? null) : endedAt + input.rules.intervalMs
    if (endedAt === null || until! > at) return { cause: 'maintenance', by: id, followUps: [], wakeAt: until }
  }
  return (
    dependencySuppression(scene, outage) ?? (state.flapping ? { cause: 'flapping', by: null, followUps: [], wakeAt: null } : null)
  )
}

function dependencySuppression({ state, input, reason, at }: Scene, outage: OutageState): Suppression | null {
  const parents = input.parents ?? []
  const suppression = (by: string, rest: Partial<Suppression> = {}): Suppression => ({
    cause: 'dependency',
    by,
    followUps: [],
    wakeAt: null,
    ...rest,
  })
  const down =
    parents.find(({ id, state: { verdict } }) => verdict === 'down' && id === outage.affectedBy) ?? parents.find(isDown)
  if (down) {
    const followUps: FollowUp[] =
      outage.affectedBy === down.id ? [] : [{ kind: 'affected', by: down.id, reason, startedAt: startOf(outage) }]
    return suppression(down.id, { outage: { ...outage, affectedBy: down.id, recheckSince: null }, followUps })
  }
  if (outage.affectedBy !== null) {
    if (outage.recheckSince === null)
      return suppression(outage.affectedBy, {
        outage: { ...outage, recheckSince: at },
        followUps: [{ kind: 'recheck' }],
        wakeAt: at + input.rules.intervalMs,
      })
    const { recheckSince } = outage
    if (input.group?.excusedBy) return suppression(outage.affectedBy)
    const looked = input.group
      ? at >= recheckSince + input.rules.intervalMs
      : Object.values(state.locations).some(one => isBad(one) && isWithin(one.lastResultAt, recheckSince, at))
    return looked ? null : suppression(outage.affectedBy, { wakeAt: recheckSince + input.rules.intervalMs })
  }
  if (input.group?.excusedBy) return suppression(input.group.excusedBy)
  if (at < outage.confirmedAt) return null
  const open = parents.flatMap(parent => {
    const until = waitsUntil(parent, outage.confirmedAt, input.rules.dependencyGraceMs, at)
    return until > at ? [{ id: parent.id, until }] : []
  })
  if (open.length === 0) return null
  const isRequested = state.suppressed?.cause === 'dependency' && state.suppressed.since >= outage.confirmedAt
  const followUps: FollowUp[] = isRequested ? [] : [{ kind: 'check_parents', parents: open.map(({ id }) => id) }]
  return suppression(open[0]!.id, { followUps, wakeAt: Math.min(...open.map(one => one.until)) })
}

/** A server is confirmed as down within this time after its agent counts as silent (ms). */
const serverConfirmMs = 60_000
/** An agent that reports less often is not waited for any longer (ms). */
const maxAgentWaitMs = 300_000

/**
 * Until when an alert waits because a dependency may be the cause; in the past if it doesn't. A server whose agent has not been heard
 * since the outage counts as up until it is silent for minutes, and one that announced a restart is not down yet.
 */
function waitsUntil(parent: Parent, since: number, graceMs: number, at: number): number {
  const { agent } = parent
  if (agent && graceMs > 0 && (agent.state !== 'reporting' || agent.heardAt < since)) {
    const known = agent.silentAt + serverConfirmMs
    const until = agent.state === 'reporting' ? Math.min(known, since + maxAgentWaitMs) : known
    if (until > at) return until
  }
  return isUndecided(parent, since) ? since + graceMs : at
}

/** Whether the last result was a failure: a success starts a streak against `down`. */
const isBad = ({ settled, streak }: LocationState): boolean => (settled === 'down' ? streak === 0 : streak > 0)

const isWithin = (time: number | null, after: number, until: number): boolean => time !== null && time > after && time <= until

const isDown = ({ state }: Parent): boolean => state.verdict === 'down'

/** Whether it was up, but has not been confirmed as up since. A dependency that nothing checks is not waited for. */
function isUndecided({ state }: Parent, since: number): boolean {
  if (state.verdict !== 'up' && state.verdict !== 'degraded') return false
  const locations = Object.values(state.locations)
  const isWell = locations.some(({ lastResultAt }) => (lastResultAt ?? 0) >= since)
  return !isWell || locations.some(({ settled, streak }) => settled !== 'down' && streak > 0)
}
