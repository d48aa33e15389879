import { isDeepStrictEqual } from 'node:util'
import type { LocationState, MonitorState, Verdict } from '../state'
import { flappingScore, isFlapping, remembered } from './flapping'
import type { Follow, Judged, JudgeInput, MonitorStatus, Transition } from './input'
import { freshUntil, takeResults } from './locations'
import { recovered, stepOutage } from './outage'
import { reasonOf } from './reasons'
import { countVotes, type Count } from './votes'

export type { Follow, Judged, JudgeInput, LocationResult, Parent, Rules, Transition } from './input'

/**
 * Judges a monitor: by what its locations say, how long and how many, what it depends on, and what is being maintained. Pure, and the
 * same for the same input; a judgement without results at the same time changes nothing more.
 * @param at ms UTC
 */
export function judge(before: MonitorState, input: JudgeInput, at: number): Judged {
  if (input.paused) return judgePaused(before, input, at)
  const { rules, maintenance = null } = input
  const locations = takeResults(before, rules, input.results, at)
  const count = countVotes(locations, input, at)
  const { verdict, recoveringSince } = nextVerdict(before, input, count, at)
  // Members of a group fail one by one: that is one change.
  const recent = maintenance ? before.recent : remembered(before.recent, verdict, at, input.group ? rules.intervalMs : 0)
  const changed: MonitorState = {
    ...before,
    verdict,
    verdictSince: verdict === before.verdict ? before.verdictSince : at,
    locations,
    recoveringSince,
    ...flappingOf(before, recent, input, at),
    maintenance: nextMaintenance(before, input, at),
  }
  const reason = reasonOf(verdict, locations, count, input)
  const { outage, held, follows, wakeAt } = stepOutage({ state: changed, input, count, reason, at })
  // What goes up and down with what it depends on does not flap by itself.
  const isExcused = held?.because === 'dependency'
  const state: MonitorState = { ...changed, ...(isExcused && flappingOf(before, before.recent, input, at)), outage, held }
  const status: MonitorStatus = maintenance ? 'maintenance' : verdict
  const since =
    // Time of maintenance stays that, whatever is found out about it afterwards.
    verdict === before.verdict || input.status === 'maintenance' || status === 'maintenance'
      ? at
      : ((verdict === 'down' ? count.downSince : verdict === 'degraded' ? count.worseSince : null) ?? at)
  const transition = transitionOf(before, input, status, since, maintenance ? `Maintenance: ${maintenance.name}.` : reason, at)
  const all = [
    ...askOthers(before, state, count, rules.locations),
    ...flappingNews(before, state, flappingScore(state.recent, rules.intervalMs, at)),
    ...follows,
  ]
  return {
    state,
    status,
    transition,
    follows: all,
    wakeAt: soonest([wakeAt, maintenance?.until ?? null, ...wakes(state, input, at)], at),
    quiet: transition === null && all.length === 0 && isQuiet(before, state),
  }
}

/**
 * The state of a monitor whose configuration is another by now: what it is stands until the first result under the new one, and one
 * good result is enough.
 * @param at ms UTC
 */
export function afterEdit(state: MonitorState, locations: readonly string[], at: number): MonitorState {
  const asked: LocationState = {
    settled: 'new',
    streak: 0,
    streakSince: null,
    since: at,
    degraded: false,
    degradedStreak: 0,
    degradedSince: null,
    lastResultAt: at,
    lastError: null,
  }
  return { ...state, recoveringSince: null, locations: Object.fromEntries(locations.map(name => [name, asked])) }
}

function judgePaused(before: MonitorState, input: JudgeInput, at: number): Judged {
  const verdict = before.verdict === 'new' ? 'new' : 'unknown'
  const state: MonitorState = {
    ...before,
    verdict,
    verdictSince: verdict === before.verdict ? before.verdictSince : at,
    locations: {},
    recoveringSince: null,
    outage: null,
    recent: [],
    flapping: false,
    maintenance: null,
    held: null,
  }
  const follows = [
    ...flappingNews(before, state, 0),
    ...(before.outage ? recovered(before.outage, 'paused', 'It is not checked while it is paused.') : []),
  ]
  const transition = transitionOf(before, input, 'paused', at, 'Paused.', at)
  return {
    state,
    status: 'paused',
    transition,
    follows,
    wakeAt: null,
    quiet: transition === null && follows.length === 0 && isQuiet(before, state),
  }
}

