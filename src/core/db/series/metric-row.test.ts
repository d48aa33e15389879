import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Mean, packRow, readRow, type Measured } from './metric-row'
import { BadPacking } from './packer'

const read = (bytes: Uint8Array, columns: number) => {
  const found: (Measured | undefined)[] = Array.from({ length: columns }, () => undefined)
  readRow(bytes, columns, (column, avg, max, n) => (found[column] = { avg, max, n }))
  return found
}

const value = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 })
const measured = fc
  .record({ n: fc.integer({ min: 1, max: 5_000 }), a: value, b: value })
  .map(({ n, a, b }): Measured => ({ n, avg: Math.min(a, b), max: Math.max(a, b) }))

test('a row is read as it was packed, to 16 bits of the average, and with a maximum that is not below the real one', () => {
  fc.assert(
    fc.property(fc.array(fc.option(measured, { nil: undefined }), { maxLength: 50 }), columns => {
      const found = read(packRow(columns), columns.length)
      for (const [at, one] of columns.entries()) {
        const stored = found[at]
        if (!one) expect(stored).toBeUndefined()
        if (!one || !stored) continue
        expect(stored.n).toBe(one.n)
        expect(Math.abs(stored.avg - one.avg)).toBeLessThanOrEqual(Math.abs(one.avg) * 2 ** -16 + 1e-40)
        expect(stored.max).toBeGreaterThanOrEqual(one.max)
        expect(stored.max - one.max).toBeLessThanOrEqual(Math.abs(one.max) * 2 ** -7 + 1e-38)
        expect(stored.avg).toBeLessThanOrEqual(stored.max)
      }
    }),
  )
})

test('whole numbers, 100 percent, and zero are exact', () => {
  const columns = [0, 1, 100, 64, 1024, 255].map(one => ({ n: 6, avg: one, max: one }))
  expect(read(packRow(columns), 6)).toEqual(columns)
})

test('a row takes five octets for each column, and three for all', () => {
  const columns = Array.from({ length: 40 }, (_, at) => ({ n: 60, avg: at / 3, max: at }))
  expect(packRow(columns).length).toBe(2 + 40 * 5)
  // Only columns with different numbers of samples have theirs.
  expect(packRow([columns[0]!, { n: 59, avg: 1, max: 1 }, undefined]).length).toBe(2 + 3 + 3 * 5)
})

test('the average is weighted by samples, and the maximum is the highest of all', () => {
  fc.assert(
    fc.property(fc.array(measured, { minLength: 1, maxLength: 20 }), rows => {
      const mean = new Mean()
      for (const one of rows) mean.add(one.avg, one.max, one.n)
      const n = rows.reduce((sum, one) => sum + one.n, 0)
      const max = Math.max(...rows.map(one => one.max))
      const exact = rows.reduce((sum, one) => sum + one.avg * one.n, 0) / n
      const scale = Math.max(...rows.map(one => Math.abs(one.avg)))
      expect(mean.n).toBe(n)
      expect(mean.max).toBe(max)
      expect(Math.abs(mean.avg - exact)).toBeLessThanOrEqual(scale * 1e-9)
    }),
  )
})

test('a row that is too short is refused', () => {
  const bytes = packRow([{ n: 1, avg: 1, max: 1 }])
  expect(() => read(bytes.slice(0, 5), 1)).toThrow(BadPacking)
  expect(() => read(bytes, 2)).toThrow(BadPacking)
})
