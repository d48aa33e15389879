import { expect, test } from 'bun:test'
import { parseDuration } from './duration'

test('a duration is a number and a unit', () => {
  expect(['45s', '30m', '12h', '90d', '2w'].map(parseDuration)).toEqual([
    45_000, 1_800_000, 43_200_000, 7_776_000_000, 1_209_600_000,
  ])
})

test.each(['', '90', 'd', '-1d', '1.5h', '0s', '90 d', '90days', '9999999999w'])('%p is rejected', text => {
  expect(() => parseDuration(text)).toThrow('a number and a unit')
})
