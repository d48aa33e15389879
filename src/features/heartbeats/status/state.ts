import { downAfter, downFrom, type Schedule } from '../schedule/schedule'

/** What a ping reports. `log` and `ign` (an ignored HTTP method) are recorded but change nothing. */
export type PingKind = 'success' | 'start' | 'fail' | 'log' | 'ign'

/** The stored statuses. `grace` is stored as `up`, between `expectedAt` and `downAt`. */
type StoredStatus = 'new' | 'up' | 'down' | 'paused'
export type HeartbeatStatus = StoredStatus | 'grace'

type FlipReason = 'created' | 'ping' | 'fail' | 'late' | 'start_timeout' | 'paused' | 'resumed'

/** An unfinished run. */
export interface OpenRun {
  rid: string | null
  /** Start, in ms since the epoch. */
  at: number
  /** Timed out when the heartbeat went down, or while it was down. No longer affects downAt. */
  overdue?: boolean
}

/** All times in ms since the epoch. */
export interface HeartbeatState {
  status: StoredStatus
  lastPingAt: number | null
  /** Duration of the last finished run. Null: unknown, or 72 h or longer. */
  lastDurationMs: number | null
  /** In order of their start, at most MAX_OPEN_RUNS. */
  openRuns: OpenRun[]
  /** When the next ping is expected. Null while down or paused, and while new without a limit for the first ping. */
  expectedAt: number | null
  /** When the heartbeat goes down unless it is pinged first. Null: nothing is expected. */
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
  /** ID of the run in lowercase, or null if the client sent none. */
  rid: string | null
  /** Overrides `kind` for `success` and `fail`: 0 is a success, everything else a failure. Null if the client sent none. */
  exitStatus: number | null
}

export interface Outcome {
  state: HeartbeatState
  flip: Flip | null
}

export const MAX_OPEN_RUNS = 20
/** Like Healthchecks, reports no duration from this length on: the end of the run was most likely lost. */
export const MAX_DURATION_MS = 72 * 3_600_000

/** The state of a new heartbeat. It goes down on its own only if there is a limit for the first ping. */
export function createState(createdAt: number, firstPingWithinSeconds: number | null): Outcome {
  const firstPingBy = firstPingWithinSeconds === null ? null : createdAt + firstPingWithinSeconds * 1000
  return {
    state: { status: 'new', lastPingAt: null, lastDurationMs: null, openRuns: [], expectedAt: firstPingBy, downAt: firstPingBy },
    flip: { at: createdAt, from: null, to: 'new', reason: 'created' },
  }
}

/**
 * Applies a ping by the rules of Healthchecks (hc/api/models.py, Check.ping), except that every run is tracked by its rid, while
 * Healthchecks tracks only the newest. `durationMs` is the duration of the run that the ping finished. Null: none, or 72 h or longer.
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
  // Runs that timed out during an outage belong to it and must not cause the next one.
  const runs = state.status === 'down' ? markOverdue(state.openRuns, ping.at - schedule.grace_seconds * 1000) : state.openRuns

  if (kind === 'start') {
    const openRuns = startRun(runs, { rid: ping.rid, at: ping.at })
    // Keep the expected time: it may have been postponed because of an outage of the hub.
    return { state: { ...state, openRuns, downAt: downAtOf(state, schedule, openRuns) }, flip: null, durationMs: null }
  }

  const run = runs.find(({ rid }) => rid === ping.rid)
  const durationMs = run === undefined ? null : durationOf(ping.at - run.at)
  const openRuns = endRun(runs, ping.rid, kind)
  // The clocks of two hubs may differ slightly, so never move the last ping back.
  const lastPingAt = Math.max(state.lastPingAt ?? ping.at, ping.at)
  const due = kind === 'fail' ? NOTHING_DUE : downAfter(schedule, { lastPingAt, startedAt: earliestStart(openRuns) })
  const to = kind === 'fail' ? 'down' : 'up'
  const flip = flipTo(state, to, ping.at, kind === 'fail' ? 'fail' : 'ping')
  return { state: { status: to, lastPingAt, lastDurationMs: durationMs, openRuns, ...due }, flip, durationMs }
}

/** Returns the status at a time: `grace` from `expectedAt` on, `down` from `downAt` on. */
export function statusAt(state: HeartbeatState, nowMs: number): HeartbeatStatus {
  if (lateAt(state, nowMs) !== null) return 'down'
  return state.status === 'up' && state.expectedAt !== null && nowMs >= state.expectedAt ? 'grace' : state.status
}

