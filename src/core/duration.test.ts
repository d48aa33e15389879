import { expect, test } from 'bun:test'
import { formatDuration } from './duration'

test('durations are formatted in their two largest units', () => {
  const texts = [0, 499, 999, 59_999, 60_000, 383_000, 3_600_000, 3_603_000, 90_061_000, 172_800_000].map(formatDuration)
  expect(texts).toEqual(['0 s', '0 s', '1 s', '1 min', '1 min', '6 min 23 s', '1 h', '1 h', '1 d 1 h', '2 d'])
})
