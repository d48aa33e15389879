import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { tiers } from '../../../core/db/series/metric-tiers'
import { Grid, rounded } from './grid'

test('values are rounded to five digits', () => {
  const values = fc.oneof(
    fc.float({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.double({ min: 0, max: 100, noNaN: true }),
  )
  fc.assert(
    fc.property(values, value => {
      const found = rounded(value)
      expect(Number(found.toPrecision(5))).toBe(found)
      expect(Math.abs(found - value)).toBeLessThanOrEqual(Math.abs(value) * 0.50001e-4)
    }),
  )
  expect([0.1, 99.9996, 1e-30, 123456, -2147483648, 1e38].map(rounded)).toEqual([0.1, 100, 1e-30, 123460, -2147500000, 1e38])
})

test('values of a point are averaged by their samples, and those outside of the window are ignored', () => {
  const grid = new Grid({ from: 60_000, to: 360_000, stepMs: 120_000, points: 3, tier: tiers[0] }, 'agent', { type: ['cpu'] })
  expect(grid.columnOf('memory.used_bytes')).toBe(null)
  const used = grid.columnOf('cpu.used_percent')!
  const take = (...value: [at: number, avg: number, max: number, n: number]) => grid.take(used, ...value)
  take(0, 99, 99, 6)
  take(60_000, 10, 40, 6)
  take(120_000, 40, 50, 3)
  take(300_000, 7, 7, 6)
  take(420_000, 99, 99, 6)
  grid.take(grid.columnOf('cpu.user_percent')!, 0, 1, 1, 6)
  expect(grid.series()).toEqual([
    { name: 'cpu.used_percent', device: null, unit: 'percent', source: 'agent', avg: [20, null, 7], max: [50, null, 7] },
  ])
})

test('at most 1,000 columns are collected', () => {
  const grid = new Grid({ from: 0, to: 60_000, stepMs: 60_000, points: 1, tier: tiers[0] }, 'agent', { type: ['disk'] })
  expect(grid.columnOf('cpu.used_percent')).toBe(null)
  const columns = Array.from({ length: 1200 }, (_, at) => grid.columnOf(`disk.busy_percent sd${at}`))
  expect(columns.filter(one => one !== null)).toHaveLength(1000)
  expect(columns.slice(1000)).toEqual(Array.from({ length: 200 }, () => null))
  grid.take(columns[999]!, 0, 7, 8, 1)
  expect(grid.series()).toMatchObject([{ device: 'sd999', avg: [7], max: [8] }])
})
