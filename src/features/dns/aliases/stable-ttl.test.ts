import { expect, test } from 'bun:test'
import { stableTtl, type StableTtl } from './stable-ttl'

test('the TTL ignores cache countdowns, follows increases right away and decreases after a while', () => {
  const seen = [200, 300, 240, 180, 120, 60, 290, 230, 170, 110, 50, 290, 230, 600, 60, 60]
  let state: StableTtl | null = null
  const ttls = seen.map((ttl, n) => (state = stableTtl(state, ttl, n * 60_000)).ttl)
  expect(ttls).toEqual([200, 300, 300, 300, 300, 300, 300, 300, 290, 290, 290, 290, 290, 600, 600, 600])
  for (let n = 0; n < 12; n++) state = stableTtl(state, 60, (16 + n) * 60_000)
  expect(state!.ttl).toBe(60)
})
