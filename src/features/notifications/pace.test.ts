import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { dueAt, nextTryAt, retryPause, tryForMs, type Pace } from './pace'

const well: Pace = {
  paceMs: 1_000,
  groupSeconds: 10,
  failuresInARow: 0,
  lastTriedAt: null,
  lastSentAt: null,
  retryAt: null,
  notBefore: null,
}
const now = 1_800_000_000_000
const fresh = { dueAt: now, attemptCount: 0 }
const tried = { dueAt: now - 60_000, attemptCount: 1 }

test('the pauses are 10 and 30 seconds, 2, 10 and 30 minutes and 2 hours, and go on so', () => {
  expect([1, 2, 3, 4, 5, 6, 7].map(failures => retryPause(failures, 0) / 1_000)).toEqual([10, 30, 120, 600, 1_800, 7_200, 7_200])
  expect(retryPause(1, 0.999)).toBe(10_999)
  expect(tryForMs).toBe(9_760_000)
})

test('what is told is due a second later, at once where nothing is grouped', () => {
  expect([dueAt(10, now), dueAt(0, now)]).toEqual([now + 1_000, now])
})

test('nothing that waits needs no try', () => {
  expect(nextTryAt(well, [], now)).toBeNull()
})

test('what follows a message waits for the others', () => {
  expect(nextTryAt({ ...well, lastSentAt: now - 3_000, lastTriedAt: now - 3_000 }, [fresh], now)).toBe(now + 7_000)
  expect(nextTryAt({ ...well, lastSentAt: now - 30_000, lastTriedAt: now - 30_000 }, [fresh], now)).toBe(now)
})

test('what failed waits for its time, and news for ten minutes at most', () => {
  const failing = { ...well, failuresInARow: 5, lastTriedAt: now - 60_000, retryAt: now + 1_740_000 }
  expect(nextTryAt(failing, [tried], now)).toBe(now + 1_740_000)
  expect(nextTryAt(failing, [tried, fresh], now)).toBe(now + 540_000)
  expect(nextTryAt({ ...failing, notBefore: now + 600_000 }, [fresh], now)).toBe(now + 600_000)
})

test('a clock that was set back holds up nobody', () => {
  expect(nextTryAt({ ...well, lastSentAt: now + 9e9, lastTriedAt: now + 9e9 }, [fresh], now)).toBe(now)
})

test('no try comes before anything is due, before its turn, or before the other side wants it', () => {
  const time = fc.integer({ min: now - 1e7, max: now + 1e7 })
  const pace = fc.record({
    paceMs: fc.integer({ min: 0, max: 2_000 }),
    groupSeconds: fc.integer({ min: 0, max: 3_600 }),
    failuresInARow: fc.integer({ min: 0, max: 9 }),
    lastTriedAt: fc.option(time),
    lastSentAt: fc.option(time),
    retryAt: fc.option(time),
    notBefore: fc.option(time),
  })
  const waiting = fc.array(fc.record({ dueAt: time, attemptCount: fc.integer({ min: 0, max: 3 }) }), { minLength: 1 })
  fc.assert(
    fc.property(pace, waiting, (channel, rows) => {
      const at = nextTryAt(channel, rows, now)!
      expect(at).toBeGreaterThanOrEqual(Math.min(...rows.map(row => row.dueAt)))
      expect(at).toBeGreaterThanOrEqual(channel.notBefore ?? 0)
    }),
  )
})
