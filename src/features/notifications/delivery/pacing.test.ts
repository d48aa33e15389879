import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { dueAt, nextAttemptAt, retryDelay, retryWindowMs, type Pacing } from './pacing'

const healthy: Pacing = {
  paceMs: 1_000,
  groupSeconds: 10,
  consecutiveFailures: 0,
  lastTriedAt: null,
  lastSentAt: null,
  retryAt: null,
  notBefore: null,
}
const now = 1_800_000_000_000
const fresh = { dueAt: now, attemptCount: 0 }
const tried = { dueAt: now - 60_000, attemptCount: 1 }

test('retry delays are 10 s, 30 s, 2 min, 10 min, 30 min and 2 h, then stay at 2 h', () => {
  expect([1, 2, 3, 4, 5, 6, 7].map(failures => retryDelay(failures, 0) / 1_000)).toEqual([10, 30, 120, 600, 1_800, 7_200, 7_200])
  expect(retryDelay(1, 0.999)).toBe(10_999)
  expect(retryWindowMs).toBe(9_760_000)
})

test('a notification is due a second later, or at once without grouping', () => {
  expect([dueAt(10, now), dueAt(0, now)]).toEqual([now + 1_000, now])
})

test('no attempt is due when nothing is pending', () => {
  expect(nextAttemptAt(healthy, [], now)).toBeNull()
})

test('notifications after a message are grouped', () => {
  expect(nextAttemptAt({ ...healthy, lastSentAt: now - 3_000, lastTriedAt: now - 3_000 }, [fresh], now)).toBe(now + 7_000)
  expect(nextAttemptAt({ ...healthy, lastSentAt: now - 30_000, lastTriedAt: now - 30_000 }, [fresh], now)).toBe(now)
})

test('failed notifications wait for the retry delay, new ones for ten minutes at most', () => {
  const failing = { ...healthy, consecutiveFailures: 5, lastTriedAt: now - 60_000, retryAt: now + 1_740_000 }
  expect(nextAttemptAt(failing, [tried], now)).toBe(now + 1_740_000)
  expect(nextAttemptAt(failing, [tried, fresh], now)).toBe(now + 540_000)
  expect(nextAttemptAt({ ...failing, notBefore: now + 600_000 }, [fresh], now)).toBe(now + 600_000)
})

test('a clock that was set back delays nothing', () => {
  expect(nextAttemptAt({ ...healthy, lastSentAt: now + 9e9, lastTriedAt: now + 9e9 }, [fresh], now)).toBe(now)
})

test('no attempt is made before a notification is due or before the requested delay has passed', () => {
  const time = fc.integer({ min: now - 1e7, max: now + 1e7 })
  const pace = fc.record({
    paceMs: fc.integer({ min: 0, max: 2_000 }),
    groupSeconds: fc.integer({ min: 0, max: 3_600 }),
    consecutiveFailures: fc.integer({ min: 0, max: 9 }),
    lastTriedAt: fc.option(time),
    lastSentAt: fc.option(time),
    retryAt: fc.option(time),
    notBefore: fc.option(time),
  })
  const waiting = fc.array(fc.record({ dueAt: time, attemptCount: fc.integer({ min: 0, max: 3 }) }), { minLength: 1 })
  fc.assert(
    fc.property(pace, waiting, (channel, rows) => {
      const at = nextAttemptAt(channel, rows, now)!
      expect(at).toBeGreaterThanOrEqual(Math.min(...rows.map(row => row.dueAt)))
      expect(at).toBeGreaterThanOrEqual(channel.notBefore ?? 0)
    }),
  )
})
