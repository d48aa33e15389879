import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { seriesKind, type Sample } from './kind'
import { Distribution, Rollup } from './rollup'

const kind = seriesKind({
  name: 'orders',
  version: 1,
  columns: {
    color: { words: ['red', 'green', 'blue'] },
    weight: { decimals: 1, rollup: 'distribution' },
    count: { rollup: 'sum' },
    coldest: { decimals: 1, rollup: 'min' },
    hottest: { decimals: 1, rollup: 'max' },
    stock: { rollup: 'last' },
    load: { decimals: 2, rollup: { meanBy: 'count' } },
    note: {},
  },
  isMeasured: row => row.color !== 'blue',
})
type Order = Sample<typeof kind>

const tenth = fc.integer({ min: 0, max: 600_000 }).map(n => n / 10)
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: null })
const order: fc.Arbitrary<Order> = fc.record({
  series: fc.constant(1),
  part: fc.constant(0),
  at: fc.nat(),
  color: fc.constantFrom('red' as const, 'green' as const, 'blue' as const),
  weight: maybe(tenth),
  count: maybe(fc.nat({ max: 1_000 })),
  coldest: maybe(tenth.map(n => 0 - n)),
  hottest: maybe(tenth),
  stock: maybe(fc.nat({ max: 1_000 })),
  load: maybe(fc.integer({ min: 0, max: 10_000 }).map(n => n / 100)),
  note: fc.constant(null),
})
const orderOf = (more: Partial<Order>): Order => ({
  series: 1,
  part: 0,
  at: 0,
  color: 'red',
  weight: null,
  count: null,
  coldest: null,
  hottest: null,
  stock: null,
  load: null,
  note: null,
  ...more,
})

const rollupOf = (rows: readonly Order[]): Rollup<typeof kind> => {
  const rollup = new Rollup(kind)
  for (const one of rows) rollup.add(one)
  return rollup
}
const summaryOf = ({ n, columns }: Rollup<typeof kind>) => ({
  n,
  colors: { ...columns.color.counts },
  weight: {
    n: columns.weight.n,
    mean: columns.weight.mean,
    min: columns.weight.min,
    max: columns.weight.max,
    histogram: [...columns.weight.histogram].sort(([a], [b]) => a - b),
  },
  values: [columns.count, columns.coldest, columns.hottest, columns.stock, columns.load].map(one => one.value),
})

test('the summary of a period equals the merged summaries of its parts', () => {
  fc.assert(
    fc.property(fc.array(order), fc.array(order), (one, other) => {
      const merged = rollupOf(one)
      merged.merge(rollupOf(other))
      expect(summaryOf(merged)).toEqual(summaryOf(rollupOf([...one, ...other])))
    }),
  )
})

test('packing is lossless', () => {
  fc.assert(
    fc.property(fc.array(order), rows =>
      expect(summaryOf(Rollup.read(kind, rollupOf(rows).packed()))).toEqual(summaryOf(rollupOf(rows))),
    ),
  )
})

test('a percentile has an error of at most 10% and is between minimum and maximum', () => {
  const from = fc.array(
    fc.integer({ min: 10, max: 600_000 }).map(n => n / 10),
    { minLength: 1, maxLength: 300 },
  )
  fc.assert(
    fc.property(from, fc.constantFrom(0.01, 0.5, 0.95, 0.99, 1), (values, share) => {
      const spread = new Distribution(10)
      for (const value of values) spread.add(Math.round(value * 10))
      const exact = values.toSorted((a, b) => a - b)[Math.max(1, Math.ceil(share * values.length)) - 1]!
      const found = spread.percentile(share)!
      expect(Math.abs(found - exact)).toBeLessThanOrEqual(exact * 0.1)
      expect(found).toBeGreaterThanOrEqual(Math.min(...values))
      expect(found).toBeLessThanOrEqual(Math.max(...values))
    }),
  )
})

test('without values, mean and percentiles are null', () => {
  expect([new Distribution(1).mean, new Distribution(1).percentile(0.5)]).toEqual([null, null])
})

test('each column is rolled up as declared', () => {
  const { columns } = rollupOf([
    orderOf({ count: 1, coldest: 5, hottest: 5, stock: 8, load: 10 }),
    orderOf({ count: 3, coldest: -2.5, hottest: 7.5, stock: 4, load: 20 }),
    orderOf({ color: 'green' }),
  ])
  expect(columns.color.counts).toEqual({ red: 2, green: 1, blue: 0 })
  expect([columns.count, columns.coldest, columns.hottest, columns.stock, columns.load].map(one => one.value)).toEqual([
    4, -2.5, 7.5, 4, 17.5,
  ])
  expect(Object.keys(columns)).not.toContain('note')
})

test('numbers of rows that are not measured are left out', () => {
  const rollup = rollupOf([orderOf({ weight: 20 }), orderOf({ color: 'blue', weight: 10_000, count: 5 })])
  expect([rollup.n, rollup.columns.weight.max, rollup.columns.count.value]).toEqual([2, 20, null])
})
