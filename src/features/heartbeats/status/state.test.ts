import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Schedule } from '../schedule/schedule'
import {
  applyPing,
  createState,
  type Flip,
  type HeartbeatState,
  isStarted,
  lateAt,
  markLate,
  MAX_DURATION_MS,
  MAX_OPEN_RUNS,
  pause,
  type Ping,
  type PingKind,
  reschedule,
  resume,
  statusAt,
} from './state'

const PERIOD = 300_000
const GRACE = 60_000
const schedule: Schedule = { kind: 'period', period_seconds: PERIOD / 1000, grace_seconds: GRACE / 1000 }
const options = { manualResume: false }
const initial = createState(0, null).state

const ping = (kind: PingKind, at: number, rid: string | null = null, exitStatus: number | null = null): Ping => ({
  kind,
  at,
  rid,
  exitStatus,
})

/** Applies the pings in order and returns the outcome of the last one. */
function after(...pings: Ping[]) {
  let outcome = { state: initial, flip: null as Flip | null, durationMs: null as number | null }
  for (const next of pings) outcome = applyPing(outcome.state, schedule, next, options)
  return outcome
}

describe('pings', () => {
  test('the first success brings a new heartbeat up and sets the next due time', () => {
    expect(after(ping('success', 1000))).toEqual({
      state: {
        status: 'up',
        lastPingAt: 1000,
        lastDurationMs: null,
        openRuns: [],
        expectedAt: 1000 + PERIOD,
        downAt: 1000 + PERIOD + GRACE,
      },
      flip: { at: 1000, from: 'new', to: 'up', reason: 'ping' },
      durationMs: null,
    })
  })

  test('a failure takes it down with nothing due, and a second failure is no flip', () => {
    const first = after(ping('success', 0), ping('fail', 1000))
    expect(first.flip).toEqual({ at: 1000, from: 'up', to: 'down', reason: 'fail' })
    expect(first.state).toMatchObject({ status: 'down', lastPingAt: 1000, expectedAt: null, downAt: null })
    expect(after(ping('fail', 0), ping('fail', 1000)).flip).toBeNull()
  })

  test('a success recovers it', () => {
    expect(after(ping('fail', 0), ping('success', 1000)).flip).toEqual({ at: 1000, from: 'down', to: 'up', reason: 'ping' })
  })

  test('the exit status determines success or failure', () => {
    expect(after(ping('success', 0, null, 0)).state.status).toBe('up')
    expect(after(ping('success', 0, null, 1)).state.status).toBe('down')
    expect(after(ping('fail', 0, null, 255)).state.status).toBe('down')
    expect(after(ping('fail', 0, null, 0)).state.status).toBe('up')
    expect(after(ping('log', 0, null, 1)).state).toBe(initial)
  })

  test('log and ignored pings change nothing', () => {
    const up = after(ping('success', 0)).state
    for (const kind of ['log', 'ign'] as const) {
      expect(applyPing(up, schedule, ping(kind, 1000), options)).toEqual({ state: up, flip: null, durationMs: null })
    }
  })

  test('a ping with an earlier time does not move the last ping back', () => {
    const { state } = after(ping('success', 5000), ping('success', 4000))
    expect(state).toMatchObject({ lastPingAt: 5000, expectedAt: 5000 + PERIOD })
  })
})

