import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { nextSlot } from './rate-limit'

const start = Date.parse('2026-11-21T10:00:00Z')

/** The slots of requests at `requested` (ms after the start, ascending). */
function slots(perSecond: number, requested: number[]): number[] {
  let reserved: number | null = null
  return requested.map(ms => {
    const { at, reservedUntilUs } = nextSlot(reserved, perSecond, start + ms)
    reserved = reservedUntilUs
    return at - start
  })
}

test('a second’s worth is sent immediately, the rest evenly', () => {
  expect(slots(2, [0, 0, 0, 0, 0])).toEqual([0, 0, 500, 1_000, 1_500])
  expect(slots(1, [0, 0, 2_500, 2_500])).toEqual([0, 1_000, 2_500, 3_500])
  expect(slots(1_000, Array(1_002).fill(0)).slice(-3)).toEqual([0, 1, 2])
})

test('no interval exceeds the rate plus the burst, and no request waits longer than needed', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000 }), fc.array(fc.nat(20), { maxLength: 200 }), (perSecond, gaps) => {
      let ms = 0
      const requested = gaps.map(gap => (ms += gap))
      const at = slots(perSecond, requested)
      for (let first = 0; first < at.length; first += 7) {
        for (let last = first; last < at.length; last++) {
          // Times are whole milliseconds, which may move two of them a millisecond closer.
          const allowed = perSecond * (1 + (at[last]! - at[first]! + 1) / 1_000)
          expect(last - first + 1).toBeLessThanOrEqual(Math.ceil(allowed))
        }
      }
      at.forEach((slot, index) => {
        expect(slot).toBeGreaterThanOrEqual(requested[index]!)
        if (index < perSecond) expect(slot).toBe(requested[index]!)
      })
    }),
  )
})
