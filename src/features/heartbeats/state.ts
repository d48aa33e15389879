import { downAfter, downFrom, type Schedule } from './schedule'

/** What a ping says. `log` and `ign` (a ping the heartbeat was told not to count) are kept but change nothing. */
export type PingKind = 'success' | 'start' | 'fail' | 'log' | 'ign'

/** The statuses that are stored; `grace` is `up` between `expectedAt` and `downAt`. */
export type StoredStatus = 'new' | 'up' | 'down' | 'paused'
export type HeartbeatStatus = StoredStatus | 'grace'

export type FlipReason = 'created' | 'ping' | 'fail' | 'late' | 'start_timeout' | 'paused' | 'resumed'

/** A run that has started and not finished. */
export interface OpenRun {
  rid: string | null
  /** When it started, in ms since the epoch. */
  at: number
  /** The heartbeat went down, or was down already, when its time was up: it does not decide about downAt any more. */
  overdue?: boolean
}

/** All times in ms since the epoch. */
export interface HeartbeatState {
  status: StoredStatus
  lastPingAt: number | null
  /** How long the last finished run took; null when unknown or over 72 h. */
  lastDurationMs: number | null
  /** In the order in which they started, at most MAX_OPEN_RUNS. */
  openRuns: OpenRun[]
  /** When the next ping is expected; null while down or paused, and while new without a limit for the first ping. */
  expectedAt: number | null
  /** When the heartbeat is down unless a ping comes first; null when nothing is waited for. */
  downAt: number | null
}

export interface Flip {
  at: number
  from: StoredStatus | null
  to: StoredStatus
  reason: FlipReason
}

export interface Ping {
  kind: PingKind
  at: number
  /** The run's id, lower case; null when the client sent none. */
  rid: string | null
  /** 0 makes a `success` or `fail` a success, everything else a failure; null when the client sent none. */
  exitStatus: number | null
}

export interface Outcome {
  state: HeartbeatState
  flip: Flip | null
}

export const MAX_OPEN_RUNS = 20
/** Healthchecks shows no duration from here on: such a "run" is a start whose end was lost. */
export const MAX_DURATION_MS = 72 * 3_600_000

/** A heartbeat that was never pinged. It goes down by itself only if the first ping has a limit. */
export function createState(createdAt: number, firstPingWithinSeconds: number | null): Outcome {
  const firstPingBy = firstPingWithinSeconds === null ? null : createdAt + firstPingWithinSeconds * 1000
  return {
    state: { status: 'new', lastPingAt: null, lastDurationMs: null, openRuns: [], expectedAt: firstPingBy, downAt: firstPingBy },
    flip: { at: createdAt, from: null, to: 'new', reason: 'created' },
  }
}

/**
 * What a ping makes of a heartbeat, by the rules of Healthchecks (hc/api/models.py, Check.ping), except that runs are
 * watched each by its rid where Healthchecks knows only the newest. `durationMs` is that of the run this ping
 * finished, null when it finished none, or one of over 72 h.
 */
export function applyPing(
  state: HeartbeatState,
  schedule: Schedule,
  ping: Ping,
  { manualResume }: { manualResume: boolean },
): Outcome & { durationMs: number | null } {
  const kind = effectiveKind(ping)
  const ignored = state.status === 'paused' && manualResume
  if (ignored || kind === 'log' || kind === 'ign') return { state, flip: null, durationMs: null }
  // What ran out of time while the heartbeat was down was part of that outage, and must not begin the next one.
  const runs = state.status === 'down' ? writeOff(state.openRuns, ping.at - schedule.grace_seconds * 1000) : state.openRuns

  if (kind === 'start') {
    const openRuns = opened(runs, { rid: ping.rid, at: ping.at })
    // The expected time is kept, not counted anew: it may have been put off for an outage of ours.
    return { state: { ...state, openRuns, downAt: downAtOf(state, schedule, openRuns) }, flip: null, durationMs: null }
  }

  const run = runs.find(({ rid }) => rid === ping.rid)
  const durationMs = run === undefined ? null : durationOf(ping.at - run.at)
  const openRuns = closed(runs, ping.rid, kind)
  // Two hubs' clocks may differ a little: the last ping never moves back.
  const lastPingAt = Math.max(state.lastPingAt ?? ping.at, ping.at)
  const due = kind === 'fail' ? NOTHING_DUE : downAfter(schedule, { lastPingAt, startedAt: earliestStart(openRuns) })
  const to = kind === 'fail' ? 'down' : 'up'
  const flip = flipTo(state, to, ping.at, kind === 'fail' ? 'fail' : 'ping')
  return { state: { status: to, lastPingAt, lastDurationMs: durationMs, openRuns, ...due }, flip, durationMs }
}

/** The status to show: from `expectedAt` on a heartbeat is in its grace time, from `downAt` on it is down. */
export function statusAt(state: HeartbeatState, nowMs: number): HeartbeatStatus {
  if (lateAt(state, nowMs) !== null) return 'down'
  return state.status === 'up' && state.expectedAt !== null && nowMs >= state.expectedAt ? 'grace' : state.status
}

