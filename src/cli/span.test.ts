import { expect, test } from 'bun:test'
import { readSpan } from './span'

test('a span is a number and a unit', () => {
  expect(['45s', '30m', '12h', '90d', '2w'].map(readSpan)).toEqual([45_000, 1_800_000, 43_200_000, 7_776_000_000, 1_209_600_000])
})

test.each(['', '90', 'd', '-1d', '1.5h', '0s', '90 d', '90days', '9999999999w'])('%p is refused', text => {
  expect(() => readSpan(text)).toThrow('a number and a unit')
})