describe('runs', () => {
  test('a start sets a time limit for the run and keeps the expected time', () => {
    const { state, flip } = after(ping('success', 0), ping('start', 1000))
    expect(flip).toBeNull()
    expect(state).toMatchObject({ status: 'up', lastPingAt: 0, expectedAt: PERIOD, downAt: 1000 + GRACE })
    expect(isStarted(state)).toBe(true)
  })

  test('a success with the same rid ends the run and returns its duration', () => {
    for (const rid of [null, 'a']) {
      const { state, durationMs } = after(ping('start', 1000, rid), ping('success', 4000, rid))
      expect(durationMs).toBe(3000)
      expect(state).toMatchObject({ lastDurationMs: 3000, openRuns: [], downAt: 4000 + PERIOD + GRACE })
    }
  })

  test('a success with another rid ends no run and has no duration', () => {
    const { state, durationMs } = after(ping('start', 1000, 'a'), ping('success', 4000, 'b'))
    expect(durationMs).toBeNull()
    expect(state.openRuns).toEqual([{ rid: 'a', at: 1000 }])
    expect(state.downAt).toBe(1000 + GRACE)
  })

  test('a success without rid ends every run, without a duration', () => {
    const { state, durationMs } = after(ping('start', 1000, 'a'), ping('start', 1500, 'b'), ping('success', 4000))
    expect(durationMs).toBeNull()
    expect(state.openRuns).toEqual([])
  })

  test('a failure ends the run with its rid, or every run if none has it', () => {
    const open = [ping('start', 1000, 'a'), ping('start', 1500, 'b')]
    const named = after(...open, ping('fail', 4000, 'b'))
    expect(named.durationMs).toBe(2500)
    expect(named.state.openRuns).toEqual([{ rid: 'a', at: 1000 }])
    expect(after(...open, ping('fail', 4000, 'c')).state.openRuns).toEqual([])
    expect(after(...open, ping('fail', 4000)).state.openRuns).toEqual([])
  })

  test('a second start restarts the run', () => {
    const { state, durationMs } = after(ping('start', 1000), ping('start', 2000), ping('success', 5000))
    expect(durationMs).toBe(3000)
    expect(state.openRuns).toEqual([])
    expect(after(ping('start', 1000, 'a'), ping('start', 2000, 'a')).state.downAt).toBe(2000 + GRACE)
  })

  test('the earliest unfinished run determines downAt', () => {
    const both = [ping('success', 0), ping('start', 1000, 'a'), ping('start', 2000, 'b')]
    expect(after(...both).state.downAt).toBe(1000 + GRACE)
    expect(after(...both, ping('success', 3000, 'a')).state.downAt).toBe(2000 + GRACE)
    expect(after(...both, ping('success', 3000, 'b')).state.downAt).toBe(1000 + GRACE)
  })

  test('runs of 72 hours or with a negative duration have no duration', () => {
    expect(after(ping('start', 0), ping('success', MAX_DURATION_MS - 1)).durationMs).toBe(MAX_DURATION_MS - 1)
    expect(after(ping('start', 0), ping('success', MAX_DURATION_MS)).durationMs).toBeNull()
    expect(after(ping('start', 1000), ping('success', 500)).durationMs).toBeNull()
  })

  test('the earliest run is kept despite any number of starts, so that it still times out', () => {
    const starts = Array.from({ length: MAX_OPEN_RUNS * 2 }, (_, n) => ping('start', 1000 + n, `run-${n}`))
    const { state } = after(...starts)
    expect(state.openRuns.length).toBe(MAX_OPEN_RUNS)
    expect(state.openRuns[0]).toEqual({ rid: 'run-0', at: 1000 })
    expect(state.openRuns.at(-1)!.rid).toBe(`run-${MAX_OPEN_RUNS * 2 - 1}`)
    expect(state.downAt).toBe(1000 + GRACE)
  })

  test('a late start does not extend the grace period of the late ping', () => {
    expect(after(ping('success', 0), ping('start', PERIOD + 1000)).state.downAt).toBe(PERIOD + GRACE)
  })

  test('a start keeps a postponed expected time', () => {
    const state = { ...after(ping('success', 0)).state, expectedAt: PERIOD * 3, downAt: PERIOD * 3 + GRACE }
    const started = applyPing(state, schedule, ping('start', PERIOD * 2), options).state
    expect(started).toMatchObject({ expectedAt: PERIOD * 3, downAt: PERIOD * 2 + GRACE })
  })
})

