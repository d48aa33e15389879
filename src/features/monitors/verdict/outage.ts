import type { LocationState, MonitorState, OutageState } from '../state'
import type { Follow, JudgeInput, Parent } from './input'
import type { Count } from './votes'

/** What is known of a monitor when its outage is looked at: `state` as it is by now, but for `outage` and `held`. */
export interface Scene {
  state: MonitorState
  input: JudgeInput
  count: Count
  reason: string
  /** ms UTC */
  at: number
}

/** What became of the outage, and whether something keeps people from being told. */
export interface OutageStep {
  outage: MonitorState['outage']
  held: MonitorState['held']
  follows: Follow[]
  wakeAt: number | null
}

const nothing: Omit<OutageStep, 'outage'> = { held: null, follows: [], wakeAt: null }

/** Begins, worsens, tells and ends the outage of a monitor. It looks at what is, not at what changed, and tells nothing twice. */
export function stepOutage(scene: Scene): OutageStep {
  const { state, at } = scene
  const { verdict } = state
  if (verdict === 'up') return stepWell(scene)
  // Whether it still lasts is not known: it stays as it is, and nobody is told of it.
  if (verdict !== 'down' && verdict !== 'degraded') return { ...nothing, outage: state.outage, held: state.held }
  const outage = wentOn(scene, verdict)
  if (outage.told === verdict) return { ...nothing, outage }
  const hold = holdOf(scene, outage)
  if (outage.told === 'down') {
    const wakeAt = hold ? hold.wakeAt : mayYetBeWell(scene)
    if (hold || wakeAt !== null) return { ...nothing, outage, wakeAt }
    return { ...nothing, outage: { ...outage, told: verdict }, follows: [easedOf(scene, outage)] }
  }
  if (hold) {
    const goesOn = hold.follows.length === 0 && state.held?.because === hold.because && state.held.by === hold.by
    const { because, by, follows, wakeAt } = hold
    return { outage: hold.outage ?? outage, held: { since: goesOn ? state.held!.since : at, because, by }, follows, wakeAt }
  }
  const wakeAt = verdict === 'degraded' ? mayYetBeWorse(scene) : null
  if (wakeAt !== null) return { ...nothing, outage, wakeAt }
  const follow: Follow = {
    kind: verdict === 'down' ? 'alert' : 'degraded',
    reason: scene.reason,
    startedAt: startOf(outage),
    confirmedAt: outage.confirmedAt,
    locations: verdict === 'down' ? scene.count.downs : scene.count.worse,
  }
  return { ...nothing, outage: { ...outage, told: verdict, affectedBy: null, recheckSince: null }, follows: [follow] }
}

/** The end of an outage: of what people were told. */
export function recovered(outage: OutageState, because: 'recovered' | 'paused', reason: string): Follow[] {
  return outage.told ? [{ kind: 'recovered', because, told: outage.told, reason, startedAt: startOf(outage) }] : []
}

/** Where some find it down still, the others may be the first of all, and so may members of a group: they have an interval. */
function mayYetBeWell({ state, input, count, at }: Scene): number | null {
  const until = state.verdictSince + input.rules.intervalMs
  return (input.group || count.downs.length > 0) && until > at && state.verdictSince <= at ? until : null
}

/** Members of a group are looked at one after the other: the first that fail may be all of it, or well again as the others are seen. */
function mayYetBeWorse({ state, input, at }: Scene): number | null {
  const until = state.verdictSince + input.rules.intervalMs
  return input.group && until > at && state.verdictSince <= at ? until : null
}

const easedOf = ({ reason, count, at }: Scene, outage: OutageState): Follow => ({
  kind: 'eased',
  reason,
  startedAt: startOf(outage),
  at,
  locations: count.worse,
})

const startOf = ({ since, downSince }: OutageState): number => downSince ?? since

function stepWell({ state, reason }: Scene): OutageStep {
  const { outage, flapping } = state
  if (!outage) return { ...nothing, outage: null }
  if (!flapping) return { ...nothing, outage: null, follows: recovered(outage, 'recovered', reason) }
  // It may fail again at any moment: what people were told of goes on until that has ended.
  return { ...nothing, outage: outage.told ? outage : null }
}