function nextVerdict(
  before: MonitorState,
  { rules, group }: JudgeInput,
  count: Count,
  at: number,
): Pick<MonitorState, 'verdict' | 'recoveringSince'> {
  const isDown = group ? group.verdict === 'down' : count.isDown
  if (isDown) return { verdict: 'down', recoveringSince: null }
  const otherwise: Verdict | null = group ? group.verdict : count.otherwise
  const hasSay = group ? group.verdict !== 'unknown' && group.verdict !== 'new' : count.voters.length > 0
  if (before.verdict === 'down' && hasSay) {
    // Of a clock that was put back no dwell is the longer.
    const recoveringSince = Math.min(before.recoveringSince ?? at, at)
    if (at - recoveringSince < rules.recoveryMs) return { verdict: 'down', recoveringSince }
    return { verdict: otherwise ?? 'degraded', recoveringSince: null }
  }
  // Nothing was ever found of a new one.
  if (before.verdict === 'new' && otherwise === 'unknown') return { verdict: 'new', recoveringSince: null }
  return { verdict: otherwise ?? before.verdict, recoveringSince: null }
}

function flappingOf(
  before: MonitorState,
  recent: MonitorState['recent'],
  { rules, maintenance }: JudgeInput,
  at: number,
): Pick<MonitorState, 'recent' | 'flapping'> {
  // What is worked on may go up and down.
  if (maintenance) return { recent, flapping: before.flapping }
  return { recent, flapping: isFlapping(before.flapping, flappingScore(recent, rules.intervalMs, at)) }
}

function nextMaintenance(before: MonitorState, { maintenance, rules }: JudgeInput, at: number): MonitorState['maintenance'] {
  if (maintenance) return { id: maintenance.id, endedAt: null }
  if (!before.maintenance) return null
  const endedAt = Math.min(before.maintenance.endedAt ?? at, at)
  return endedAt + rules.intervalMs > at ? { id: before.maintenance.id, endedAt } : null
}

function transitionOf(
  before: MonitorState,
  input: JudgeInput,
  to: MonitorStatus,
  since: number,
  reason: string,
  at: number,
): Transition | null {
  if (input.status === to) return null
  return { from: input.status, to, at, since: Math.min(at, Math.max(since, before.verdictSince)), reason }
}

/** The locations that have not found it down yet are asked as soon as one more has. */
function askOthers(
  before: MonitorState,
  { verdict, locations }: MonitorState,
  { downs }: Count,
  assigned: readonly string[],
): Follow[] {
  const isNews = downs.some(name => before.locations[name]?.settled !== 'down')
  const others = assigned.filter(name => locations[name]?.settled !== 'down')
  return isNews && verdict !== 'down' && others.length > 0 ? [{ kind: 'ask', locations: others }] : []
}

function flappingNews(before: MonitorState, after: MonitorState, score: number): Follow[] {
  if (before.flapping === after.flapping) return []
  return [{ kind: after.flapping ? 'flapping_began' : 'flapping_ended', score: Math.round(score * 1000) / 1000 }]
}

function wakes(state: MonitorState, { rules }: JudgeInput, at: number): (number | null)[] {
  return [
    // A result that ceases to count does so a moment later.
    ...Object.values(state.locations).map(location => {
      const until = freshUntil(location, rules)
      return until === null ? null : until + 1
    }),
    state.recoveringSince === null ? null : state.recoveringSince + rules.recoveryMs,
    state.maintenance?.endedAt == null ? null : state.maintenance.endedAt + rules.intervalMs,
    state.flapping ? at + rules.intervalMs : null,
  ]
}

function soonest(times: (number | null)[], at: number): number | null {
  const ahead = times.filter(time => time !== null && time > at) as number[]
  return ahead.length === 0 ? null : Math.min(...ahead)
}

/** Whether only times and counts of results are others than before. */
function isQuiet({ locations: seen, ...before }: MonitorState, { locations, ...after }: MonitorState): boolean {
  const names = Object.keys(locations)
  return (
    names.length === Object.keys(seen).length &&
    names.every(name => Object.hasOwn(seen, name) && standsAlike(seen[name]!, locations[name]!)) &&
    isDeepStrictEqual(before, after)
  )
}

const standsAlike = (a: LocationState, b: LocationState): boolean =>
  a.settled === b.settled && (a.settled === 'new' || a.since === b.since) && a.degraded === b.degraded
