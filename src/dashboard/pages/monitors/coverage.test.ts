import { expect, test } from 'bun:test'
import { coverage } from './coverage'

test('periods that only repeat the uptime of a shorter one have none of their own', () => {
  const [minute, day] = [60_000, 86_400_000]
  expect(coverage(6 * minute)).toEqual({ last: 0, time: '6 min' })
  expect(coverage(10 * day)).toEqual({ last: 1, time: '10 d' })
  expect(coverage(30 * day)).toEqual({ last: 2, time: '30 d' })
  expect(coverage(400 * day)).toEqual({ last: 3, time: null })
})
