import { expect, test } from 'bun:test'
import { jsonText, withKeptText } from './kept-text'

test('the JSON is the same as without keeping it', () => {
  const kept = withKeptText({ id: 'a', n: 1, nested: { text: '“x”' } })
  const other = { id: 'b', n: null }
  for (const value of [
    kept,
    other,
    [1],
    { data: [] },
    { data: [other], pagination: { has_more: false } },
    { data: [kept, other], pagination: { has_more: true, next_cursor: 'c' }, total: undefined },
    { data: [other, kept] },
  ])
    for (const _ of ['first', 'again']) expect(jsonText(value)).toBe(JSON.stringify(value))
})

test('a kept view is serialized once, and can’t be changed', () => {
  let times = 0
  const view = withKeptText({ id: 'a', toJSON: () => ({ times: ++times }) })
  expect(jsonText(view)).toBe('{"times":1}')
  expect(jsonText({ data: [view, view] })).toBe('{"data":[{"times":1},{"times":1}]}')
  expect(() => {
    view.id = 'b'
  }).toThrow(TypeError)
})
