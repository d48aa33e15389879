import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Hub } from '../../../../core/hub'
import { isRepeated, RecentRequests } from './repeats'

test('each signed request is accepted once, also in another order', () => {
  const recent = new RecentRequests()
  const repeats = (time: number, count: number) => recent.repeats({ time, count }, 100)
  expect(repeats(100, 1)).toBe(true)
  expect(repeats(102, 3)).toBe(false)
  expect(repeats(101, 2)).toBe(false)
  expect(repeats(101, 2)).toBe(true)
  // The program was started again.
  expect(repeats(102, 1)).toBe(false)
})

test('requests that were signed before a report that another hub stored are refused, but not before one that this hub stored', () => {
  const recent = new RecentRequests()
  expect(recent.repeats({ time: 100, count: 1 }, 90)).toBe(false)
  expect(recent.repeats({ time: 105, count: 3 }, 90)).toBe(false)
  expect(recent.repeats({ time: 103, count: 2 }, 105)).toBe(false)
  expect(recent.repeats({ time: 110, count: 4 }, 110)).toBe(true)
  expect(recent.repeats({ time: 109, count: 5 }, 110)).toBe(true)
  expect(recent.repeats({ time: 111, count: 6 }, 110)).toBe(false)
})

test('no request is ever accepted twice', () => {
  const requests = fc.array(
    fc.record({ time: fc.integer({ min: 1, max: 300 }), count: fc.integer({ min: 0, max: 3 }), storedAt: fc.nat(300) }),
    { maxLength: 400 },
  )
  fc.assert(
    fc.property(requests, some => {
      const recent = new RecentRequests()
      const accepted = new Set<string>()
      for (const { storedAt, ...one } of some) {
        if (recent.repeats(one, storedAt)) continue
        const key = `${one.time} ${one.count}`
        expect(accepted.has(key)).toBe(false)
        accepted.add(key)
      }
    }),
  )
})

test('the requests of 20,000 agents are remembered, of those that sent one last', () => {
  const hub = {} as Hub
  const isKnown = (id: string) => isRepeated(hub, { id, signedAt: null }, { time: 1000, count: 1 })
  expect([isKnown('first'), isKnown('second'), isKnown('first')]).toEqual([false, false, true])
  for (let at = 0; at < 19_999; at++) expect(isKnown(`agent-${at}`)).toBe(false)
  expect([isKnown('first'), isKnown('second')]).toEqual([true, false])
})
