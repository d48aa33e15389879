import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { defaultConfirmationRule, nextConfirmation, type Confirmation } from './confirmation'

const fresh: Confirmation = { status: 'new', contradictions: 0 }
const after = (results: boolean[], rule = defaultConfirmationRule, from = fresh) =>
  results.reduce((state, ok) => nextConfirmation(state, ok, rule), from)

describe('the confirmed status of a location', () => {
  test('starts up after one success, or down after `confirm` failures', () => {
    expect(after([true])).toEqual({ status: 'up', contradictions: 0 })
    expect(after([false])).toEqual({ status: 'new', contradictions: 1 })
    expect(after([false, false])).toEqual({ status: 'down', contradictions: 0 })
    expect(after([false, true])).toEqual({ status: 'up', contradictions: 0 })
  })

  test('only counts consecutive results', () => {
    expect(after([true, false, true, false])).toEqual({ status: 'up', contradictions: 1 })
    expect(after([true, false, false])).toEqual({ status: 'down', contradictions: 0 })
    expect(after([false, false, true, false, true])).toEqual({ status: 'down', contradictions: 1 })
    expect(after([false, false, true, true])).toEqual({ status: 'up', contradictions: 0 })
  })

  test('only changes when the required number of last results agree', () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { maxLength: 60 }),
        fc.record({ confirm: fc.integer({ min: 1, max: 10 }), recover: fc.integer({ min: 1, max: 10 }) }),
        (results, rule) => {
          let state = fresh
          results.forEach((ok, i) => {
            const next = nextConfirmation(state, ok, rule)
            if (next.status !== state.status) {
              const needed = ok ? (state.status === 'new' ? 1 : rule.recover) : rule.confirm
              expect(results.slice(i + 1 - needed, i + 1)).toEqual(Array.from({ length: needed }, () => ok))
              expect(next).toEqual({ status: ok ? 'up' : 'down', contradictions: 0 })
            }
            state = next
          })
        },
      ),
    )
  })
})
