import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { RollingSpans } from './rolling-spans'

test('percentiles are those of all spans of the last minute, at most a step above', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 9999, noNaN: true }), { minLength: 1, maxLength: 200 }), given => {
      const spans = new RollingSpans()
      given.forEach((ms, n) => {
        spans.add(ms)
        if (n % 10 === 9) spans.turn()
      })
      const sorted = given.toSorted((a, b) => a - b)
      for (const part of [0.5, 0.99, 1]) {
        const exact = sorted[Math.ceil(sorted.length * part) - 1]!
        const step = exact < 100 ? 1 : exact < 1000 ? 10 : 100
        expect(spans.percentile(part)).toBeGreaterThanOrEqual(exact)
        expect(spans.percentile(part)).toBeLessThanOrEqual(exact + step)
      }
      expect(spans.longest).toBe(sorted.at(-1)!)
      for (let second = 0; second < 60; second++) spans.turn()
      expect([spans.percentile(0.5), spans.longest]).toEqual([0, 0])
    }),
  )
})