describe('lateness', () => {
  const up = after(ping('success', 0)).state

  test('the grace period begins at the expected time, and the heartbeat is down at its end', () => {
    expect(statusAt(up, PERIOD - 1)).toBe('up')
    expect(statusAt(up, PERIOD)).toBe('grace')
    expect(statusAt(up, PERIOD + GRACE - 1)).toBe('grace')
    expect(lateAt(up, PERIOD + GRACE - 1)).toBeNull()
    expect(statusAt(up, PERIOD + GRACE)).toBe('down')
    expect(lateAt(up, PERIOD * 9)).toBe(PERIOD + GRACE)
    expect(statusAt(initial, PERIOD * 9)).toBe('new')
  })

  test('a missed ping flips the status once, at its due time', () => {
    const { state, flip } = markLate(up)
    expect(flip).toEqual({ at: PERIOD + GRACE, from: 'up', to: 'down', reason: 'late' })
    expect(state).toMatchObject({ status: 'down', lastPingAt: 0, expectedAt: null, downAt: null })
    expect(markLate(state)).toEqual({ state, flip: null })
  })

  test('an unfinished run flips the status, and its late end recovers it with the duration', () => {
    const { state, flip } = markLate(after(ping('success', 0), ping('start', 1000)).state)
    expect(flip).toEqual({ at: 1000 + GRACE, from: 'up', to: 'down', reason: 'start_timeout' })
    const finished = applyPing(state, schedule, ping('success', 200_000), options)
    expect(finished.durationMs).toBe(199_000)
    expect(finished.flip).toMatchObject({ to: 'up', reason: 'ping' })
  })

  test('a run that never ends is reported once, even if others succeed later', () => {
    const down = markLate(after(ping('success', 0), ping('start', 1000, 'lost')).state).state
    const recovered = applyPing(down, schedule, ping('success', 100_000, 'other'), options).state
    expect(recovered).toMatchObject({ status: 'up', downAt: 100_000 + PERIOD + GRACE })
  })

  test('a run that timed out during an outage does not cause the next one', () => {
    const failed = after(ping('start', 1000, 'a'), ping('start', 2000, 'b'), ping('fail', 3000, 'b')).state
    const recovered = applyPing(failed, schedule, ping('success', 1000 + GRACE), options).state
    expect(recovered.downAt).toBe(1000 + GRACE + PERIOD + GRACE)
    const early = applyPing(failed, schedule, ping('success', 4000, 'c'), options).state
    expect(early.downAt).toBe(1000 + GRACE)
  })

  test('a new heartbeat waits forever, or until the limit for its first ping', () => {
    expect(lateAt(initial, Number.MAX_SAFE_INTEGER)).toBeNull()
    const limited = createState(1000, 600)
    expect(limited.flip).toEqual({ at: 1000, from: null, to: 'new', reason: 'created' })
    expect(markLate(limited.state).flip).toEqual({ at: 601_000, from: 'new', to: 'down', reason: 'late' })
    const started = applyPing(limited.state, schedule, ping('start', 2000), options).state
    expect(markLate(started).flip).toEqual({ at: 2000 + GRACE, from: 'new', to: 'down', reason: 'start_timeout' })
    const startedLate = applyPing(limited.state, schedule, ping('start', 600_000), options).state
    expect(markLate(startedLate).flip).toEqual({ at: 601_000, from: 'new', to: 'down', reason: 'late' })
  })
})

describe('a paused heartbeat', () => {
  const paused = pause(after(ping('success', 0), ping('start', 500)).state, 1000)

  test('expects nothing', () => {
    expect(paused.flip).toEqual({ at: 1000, from: 'up', to: 'paused', reason: 'paused' })
    expect(paused.state).toMatchObject({ status: 'paused', openRuns: [], expectedAt: null, downAt: null })
    expect(pause(paused.state, 2000).flip).toBeNull()
  })

  test('is resumed by a ping', () => {
    const flipBy = (kind: PingKind): Flip | null => applyPing(paused.state, schedule, ping(kind, 2000), options).flip
    expect(flipBy('success')).toMatchObject({ from: 'paused', to: 'up', reason: 'ping' })
    expect(flipBy('fail')).toMatchObject({ from: 'paused', to: 'down', reason: 'fail' })
  })

  test('is not resumed by a start, but that run can time out', () => {
    const { state, flip } = applyPing(paused.state, schedule, ping('start', 2000), options)
    expect(flip).toBeNull()
    expect(state).toMatchObject({ status: 'paused', downAt: 2000 + GRACE })
    expect(markLate(state).flip).toMatchObject({ from: 'paused', to: 'down', reason: 'start_timeout' })
  })

  test('ignores every ping if it must be resumed manually', () => {
    for (const kind of ['success', 'fail', 'start', 'log', 'ign'] as const) {
      expect(applyPing(paused.state, schedule, ping(kind, 2000), { manualResume: true }).state).toBe(paused.state)
    }
  })

  test('starts over as new when resumed', () => {
    const resumed = resume(paused.state, 3000)
    expect(resumed.flip).toEqual({ at: 3000, from: 'paused', to: 'new', reason: 'resumed' })
    expect(resumed.state).toMatchObject({ status: 'new', lastPingAt: 0, downAt: null })
    expect(resume(resumed.state, 4000)).toEqual({ state: resumed.state, flip: null })
  })
})

test('a changed schedule moves due times, but keeps a heartbeat down', () => {
  const longer: Schedule = { ...schedule, period_seconds: 600, grace_seconds: 120 } as Schedule
  expect(reschedule(after(ping('success', 0)).state, longer)).toMatchObject({ expectedAt: 600_000, downAt: 720_000 })
  expect(reschedule(after(ping('start', 1000)).state, longer)).toMatchObject({ status: 'new', downAt: 121_000 })
  expect(reschedule(createState(0, 50).state, longer)).toMatchObject({ expectedAt: 50_000, downAt: 50_000 })
  const down = after(ping('fail', 0)).state
  expect(reschedule(down, longer)).toEqual(down)
})

type Step = { do: 'ping'; ping: Ping; gap: number } | { do: 'wait' | 'pause' | 'resume'; gap: number }

