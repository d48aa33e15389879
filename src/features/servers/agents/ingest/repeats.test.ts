import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { RecentRequests } from './repeats'

test('each signed request is accepted once, also in another order', () => {
  const recent = new RecentRequests(100)
  expect(recent.repeats({ time: 100, count: 1 })).toBe(true)
  expect(recent.repeats({ time: 102, count: 3 })).toBe(false)
  expect(recent.repeats({ time: 101, count: 2 })).toBe(false)
  expect(recent.repeats({ time: 101, count: 2 })).toBe(true)
  // The program was started again.
  expect(recent.repeats({ time: 102, count: 1 })).toBe(false)
})

test('no request is ever accepted twice', () => {
  const requests = fc.array(fc.record({ time: fc.integer({ min: 1, max: 300 }), count: fc.integer({ min: 0, max: 3 }) }), {
    maxLength: 400,
  })
  fc.assert(
    fc.property(requests, some => {
      const recent = new RecentRequests(0)
      const accepted = new Set<string>()
      for (const one of some) {
        if (recent.repeats(one)) continue
        const key = `${one.time} ${one.count}`
        expect(accepted.has(key)).toBe(false)
        accepted.add(key)
      }
    }),
  )
})
