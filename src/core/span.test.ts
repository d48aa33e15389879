import { expect, test } from 'bun:test'
import { duration } from './span'

test('spans are told in their two largest units', () => {
  const told = [0, 499, 999, 59_999, 60_000, 383_000, 3_600_000, 3_603_000, 90_061_000, 172_800_000].map(duration)
  expect(told).toEqual(['0 s', '0 s', '1 s', '1 min', '1 min', '6 min 23 s', '1 h', '1 h', '1 d 1 h', '2 d'])
})
