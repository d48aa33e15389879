import { expect, test } from 'bun:test'
import { relativeText } from './time'

const [second, minute, hour] = [1000, 60_000, 3_600_000]

test('relative times are in the largest unit', () => {
  expect([0, 16 * second, 97 * second, 95 * minute, 47 * hour].map(one => relativeText(one))).toEqual([
    'now',
    '16 s ago',
    '1 min ago',
    '1 h ago',
    '1 d ago',
  ])
  expect([-90 * second, -3 * hour].map(one => relativeText(one))).toEqual(['in 1 min', 'in 3 h'])
})

test('a time that has passed can be shown as due', () => {
  expect([-30, 0, 1, 97].map(one => relativeText(one * second, 'due now'))).toEqual(['in 30 s', 'due now', 'due now', 'due now'])
})