function wentOn({ state, count, at }: Scene, verdict: 'down' | 'degraded'): OutageState {
  const found = verdict === 'down' ? count.downSince : count.worseSince
  const first = Math.min(found ?? at, at)
  const { outage } = state
  if (!outage) {
    const begun = { confirmedAt: at, told: null, affectedBy: null, recheckSince: null }
    return { ...begun, since: first, downSince: verdict === 'down' ? first : null }
  }
  if (verdict !== 'down' || outage.downSince !== null) return outage
  return { ...outage, downSince: Math.max(first, outage.since), confirmedAt: at }
}

interface Hold {
  because: NonNullable<MonitorState['held']>['because']
  by: string | null
  outage?: OutageState
  follows: Follow[]
  wakeAt: number | null
}

function holdOf(scene: Scene, outage: OutageState): Hold | null {
  const { state, input, at } = scene
  const { maintenance } = state
  if (maintenance) {
    const { id, endedAt } = maintenance
    // What was being worked on has one interval to be seen well again.
    const until = endedAt === null ? (input.maintenance?.until ?? null) : endedAt + input.rules.intervalMs
    if (endedAt === null || until! > at) return { because: 'maintenance', by: id, follows: [], wakeAt: until }
  }
  return dependencyHold(scene, outage) ?? (state.flapping ? { because: 'flapping', by: null, follows: [], wakeAt: null } : null)
}

function dependencyHold({ state, input, reason, at }: Scene, outage: OutageState): Hold | null {
  const parents = input.parents ?? []
  const hold = (by: string, rest: Partial<Hold> = {}): Hold => ({ because: 'dependency', by, follows: [], wakeAt: null, ...rest })
  const down =
    parents.find(({ id, state: { verdict } }) => verdict === 'down' && id === outage.affectedBy) ?? parents.find(isDown)
  if (down) {
    const follows: Follow[] =
      outage.affectedBy === down.id ? [] : [{ kind: 'affected', by: down.id, reason, startedAt: startOf(outage) }]
    return hold(down.id, { outage: { ...outage, affectedBy: down.id, recheckSince: null }, follows })
  }
  if (outage.affectedBy !== null) {
    if (outage.recheckSince === null)
      return hold(outage.affectedBy, {
        outage: { ...outage, recheckSince: at },
        follows: [{ kind: 'recheck' }],
        wakeAt: at + input.rules.intervalMs,
      })
    const { recheckSince } = outage
    if (input.group?.excusedBy) return hold(outage.affectedBy)
    const looked = input.group
      ? at >= recheckSince + input.rules.intervalMs
      : Object.values(state.locations).some(one => isBad(one) && isWithin(one.lastResultAt, recheckSince, at))
    return looked ? null : hold(outage.affectedBy, { wakeAt: recheckSince + input.rules.intervalMs })
  }
  if (input.group?.excusedBy) return hold(input.group.excusedBy)
  const until = outage.confirmedAt + input.rules.dependencyGraceMs
  const open = parents.filter(parent => isUndecided(parent, outage.confirmedAt))
  if (open.length === 0 || until <= at || at < outage.confirmedAt) return null
  const isAsked = state.held?.because === 'dependency' && state.held.since >= outage.confirmedAt
  const follows: Follow[] = isAsked ? [] : [{ kind: 'ask_parents', parents: open.map(({ id }) => id) }]
  return hold(open[0]!.id, { follows, wakeAt: until })
}

/** Whether the last result was a bad one: a good one begins a streak against `down`. */
const isBad = ({ settled, streak }: LocationState): boolean => (settled === 'down' ? streak === 0 : streak > 0)

const isWithin = (time: number | null, after: number, until: number): boolean => time !== null && time > after && time <= until

const isDown = ({ state }: Parent): boolean => state.verdict === 'down'

/** Whether it was well, and has not been looked at since without any sign of failing. One that is watched by nobody is not waited for. */
function isUndecided({ state }: Parent, since: number): boolean {
  if (state.verdict !== 'up' && state.verdict !== 'degraded') return false
  const locations = Object.values(state.locations)
  const isWell = locations.some(({ lastResultAt }) => (lastResultAt ?? 0) >= since)
  return !isWell || locations.some(({ settled, streak }) => settled !== 'down' && streak > 0)
}
