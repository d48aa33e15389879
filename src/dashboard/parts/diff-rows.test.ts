import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { changedPart, diffRows } from './diff-rows'

test('equal lines are aligned, and changed lines are paired', () => {
  expect(diffRows(['a', 'b', 'c', 'd'], ['a', 'x', 'c', 'd', 'e'])).toEqual([
    { before: 'a', after: 'a' },
    { before: 'b', after: 'x' },
    { before: 'c', after: 'c' },
    { before: 'd', after: 'd' },
    { before: null, after: 'e' },
  ])
  expect(diffRows([], ['a'])).toEqual([{ before: null, after: 'a' }])
  expect(diffRows(['b', 'a'], ['a'])).toEqual([
    { before: 'b', after: null },
    { before: 'a', after: 'a' },
  ])
})

test('every line of both sides is kept in order', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })
  fc.assert(
    fc.property(text, text, (before, after) => {
      const rows = diffRows(before, after)
      expect(rows.map(row => row.before).filter(line => line !== null)).toEqual(before)
      expect(rows.map(row => row.after).filter(line => line !== null)).toEqual(after)
      expect(rows.every(row => row.before !== null || row.after !== null)).toBeTrue()
    }),
  )
})

test('the differing part of two lines is found, even if it repeats adjacent text', () => {
  expect(changedPart('192.0.2.10', '192.0.2.20')).toEqual([8, 9, 9])
  expect(changedPart('aa', 'aaa')).toEqual([2, 2, 3])
  fc.assert(
    fc.property(fc.string(), fc.string(), (before, after) => {
      const [from, beforeEnd, afterEnd] = changedPart(before, after)
      expect(before.slice(0, from) + after.slice(from, afterEnd) + before.slice(beforeEnd)).toBe(after)
    }),
  )
})
