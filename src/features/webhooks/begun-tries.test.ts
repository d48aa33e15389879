import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { allLeftAt, leftOf, stillCounted, sumOf, withMore, type Begun } from './begun-tries'

const start = Date.parse('2026-11-21T10:00:00.250Z')

test('the whole of a minute may go at once, and comes back when it is over', () => {
  const begun = withMore([], 120, start)
  expect(leftOf(begun, 120, start)).toEqual({ left: 0, until: start + 60_750 })
  expect(leftOf(begun, 120, start + 60_749).left).toBe(0)
  expect(leftOf(begun, 120, start + 60_750)).toEqual({ left: 120, until: start + 60_750 })
  expect(leftOf(begun, 121, start).left).toBe(1)
  expect(allLeftAt(begun)).toBe(start + 60_750)
})

test('a limit that was lowered waits until enough has left, and one of none is looked at again', () => {
  const begun = withMore(withMore([], 10, start), 5, start + 20_000)
  expect(leftOf(begun, 5, start + 30_000)).toEqual({ left: 0, until: start + 80_750 })
  expect(leftOf(begun, 6, start + 30_000)).toEqual({ left: 0, until: start + 60_750 })
  expect(leftOf([], 0, start)).toEqual({ left: 0, until: start + 60_000 })
})

test('what another hub counted ahead of this one’s clock counts', () => {
  const begun = withMore(withMore([], 3, start + 5_000), 2, start)
  expect(begun).toHaveLength(1)
  expect(leftOf(begun, 5, start).left).toBe(0)
})

test('no minute sees more than the limit, and none waits while there is room', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.array(fc.tuple(fc.nat(9_000), fc.nat(30)), { maxLength: 80 }),
      (most, asks) => {
        const sent: { at: number; count: number }[] = []
        let begun: Begun = []
        let now = start
        for (const [gap, wanted] of asks) {
          now += gap
          const { left, until } = leftOf(begun, most, now)
          const inMinute = sent.filter(one => one.at > now - 60_000).reduce((sum, one) => sum + one.count, 0)
          expect(left).toBeLessThanOrEqual(most - inMinute)
          // The seconds are whole ones, which keeps a try back for one of them at most.
          const inMore = sent.filter(one => one.at > now - 61_000).reduce((sum, one) => sum + one.count, 0)
          expect(left).toBeGreaterThanOrEqual(most - inMore)
          if (left === 0) expect(leftOf(begun, most, until).left).toBeGreaterThan(0)
          const count = Math.min(left, wanted)
          if (count === 0) continue
          begun = withMore(begun, count, now)
          sent.push({ at: now, count })
          expect(begun.length).toBeLessThanOrEqual(62)
          expect(sumOf(stillCounted(begun, now))).toBeLessThanOrEqual(most)
        }
      },
    ),
  )
})
