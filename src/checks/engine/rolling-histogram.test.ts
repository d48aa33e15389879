import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { RollingHistogram } from './rolling-histogram'

test('percentiles cover the last minute and exceed the exact value by at most one bucket', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 9999, noNaN: true }), { minLength: 1, maxLength: 200 }), input => {
      const histogram = new RollingHistogram()
      input.forEach((ms, n) => {
        histogram.add(ms)
        if (n % 10 === 9) histogram.advance()
      })
      const sorted = input.toSorted((a, b) => a - b)
      for (const part of [0.5, 0.99, 1]) {
        const exact = sorted[Math.ceil(sorted.length * part) - 1]!
        const step = exact < 100 ? 1 : exact < 1000 ? 10 : 100
        expect(histogram.percentile(part)).toBeGreaterThanOrEqual(exact)
        expect(histogram.percentile(part)).toBeLessThanOrEqual(exact + step)
      }
      expect(histogram.max).toBe(sorted.at(-1)!)
      for (let second = 0; second < 60; second++) histogram.advance()
      expect([histogram.percentile(0.5), histogram.max]).toEqual([0, 0])
    }),
  )
})
