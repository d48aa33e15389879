import { expect, test } from 'bun:test'
import { steadyTtl, type SteadyTtl } from './steady-ttl'

test('a TTL stands while what is left of it is told, and follows the target up at once and down in time', () => {
  const seen = [200, 300, 240, 180, 120, 60, 290, 230, 170, 110, 50, 290, 230, 600, 60, 60]
  let state: SteadyTtl | null = null
  const told = seen.map((ttl, n) => (state = steadyTtl(state, ttl, n * 60_000)).ttl)
  expect(told).toEqual([200, 300, 300, 300, 300, 300, 300, 300, 290, 290, 290, 290, 290, 600, 600, 600])
  for (let n = 0; n < 12; n++) state = steadyTtl(state, 60, (16 + n) * 60_000)
  expect(state!.ttl).toBe(60)
})
