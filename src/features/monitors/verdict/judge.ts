import { isDeepStrictEqual } from 'node:util'
import type { LocationState, MonitorState, Verdict } from './state'
import { flappingScore, isFlapping, remembered } from './flapping'
import type { FollowUp, Judged, JudgeInput, MonitorStatus, Transition } from './input'
import { freshUntil, takeResults } from './locations'
import { recovered, stepOutage } from './outage'
import { reasonOf } from './reasons'
import { countVotes, type Count } from './votes'

/**
 * Judges a monitor by the results of its locations, its dependencies, and maintenance. Pure and deterministic. Judging again at the
 * same time without new results changes nothing.
 * @param at ms UTC
 */
export function judge(before: MonitorState, input: JudgeInput, at: number): Judged {
  if (input.paused) return judgePaused(before, input, at)
  const { rules, maintenance = null } = input
  const locations = takeResults(before, rules, input.results, at)
  const count = countVotes(locations, input, at)
  const { verdict, recoveringSince } = nextVerdict(before, input, count, at)
  // Members of a group fail one after another; that counts as one change.
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
  const { outage, suppressed, followUps, wakeAt } = stepOutage({ state: changed, input, count, reason, at })
  // A monitor that goes up and down with its dependency is not flapping.
  const isExcused = suppressed?.cause === 'dependency'
  const state: MonitorState = { ...changed, ...(isExcused && flappingOf(before, before.recent, input, at)), outage, suppressed }
  const status: MonitorStatus = maintenance ? 'maintenance' : verdict
  const since =
    // Don't backdate a status into a maintenance window.
    verdict === before.verdict || input.status === 'maintenance' || status === 'maintenance'
      ? at
      : ((verdict === 'down' ? count.downSince : verdict === 'degraded' ? count.worseSince : null) ?? at)
  const transition = transitionOf(before, input, status, since, maintenance ? `Maintenance: ${maintenance.name}.` : reason, at)
  const all = [
    ...checkOtherLocations(before, state, count, rules.locations),
    ...flappingChange(before, state, flappingScore(state.recent, rules.intervalMs, at)),
    ...followUps,
  ]
  return {
    state,
    status,
    transition,
    followUps: all,
    wakeAt: soonest([wakeAt, maintenance?.until ?? null, ...wakes(state, input, at)], at),
    quiet: transition === null && all.length === 0 && isQuiet(before, state),
  }
}

/**
 * The state of a monitor after its settings changed: it keeps its verdict until the first result with the new settings, and a single
 * good result is enough.
 * @param at ms UTC
 */
export function afterEdit(state: MonitorState, locations: readonly string[], at: number): MonitorState {
  const fresh: LocationState = {
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
  return { ...state, recoveringSince: null, locations: Object.fromEntries(locations.map(name => [name, fresh])) }
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
    suppressed: null,
  }
  const followUps = [
    ...flappingChange(before, state, 0),
    ...(before.outage ? recovered(before.outage, 'paused', 'The monitor was paused.') : []),
  ]
  const transition = transitionOf(before, input, 'paused', at, 'Paused.', at)
  return {
    state,
    status: 'paused',
    transition,
    followUps,
    wakeAt: null,
    quiet: transition === null && followUps.length === 0 && isQuiet(before, state),
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
  const otherVerdict: Verdict | null = group ? group.verdict : count.otherVerdict
  const hasSay = group ? group.verdict !== 'unknown' && group.verdict !== 'new' : count.voters.length > 0
  if (before.verdict === 'down' && hasSay) {
    // Don't wait longer if the clock was set back.
    const recoveringSince = Math.min(before.recoveringSince ?? at, at)
    if (at - recoveringSince < rules.recoveryMs) return { verdict: 'down', recoveringSince }
    return { verdict: otherVerdict ?? 'degraded', recoveringSince: null }
  }
  // A new monitor stays new until there are results.
  if (before.verdict === 'new' && otherVerdict === 'unknown') return { verdict: 'new', recoveringSince: null }
  return { verdict: otherVerdict ?? before.verdict, recoveringSince: null }
}

function flappingOf(
  before: MonitorState,
  recent: MonitorState['recent'],
  { rules, maintenance }: JudgeInput,
  at: number,
): Pick<MonitorState, 'recent' | 'flapping'> {
  // Status changes during maintenance are expected.
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

/** When another location reports it as down, requests checks from the locations that don't yet. */
function checkOtherLocations(
  before: MonitorState,
  { verdict, locations }: MonitorState,
  { downs }: Count,
  assigned: readonly string[],
): FollowUp[] {
  const isNews = downs.some(name => before.locations[name]?.settled !== 'down')
  const others = assigned.filter(name => locations[name]?.settled !== 'down')
  return isNews && verdict !== 'down' && others.length > 0 ? [{ kind: 'check_locations', locations: others }] : []
}

function flappingChange(before: MonitorState, after: MonitorState, score: number): FollowUp[] {
  if (before.flapping === after.flapping) return []
  return [{ kind: after.flapping ? 'flapping_started' : 'flapping_stopped', score: Math.round(score * 1000) / 1000 }]
}

function wakes(state: MonitorState, { rules }: JudgeInput, at: number): (number | null)[] {
  return [
    // A result still counts at `until` and expires one millisecond later.
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

/** Whether only times and counts of results changed. */
function isQuiet({ locations: seen, ...before }: MonitorState, { locations, ...after }: MonitorState): boolean {
  const names = Object.keys(locations)
  return (
    names.length === Object.keys(seen).length &&
    names.every(name => Object.hasOwn(seen, name) && hasSameOutcome(seen[name]!, locations[name]!)) &&
    isDeepStrictEqual(before, after)
  )
}

const hasSameOutcome = (a: LocationState, b: LocationState): boolean =>
  a.settled === b.settled && (a.settled === 'new' || a.since === b.since) && a.degraded === b.degraded
