import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { windowEndsAt, remainingIn, inWindow, totalOf, addAttempts, type AttemptWindow } from './attempt-window'

const start = Date.parse('2026-11-21T10:00:00.250Z')

test('the limit of a minute can be used at once, and resets after a minute', () => {
  const window = addAttempts([], 120, start)
  expect(remainingIn(window, 120, start)).toEqual({ left: 0, until: start + 60_750 })
  expect(remainingIn(window, 120, start + 60_749).left).toBe(0)
  expect(remainingIn(window, 120, start + 60_750)).toEqual({ left: 120, until: start + 60_750 })
  expect(remainingIn(window, 121, start).left).toBe(1)
  expect(windowEndsAt(window)).toBe(start + 60_750)
})

test('a lowered limit waits until enough attempts have left, and a limit of 0 is checked again later', () => {
  const window = addAttempts(addAttempts([], 10, start), 5, start + 20_000)
  expect(remainingIn(window, 5, start + 30_000)).toEqual({ left: 0, until: start + 80_750 })
  expect(remainingIn(window, 6, start + 30_000)).toEqual({ left: 0, until: start + 60_750 })
  expect(remainingIn([], 0, start)).toEqual({ left: 0, until: start + 60_000 })
})

test('attempts counted by a hub whose clock is ahead count too', () => {
  const window = addAttempts(addAttempts([], 3, start + 5_000), 2, start)
  expect(window).toHaveLength(1)
  expect(remainingIn(window, 5, start).left).toBe(0)
})

test('no minute exceeds the limit, and no attempt waits below it', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.array(fc.tuple(fc.nat(9_000), fc.nat(30)), { maxLength: 80 }),
      (limit, requests) => {
        const sent: { at: number; count: number }[] = []
        let window: AttemptWindow = []
        let now = start
        for (const [gap, wanted] of requests) {
          now += gap
          const { left, until } = remainingIn(window, limit, now)
          const inMinute = sent.filter(one => one.at > now - 60_000).reduce((sum, one) => sum + one.count, 0)
          expect(left).toBeLessThanOrEqual(limit - inMinute)
          // Whole seconds delay an attempt by at most one second.
          const inMore = sent.filter(one => one.at > now - 61_000).reduce((sum, one) => sum + one.count, 0)
          expect(left).toBeGreaterThanOrEqual(limit - inMore)
          if (left === 0) expect(remainingIn(window, limit, until).left).toBeGreaterThan(0)
          const count = Math.min(left, wanted)
          if (count === 0) continue
          window = addAttempts(window, count, now)
          sent.push({ at: now, count })
          expect(window.length).toBeLessThanOrEqual(62)
          expect(totalOf(inWindow(window, now))).toBeLessThanOrEqual(limit)
        }
      },
    ),
  )
})
