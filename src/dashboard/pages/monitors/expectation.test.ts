import { expect, test } from 'bun:test'
import { conditionsOf } from '../../../checks/conditions/form'
import { changedConditions, expectationInput, expectationOf } from './expectation'

const none = expectationOf([])

test('conditions that the API derives from a keyword and a JSON query are shown in their fields', () => {
  const shown = (keyword: string, inverted = false) =>
    expectationOf(conditionsOf({ keyword, ...(inverted && { invert_keyword: true }) }))
  expect(shown('Welcome')).toMatchObject({ keyword: 'Welcome', keyword_rule: 'present', down_if: [] })
  expect(shown('Error 500', true)).toMatchObject({ keyword: 'Error 500', keyword_rule: 'absent', down_if: [] })
  expect(shown('50% off [*] (today?) \\o/')).toMatchObject({ keyword: '50% off [*] (today?) \\o/', down_if: [] })
  for (const [path, op, expected] of [
    ['$.status', '==', 'UP'],
    ['$.items[0].price', '<=', '9.5'],
    ['$.note', 'contains', 'a * b'],
    ['$["odd-name"]', '!=', 'say "hi" (now)'],
  ] as const)
    expect(expectationOf(conditionsOf({ json_query: { path, op, expected } }))).toMatchObject({
      'json_query.path': path,
      'json_query.op': op,
      'json_query.expected': expected,
      down_if: [],
    })
})

test('all other conditions stay conditions', () => {
  const others = [
    '[STATUS] >= 500',
    '[BODY] == pat(*Err?r*)',
    '[BODY].status != UP',
    'not [BODY].ids == any(1, 2)',
    'not [BODY].items[?(@.id == 1)].state == ok',
    'not len([BODY].items) > 0',
    'not [BODY].a == [BODY].b',
  ]
  expect(expectationOf(others)).toEqual({ ...none, down_if: others })
  const second = 'not [BODY] == pat(*two*)'
  expect(expectationOf(['not [BODY] == pat(*one*)', second])).toMatchObject({ keyword: 'one', down_if: [second] })
})

test('a new monitor gets the fields of the API, and an edited one conditions, only if they changed', () => {
  const values = { ...none, keyword: 'Welcome', 'json_query.path': '$.status', 'json_query.expected': 'UP' }
  expect(expectationInput(none)).toEqual({})
  expect(expectationInput({ ...values, keyword_rule: 'absent' })).toEqual({
    keyword: 'Welcome',
    invert_keyword: true,
    json_query: { path: '$.status', op: '==', expected: 'UP' },
  })
  expect(changedConditions(values, { ...values })).toBeUndefined()
  expect(changedConditions({ ...none, down_if: ['[STATUS] >= 500'] }, { ...values, down_if: ['[STATUS] >= 500'] })).toEqual([
    '[STATUS] >= 500',
    { source: 'BODY', op: 'contains', value: 'Welcome', not: true },
    { source: 'BODY', path: '$.status', op: '==', value: 'UP', not: true },
  ])
  expect(changedConditions(values, none)).toEqual([])
})