/** Whether a run is in progress. */
export function isStarted(state: HeartbeatState): boolean {
  return state.openRuns.length > 0
}

/** Returns `downAt` if that time has passed, else null. */
export function lateAt(state: HeartbeatState, nowMs: number): number | null {
  return state.downAt !== null && nowMs >= state.downAt ? state.downAt : null
}

/**
 * Marks the heartbeat as down at its `downAt`, because of a missed ping (`late`) or the earliest unfinished run (`start_timeout`). Call
 * it only if lateAt is not null. Does nothing without a `downAt`.
 */
export function markLate(state: HeartbeatState): Outcome {
  if (state.downAt === null) return { state, flip: null }
  const started = earliestStart(state.openRuns)
  const byRun =
    started !== null && (state.status === 'new' ? state.downAt !== state.expectedAt : started < (state.expectedAt ?? Infinity))
  return {
    state: { ...state, status: 'down', openRuns: byRun ? markOverdue(state.openRuns, started) : state.openRuns, ...NOTHING_DUE },
    flip: flipTo(state, 'down', state.downAt, byRun ? 'start_timeout' : 'late'),
  }
}

/** Pauses the heartbeat and forgets its open runs, like Healthchecks. */
export function pause(state: HeartbeatState, at: number): Outcome {
  return { state: { ...state, status: 'paused', openRuns: [], ...NOTHING_DUE }, flip: flipTo(state, 'paused', at, 'paused') }
}

/** Resumes a paused heartbeat as new, without a limit for the next ping, like Healthchecks. Does nothing if it is not paused. */
export function resume(state: HeartbeatState, at: number): Outcome {
  if (state.status !== 'paused') return { state, flip: null }
  return {
    state: { ...state, status: 'new', openRuns: [], ...NOTHING_DUE },
    flip: flipTo(state, 'new', at, 'resumed'),
  }
}

/** Applies a changed schedule. A heartbeat that is down stays down until a ping. */
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
    // No grace period is added to the limit for the first ping.
    const byRun = downFrom(schedule, null, earliestStart(openRuns))
    return byRun === null ? state.expectedAt : Math.min(byRun, state.expectedAt ?? Infinity)
  }
  return downFrom(schedule, state.expectedAt, earliestStart(openRuns))
}

function earliestStart(runs: OpenRun[]): number | null {
  return runs.reduce<number | null>((min, { at, overdue }) => (overdue || (min !== null && min <= at) ? min : at), null)
}

function markOverdue(runs: OpenRun[], startedUntil: number): OpenRun[] {
  return runs.map(run => (run.at <= startedUntil ? { ...run, overdue: true } : run))
}

/** A second start of the same run restarts it. Starts without a rid belong to the same run. */
function startRun(runs: OpenRun[], run: OpenRun): OpenRun[] {
  const others = runs.filter(({ rid }) => rid !== run.rid)
  if (others.length < MAX_OPEN_RUNS) return [...others, run]
  // Keep the earliest run that is not overdue: it determines downAt, and dropping it could postpone the alert forever.
  const dropped = others.findIndex(({ overdue }) => overdue)
  return [...others.toSpliced(dropped < 0 ? 1 : dropped, 1), run]
}

/**
 * Like in Healthchecks, a run ends by a ping with its rid, a success without a rid, or any failure. With several open runs, a failure
 * with the rid of one of them ends only that run.
 */
function endRun(runs: OpenRun[], rid: string | null, kind: 'success' | 'fail'): OpenRun[] {
  const rest = runs.filter(run => run.rid !== rid)
  if (rid === null) return []
  return kind === 'fail' && rest.length === runs.length ? [] : rest
}

function durationOf(span: number): number | null {
  return span >= 0 && span < MAX_DURATION_MS ? span : null
}
