import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { nextTurn } from './pace'

const start = Date.parse('2026-11-21T10:00:00Z')

/** When each of those that ask at `asked` (ms after the start, ascending) gets its turn. */
function turns(perSecond: number, asked: number[]): number[] {
  let taken: number | null = null
  return asked.map(ms => {
    const { at, takenUntilUs } = nextTurn(taken, perSecond, start + ms)
    taken = takenUntilUs
    return at - start
  })
}

test('a second’s worth goes at once, the rest evenly', () => {
  expect(turns(2, [0, 0, 0, 0, 0])).toEqual([0, 0, 500, 1_000, 1_500])
  expect(turns(1, [0, 0, 2_500, 2_500])).toEqual([0, 1_000, 2_500, 3_500])
  expect(turns(1_000, Array(1_002).fill(0)).slice(-3)).toEqual([0, 1, 2])
})

test('no stretch of time sees more than its own worth and the burst, and no one waits longer than needed', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000 }), fc.array(fc.nat(20), { maxLength: 200 }), (perSecond, gaps) => {
      let ms = 0
      const asked = gaps.map(gap => (ms += gap))
      const at = turns(perSecond, asked)
      for (let first = 0; first < at.length; first += 7) {
        for (let last = first; last < at.length; last++) {
          // The moments are whole milliseconds, which may draw two a millisecond nearer.
          const worth = perSecond * (1 + (at[last]! - at[first]! + 1) / 1_000)
          expect(last - first + 1).toBeLessThanOrEqual(Math.ceil(worth))
        }
      }
      at.forEach((turn, place) => {
        expect(turn).toBeGreaterThanOrEqual(asked[place]!)
        if (place < perSecond) expect(turn).toBe(asked[place]!)
      })
    }),
  )
})
