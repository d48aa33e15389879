import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { newMonitorState, type MonitorState } from './state'
import type { FollowUp, Judged, JudgeInput, LocationResult, Parent, Rules } from './input'
import { judge } from './judge'
import { needOf } from './votes'

const start = Date.UTC(2026, 0, 1)
const names = ['a', 'b', 'c', 'd']

interface Step {
  after: number
  results: { location: string; status: 'up' | 'degraded' | 'down' }[]
  impaired: string[]
  maintenance: boolean
  paused: boolean
  parent: 'up' | 'down' | null
}

const anyRules: fc.Arbitrary<Rules> = fc.record({
  locations: fc.integer({ min: 1, max: 4 }).map(n => names.slice(0, n)),
  intervalMs: fc.constantFrom(5_000, 60_000),
  confirm: fc.integer({ min: 1, max: 3 }),
  recover: fc.integer({ min: 1, max: 3 }),
  recoveryMs: fc.constantFrom(0, 60_000),
  quorum: fc.constantFrom('majority' as const, 'any' as const, 'all' as const, 2),
  dependencyGraceMs: fc.constantFrom(0, 60_000),
})
const status = fc.constantFrom('up' as const, 'up' as const, 'degraded' as const, 'down' as const, 'down' as const)
const anyStep: fc.Arbitrary<Step> = fc.record({
  after: fc.constantFrom(0, 1, 5_000, 15_000, 60_000, 200_000, -3_600_000),
  results: fc.array(fc.record({ location: fc.constantFrom(...names), status }), { maxLength: 4 }),
  impaired: fc.oneof({ weight: 6, arbitrary: fc.constant([] as string[]) }, { weight: 1, arbitrary: fc.subarray(names) }),
  maintenance: fc.boolean().map(Boolean),
  paused: fc.integer({ min: 0, max: 15 }).map(n => n === 0),
  parent: fc.constantFrom(null, null, 'up' as const, 'down' as const),
})
const anySteps = fc.array(anyStep, { maxLength: 80 }).map(calm)

/** Keeps maintenance only in every third step. */
function calm(steps: Step[]): Step[] {
  return steps.map((step, i) => ({ ...step, maintenance: step.maintenance && i % 3 === 0 }))
}

const parentOf = (verdict: 'up' | 'down'): Parent => ({ id: 'mon_p', name: 'p', state: { ...newMonitorState(start), verdict } })

const error = { kind: 'refused', message: 'Connection refused.' } as const
const resultsOf = (step: Step, at: number): LocationResult[] =>
  step.results.map(result => ({ ...result, at, error: result.status === 'up' ? null : error }))

function walk(
  rules: Rules,
  steps: Step[],
  each: (judged: Judged, step: Step, at: number, input: JudgeInput, before: MonitorState) => void,
): void {
  let judged: Pick<Judged, 'state' | 'status'> = { state: newMonitorState(start), status: 'new' }
  let at = start
  for (const step of steps) {
    at += step.after
    const input: JudgeInput = {
      rules,
      status: judged.status,
      results: resultsOf(step, at),
      impaired: step.impaired,
      paused: step.paused,
      maintenance: step.maintenance ? { id: 'mw_1', name: 'work', until: at + 1000 } : null,
      parents: step.parent ? [parentOf(step.parent)] : [],
    }
    const before = judged.state
    const next = judge(before, input, at)
    each(next, step, at, input, before)
    judged = next
  }
}

const isTold = (followUp: FollowUp) => followUp.kind === 'alert' || followUp.kind === 'degraded' || followUp.kind === 'improved'