/** Whether a run is under way. */
export function isStarted(state: HeartbeatState): boolean {
  return state.openRuns.length > 0
}

/** Since when the heartbeat is due to be marked late: `downAt` once that has come, else null. */
export function lateAt(state: HeartbeatState, nowMs: number): number | null {
  return state.downAt !== null && nowMs >= state.downAt ? state.downAt : null
}

/**
 * The heartbeat goes down at its `downAt`, for a ping that did not come (`late`) or for the earliest run that did not
 * finish (`start_timeout`). For a heartbeat whose lateAt is not null; one without a `downAt` is left as it is.
 */
export function markLate(state: HeartbeatState): Outcome {
  if (state.downAt === null) return { state, flip: null }
  const started = earliestStart(state.openRuns)
  const byRun =
    started !== null && (state.status === 'new' ? state.downAt !== state.expectedAt : started < (state.expectedAt ?? Infinity))
  return {
    state: { ...state, status: 'down', openRuns: byRun ? writeOff(state.openRuns, started) : state.openRuns, ...NOTHING_DUE },
    flip: flipTo(state, 'down', state.downAt, byRun ? 'start_timeout' : 'late'),
  }
}

/** Stops the watch. Runs under way are forgotten, as in Healthchecks. */
export function pause(state: HeartbeatState, at: number): Outcome {
  return { state: { ...state, status: 'paused', openRuns: [], ...NOTHING_DUE }, flip: flipTo(state, 'paused', at, 'paused') }
}

/** A paused heartbeat waits for its next ping as a new one without limit, as in Healthchecks. Others are left as they are. */
export function resume(state: HeartbeatState, at: number): Outcome {
  if (state.status !== 'paused') return { state, flip: null }
  return {
    state: { ...state, status: 'new', openRuns: [], ...NOTHING_DUE },
    flip: flipTo(state, 'new', at, 'resumed'),
  }
}

/** The state under an edited schedule. What is down stays down until a ping. */
export function reschedule(state: HeartbeatState, schedule: Schedule): HeartbeatState {
  if (state.status === 'up') {
    return { ...state, ...downAfter(schedule, { lastPingAt: state.lastPingAt, startedAt: earliestStart(state.openRuns) }) }
  }
  return { ...state, downAt: downAtOf(state, schedule, state.openRuns) }
}

const NOTHING_DUE = { expectedAt: null, downAt: null }

function effectiveKind({ kind, exitStatus }: Ping): PingKind {
  if (exitStatus === null || (kind !== 'success' && kind !== 'fail')) return kind
  return exitStatus === 0 ? 'success' : 'fail'
}

function flipTo(state: HeartbeatState, to: StoredStatus, at: number, reason: FlipReason): Flip | null {
  return state.status === to ? null : { at, from: state.status, to, reason }
}

function downAtOf(state: HeartbeatState, schedule: Schedule, openRuns: OpenRun[]): number | null {
  if (state.status === 'down') return null
  if (state.status === 'new') {
    // The limit of the first ping is the whole of it: no grace time is added.
    const byRun = downFrom(schedule, null, earliestStart(openRuns))
    return byRun === null ? state.expectedAt : Math.min(byRun, state.expectedAt ?? Infinity)
  }
  return downFrom(schedule, state.expectedAt, earliestStart(openRuns))
}

function earliestStart(runs: OpenRun[]): number | null {
  return runs.reduce<number | null>((least, { at, overdue }) => (overdue || (least !== null && least <= at) ? least : at), null)
}

function writeOff(runs: OpenRun[], startedUntil: number): OpenRun[] {
  return runs.map(run => (run.at <= startedUntil ? { ...run, overdue: true } : run))
}

/** A second start of the same run begins it anew; starts without a rid are all the same run. */
function opened(runs: OpenRun[], run: OpenRun): OpenRun[] {
  const others = runs.filter(({ rid }) => rid !== run.rid)
  if (others.length < MAX_OPEN_RUNS) return [...others, run]
  // The earliest run that is still watched decides about downAt: dropping it would put off the alarm for ever.
  const dropped = others.findIndex(({ overdue }) => overdue)
  return [...others.toSpliced(dropped < 0 ? 1 : dropped, 1), run]
}

/**
 * Healthchecks' rule: a run ends by a ping of its rid, by a success without rid, and by any failure. With several
 * runs open, a failure that names one of them ends that one alone.
 */
function closed(runs: OpenRun[], rid: string | null, kind: 'success' | 'fail'): OpenRun[] {
  const rest = runs.filter(run => run.rid !== rid)
  if (rid === null) return []
  return kind === 'fail' && rest.length === runs.length ? [] : rest
}

function durationOf(span: number): number | null {
  return span >= 0 && span < MAX_DURATION_MS ? span : null
}
