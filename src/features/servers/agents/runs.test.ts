import { expect, test } from 'bun:test'
import { judgeRun, type RunVerdict } from './runs'

const now = 1_795_000_000_000
const second = 1000
const known = {
  ...{ refusedRuns: [] as string[], lastReportAt: now - 30 * second, intervalSeconds: 60, state: 'reporting' as const },
  runs: [{ id: 'first', bootId: 'boot-1', seq: 7, replacedAt: null }],
}
const report = { run_id: 'first', seq: 8, boot_id: 'boot-1', uptime_seconds: 86_400 }
type Known = Parameters<typeof judgeRun>[0]

const judged = (changed: Partial<typeof report>, of: Known = known, at = now) => judgeRun(of, { ...report, ...changed }, at, at)
const after = (verdict: RunVerdict, at: number): Known => {
  if (verdict.kind !== 'accepted') throw new Error(`The report was not accepted: ${JSON.stringify(verdict)}`)
  return { ...known, runs: verdict.runs, refusedRuns: verdict.refusedRuns, lastReportAt: at }
}
const refusal = (verdict: RunVerdict) => (verdict.kind === 'refused' ? verdict.pointer : verdict.kind)

test('the numbers of a run rise, and its last report can be repeated', () => {
  expect(judged({ seq: 8 })).toMatchObject({ kind: 'accepted', runs: [{ id: 'first', seq: 8 }], isCloned: false })
  expect(judged({ seq: 7 }).kind).toBe('accepted')
  expect(judged({ seq: 6 })).toMatchObject({
    ...{ kind: 'refused', pointer: '#/seq' },
    detail: 'must be at least 7, the number of the last report of this run.',
  })
  expect(refusal(judged({ boot_id: 'boot-2' }))).toBe('#/boot_id')
})

test('the program can be started again, and late reports of the run before are refused', () => {
  const restarted = after(judged({ run_id: 'second', seq: 1 }), now)
  expect(restarted.runs.map(one => [one.id, one.replacedAt])).toEqual([
    ['second', null],
    ['first', now],
  ])
  expect(refusal(judgeRun(restarted, { ...report, seq: 9 }, now - second, now + second))).toBe('#/run_id')
  expect(refusal(judged({ run_id: 'second', seq: 2 }, restarted, now + 60 * second))).toBe('accepted')
})

test('a run that was only interrupted by another one of the same boot continues', () => {
  // Such as `send-once` next to the service.
  const interrupted = after(judged({ run_id: 'second', seq: 1 }), now)
  const verdict = judged({ seq: 8 }, interrupted, now + 30 * second)
  expect(verdict).toMatchObject({ kind: 'accepted', runs: [{ id: 'first', seq: 8 }], refusedRuns: ['second'], isCloned: false })
  expect(refusal(judged({ run_id: 'second', seq: 2 }, after(verdict, now), now + 60 * second))).toBe('#/run_id')
})

test('a server that boots again reports once the run before had its time', () => {
  const booted = { run_id: 'second', seq: 1, boot_id: 'boot-2', uptime_seconds: 10 }
  expect(judged(booted)).toEqual({ kind: 'later', retryAfterSeconds: 60 })
  expect(judged(booted, known, now + 60 * second).kind).toBe('accepted')
  // One that said why it stops need not be waited for.
  expect(judged(booted, { ...known, state: 'stopped' }).kind).toBe('accepted')
  expect(judged(booted, { ...known, lastReportAt: null }).kind).toBe('accepted')
})

test('a clone of the machine is refused while the first one continues', () => {
  const clone = { run_id: 'clone', seq: 1, boot_id: 'boot-2', uptime_seconds: 3600 }
  const verdict = judged(clone)
  expect(verdict).toMatchObject({ kind: 'refused', pointer: '#/boot_id', isCloned: true, refusedRuns: ['clone'] })
  // One that was started after the last report of the first one is found out when that reports again.
  const accepted = after(judged({ ...clone, uptime_seconds: 5 }, known, now + 70 * second), now + 70 * second)
  const again = judged({ seq: 9 }, accepted, now + 80 * second)
  expect(again).toMatchObject({ kind: 'accepted', runs: [{ id: 'first' }], refusedRuns: ['clone'], isCloned: true })
  expect(refusal(judged({ ...clone, seq: 2 }, after(again, now), now + 90 * second))).toBe('#/run_id')
})

test('only some runs are kept', () => {
  let state: Known = known
  for (let at = 1; at <= 50; at++) state = after(judged({ run_id: `run-${at}`, seq: 1 }, state, now + at), now + at)
  expect(state.runs).toHaveLength(5)
  for (let at = 1; at <= 50; at++) {
    const verdict = judged({ run_id: `clone-${at}`, boot_id: 'boot-2', seq: 1 }, state)
    if (verdict.kind === 'refused') state = { ...state, refusedRuns: verdict.refusedRuns }
  }
  expect(state.refusedRuns).toHaveLength(20)
})
