import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { defaultStreakRule, nextStreak, type Streak } from './streak'

const fresh: Streak = { settled: 'new', streak: 0 }
const after = (results: boolean[], rule = defaultStreakRule, from = fresh) =>
  results.reduce((state, ok) => nextStreak(state, ok, rule), from)

describe('the streak of a location', () => {
  test('is up after one good result when it is new, and down after as many bad ones as confirm asks for', () => {
    expect(after([true])).toEqual({ settled: 'up', streak: 0 })
    expect(after([false])).toEqual({ settled: 'new', streak: 1 })
    expect(after([false, false])).toEqual({ settled: 'down', streak: 0 })
    expect(after([false, true])).toEqual({ settled: 'up', streak: 0 })
  })

  test('counts results in a row only', () => {
    expect(after([true, false, true, false])).toEqual({ settled: 'up', streak: 1 })
    expect(after([true, false, false])).toEqual({ settled: 'down', streak: 0 })
    expect(after([false, false, true, false, true])).toEqual({ settled: 'down', streak: 1 })
    expect(after([false, false, true, true])).toEqual({ settled: 'up', streak: 0 })
  })

  test('never settles otherwise than by the last results, all alike and as many as the rule says', () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { maxLength: 60 }),
        fc.record({ confirm: fc.integer({ min: 1, max: 10 }), recover: fc.integer({ min: 1, max: 10 }) }),
        (results, rule) => {
          let state = fresh
          results.forEach((ok, i) => {
            const next = nextStreak(state, ok, rule)
            if (next.settled !== state.settled) {
              const needed = ok ? (state.settled === 'new' ? 1 : rule.recover) : rule.confirm
              expect(results.slice(i + 1 - needed, i + 1)).toEqual(Array.from({ length: needed }, () => ok))
              expect(next).toEqual({ settled: ok ? 'up' : 'down', streak: 0 })
            }
            state = next
          })
        },
      ),
    )
  })
})