const gap = fc.integer({ min: 0, max: PERIOD * 2 })
const anyPing = fc.record({
  kind: fc.constantFrom<PingKind>('success', 'success', 'start', 'start', 'fail', 'log', 'ign'),
  at: fc.constant(0),
  rid: fc.constantFrom(null, 'a', 'b', 'c'),
  exitStatus: fc.constantFrom(null, null, 0, 1),
})
const anySteps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ do: fc.constant('ping' as const), ping: anyPing, gap }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('wait' as const, 'pause' as const, 'resume' as const), gap }) },
  ),
  { maxLength: 60 },
)

/** Runs the steps like a hub: marks the heartbeat late before the next step, if due. */
function run(steps: Step[], check: (state: HeartbeatState, flips: Flip[], now: number) => void, manualResume = false): void {
  const created = createState(0, null)
  let state = created.state
  const flips: Flip[] = [created.flip!]
  let now = 0
  const apply = (outcome: { state: HeartbeatState; flip: Flip | null }): void => {
    state = outcome.state
    if (outcome.flip) flips.push(outcome.flip)
    check(state, flips, now)
  }
  for (const step of steps) {
    now += step.gap
    if (lateAt(state, now) !== null) apply(markLate(state))
    if (step.do === 'ping') apply(applyPing(state, schedule, { ...step.ping, at: now }, { manualResume }))
    if (step.do === 'pause') apply(pause(state, now))
    if (step.do === 'resume') apply(resume(state, now))
  }
}

test('flips always form a chain in chronological order', () => {
  fc.assert(
    fc.property(anySteps, fc.boolean(), (steps, manualResume) => {
      run(
        steps,
        (state, flips) => {
          for (let n = 1; n < flips.length; n++) {
            expect(flips[n]!.from).toBe(flips[n - 1]!.to)
            expect(flips[n]!.to).not.toBe(flips[n]!.from!)
            expect(flips[n]!.at).toBeGreaterThanOrEqual(flips[n - 1]!.at)
          }
          expect(flips.at(-1)!.to).toBe(state.status)
        },
        manualResume,
      )
    }),
  )
})

test('downAt is always in the future, and a grace period after expectedAt unless a run is open', () => {
  fc.assert(
    fc.property(anySteps, steps => {
      run(steps, (state, _flips, now) => {
        if (state.status === 'down') expect([state.expectedAt, state.downAt]).toEqual([null, null])
        if (state.status === 'up') {
          expect(state.downAt!).toBeLessThanOrEqual(state.expectedAt! + GRACE)
          if (!isStarted(state)) expect(state.downAt).toBe(state.expectedAt! + GRACE)
        }
        if (state.downAt !== null) expect(state.downAt).toBeGreaterThan(now)
        expect(state.openRuns.length).toBeLessThanOrEqual(MAX_OPEN_RUNS)
        expect(new Set(state.openRuns.map(run => run.rid)).size).toBe(state.openRuns.length)
      })
    }),
  )
})

test('statusAt and markLate agree on whether a heartbeat is down', () => {
  fc.assert(
    fc.property(anySteps, fc.integer({ min: 0, max: PERIOD * 3 }), (steps, wait) => {
      run(steps, (state, _flips, now) => {
        const later = now + wait
        const marked = lateAt(state, later) === null ? state : markLate(state).state
        expect(statusAt(state, later) === 'down').toBe(marked.status === 'down')
      })
    }),
  )
})

test('with one run at a time, status and durations match Healthchecks', () => {
  fc.assert(
    fc.property(anySteps, steps => {
      // A model of Healthchecks, which remembers a single start with its rid.
      let start: { at: number; rid: string | null } | null = null
      let status = 'new'
      let state = initial
      let now = 0
      for (const step of steps) {
        now += step.gap % 10_000
        if (step.do !== 'ping') continue
        const next = { ...step.ping, at: now }
        if (next.kind === 'start' && start !== null && start.rid !== next.rid) continue
        const failed = next.exitStatus === null ? next.kind === 'fail' : next.exitStatus !== 0
        let duration: number | null = null
        if (next.kind === 'start') start = { at: now, rid: next.rid }
        if (next.kind === 'success' || next.kind === 'fail') {
          if (start?.rid === next.rid) duration = now - start.at
          if (start?.rid === next.rid || failed || next.rid === null) start = null
          status = failed ? 'down' : 'up'
        }
        const outcome = applyPing(state, schedule, next, options)
        state = outcome.state
        expect(outcome.durationMs).toBe(duration)
        expect(state.status as string).toBe(status)
        expect(isStarted(state)).toBe(start !== null)
      }
    }),
  )
})