describe('for any results, times, and relations', () => {
  test('each level of an outage is reported once, in order, and its recovery once', () => {
    fc.assert(
      fc.property(anyRules, anySteps, (rules, steps) => {
        let reported: 'degraded' | 'down' | null = null
        walk(rules, steps, ({ followUps }) => {
          for (const followUp of followUps) {
            if (followUp.kind === 'degraded') {
              expect(reported).toBeNull()
              reported = 'degraded'
            } else if (followUp.kind === 'alert') {
              expect(reported).not.toBe('down')
              reported = 'down'
            } else if (followUp.kind === 'improved') {
              expect(reported).toBe('down')
              reported = 'degraded'
            } else if (followUp.kind === 'recovered') {
              expect(followUp.notified).toBe(reported!)
              reported = null
            }
          }
        })
      }),
      { numRuns: 1500 },
    )
  })

  test('no alerts are sent in maintenance, while paused, or for another status than the current one', () => {
    fc.assert(
      fc.property(anyRules, anySteps, (rules, steps) => {
        walk(rules, steps, ({ followUps, state, status: shown }, step) => {
          if (!followUps.some(isTold)) return
          expect(step.maintenance || step.paused).toBe(false)
          expect(shown).toBe(followUps.some(({ kind }) => kind === 'alert') ? 'down' : 'degraded')
          expect(state.verdict).toBe(shown as MonitorState['verdict'])
        })
      }),
      { numRuns: 1000 },
    )
  })

  test('it is down only by quorum, and never without voters', () => {
    fc.assert(
      fc.property(anyRules, anySteps, (rules, steps) => {
        walk(rules, steps, ({ state, followUps }, step, at, _, before) => {
          const voters = Object.entries(state.locations).filter(
            ([name, { lastResultAt, settled }]) =>
              !step.impaired.includes(name) && settled !== 'new' && lastResultAt! + Math.max(3 * rules.intervalMs, 90_000) >= at,
          )
          const downs = voters.filter(([, { settled }]) => settled === 'down')
          if (state.verdict === 'down' && before.verdict !== 'down') {
            expect(voters.length).toBeGreaterThan(0)
            expect(downs.length).toBeGreaterThanOrEqual(needOf(rules.quorum, voters.length))
          }
          if (voters.length === 0 && before.verdict !== 'down' && before.verdict !== 'degraded')
            expect(followUps.some(isTold)).toBe(false)
        })
      }),
      { numRuns: 1000 },
    )
  })

  test('judging again at the same time changes nothing', () => {
    fc.assert(
      fc.property(anyRules, anySteps, (rules, steps) => {
        walk(rules, steps, (judged, _, at, input) => {
          const again = judge(judged.state, { ...input, results: [], status: judged.status }, at)
          expect(again).toEqual({ ...judged, transition: null, followUps: [], quiet: true })
        })
      }),
      { numRuns: 700 },
    )
  })

  test('the order of simultaneous results makes no difference, and a restart in between does not either', () => {
    fc.assert(
      fc.property(anyRules, anySteps, (rules, steps) => {
        walk(rules, steps, (judged, _, at, input, before) => {
          const stored = JSON.parse(JSON.stringify(before)) as MonitorState
          const once = new Map(input.results.map(result => [result.location, result]))
          const forwards = [...once.values()]
          const one = judge(before, { ...input, results: forwards }, at)
          expect(judge(stored, { ...input, results: forwards.toReversed() }, at)).toEqual(one)
          expect(judge(before, input, at)).toEqual(judged)
        })
      }),
      { numRuns: 500 },
    )
  })

  test('wake-ups are in the future, and quiet judgments change and report nothing', () => {
    fc.assert(
      fc.property(anyRules, anySteps, (rules, steps) => {
        walk(rules, steps, (judged, _, at, input) => {
          if (judged.wakeAt !== null) expect(judged.wakeAt).toBeGreaterThan(at)
          if (judged.quiet) expect([judged.status, judged.followUps.length]).toEqual([input.status, 0])
          expect(judged.state.recent.length).toBeLessThanOrEqual(20)
          if (judged.transition) expect(judged.transition.since).toBeLessThanOrEqual(at)
        })
      }),
      { numRuns: 500 },
    )
  })
})

test('an even split never leads to down, and changes the status once', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(2, 4),
      fc.array(fc.boolean(), { minLength: 20, maxLength: 60 }),
      fc.constantFrom(0, 60_000),
      (size, order, recoveryMs) => {
        const rules: Rules = {
          locations: names.slice(0, size),
          intervalMs: 60_000,
          confirm: 2,
          recover: 2,
          recoveryMs,
          quorum: 'majority',
          dependencyGraceMs: 0,
        }
        let { state, status: shown }: Pick<Judged, 'state' | 'status'> = { state: newMonitorState(start), status: 'new' }
        const changes: string[] = []
        let at = start
        const take = (location: string, ok: boolean) => {
          const results: LocationResult[] = [{ location, at: ++at, status: ok ? 'up' : 'down', error: ok ? null : error }]
          const judged = judge(state, { rules, status: shown, results }, at)
          if (judged.transition) changes.push(judged.transition.to)
          ;({ state, status: shown } = judged)
        }
        for (const location of rules.locations) take(location, true)
        for (const forwards of order) {
          at += 15_000
          for (const location of forwards ? rules.locations : rules.locations.toReversed())
            take(location, rules.locations.indexOf(location) >= size / 2)
        }
        expect(changes).toEqual(['up', 'degraded'])
      },
    ),
  )
})

test('a simultaneous failure at all locations is reported once, in any order of results', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(names, { minLength: 4 }), order => {
      const rules: Rules = {
        locations: names,
        intervalMs: 60_000,
        confirm: 1,
        recover: 1,
        recoveryMs: 0,
        quorum: 'majority',
        dependencyGraceMs: 0,
      }
      let { state, status: shown }: Pick<Judged, 'state' | 'status'> = { state: newMonitorState(start), status: 'new' }
      const reported: FollowUp[] = []
      for (const [at, result] of [
        [start, 'up'],
        [start + 60_000, 'down'],
        [start + 120_000, 'up'],
      ] as const)
        for (const location of order) {
          const judged = judge(state, { rules, status: shown, results: [{ location, at, status: result, error: null }] }, at)
          reported.push(...judged.followUps.filter(({ kind }) => kind !== 'check_locations'))
          ;({ state, status: shown } = judged)
        }
      expect(reported.map(({ kind }) => kind)).toEqual(['alert', 'recovered'])
    }),
  )
})
