import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { mergedRows, packChunk, readChunk } from './chunk'
import { hourMs } from './hours'
import { seriesKind, type Sample } from './kind'
import { BadPacking } from './packer'

const kind = seriesKind({
  name: 'orders',
  version: 1,
  columns: {
    color: { words: ['red', 'green', 'blue'] },
    weight: { decimals: 1 },
    shelf: { isSteady: true },
    label: { isSteady: true, isLarge: true },
    height: { decimals: 1, isDetail: true },
    width: { decimals: 1, isDetail: true },
    temperature: { decimals: 2 },
  },
})
type Order = Sample<typeof kind>
const key = { series: 7, part: 0, hour: 492_000 }

const tenth = fc.integer({ min: 0, max: 900_000 }).map(n => n / 10)
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: null })
const orders: fc.Arbitrary<Order[]> = fc.array(
  fc.record({
    series: fc.constant(key.series),
    part: fc.constant(key.part),
    at: fc.integer({ min: key.hour * hourMs, max: (key.hour + 1) * hourMs - 1 }),
    color: fc.constantFrom('red' as const, 'green' as const, 'blue' as const),
    weight: maybe(tenth),
    shelf: maybe(fc.integer({ min: 0, max: 999 })),
    label: maybe(fc.maxSafeNat().map(n => n % 2 ** 48)),
    height: maybe(tenth),
    width: maybe(tenth),
    temperature: maybe(fc.integer({ min: -5_000, max: 5_000 }).map(n => n / 100)),
  }),
)

test('a chunk returns the same rows, in any order', () => {
  fc.assert(
    fc.property(orders, input => {
      const { body, details } = packChunk(kind, key, input)
      expect(readChunk(kind, key, body, details)).toEqual(input)
    }),
  )
})

test('without details, a chunk returns everything else', () => {
  fc.assert(
    fc.property(orders, input => {
      const bare = input.map(one => ({ ...one, height: null, width: null }))
      expect(readChunk(kind, key, packChunk(kind, key, input).body, null)).toEqual(bare)
    }),
  )
})

test('merging sorts rows and removes duplicates', () => {
  fc.assert(
    fc.property(orders, fc.nat(), (input, cut) => {
      const distinct = mergedRows(kind, input)
      const at = cut % (input.length + 1)
      expect(mergedRows(kind, input.slice(at), distinct, input.slice(0, at)).map(one => one.at)).toEqual(
        distinct.map(one => one.at),
      )
      expect(distinct.map(one => one.at)).toEqual([...new Set(input.map(one => one.at))].sort((a, b) => a - b))
    }),
  )
})

test('of duplicates, the one with more details is kept', () => {
  const one: Order = {
    series: 7,
    part: 0,
    at: 5,
    color: 'red',
    weight: 1,
    shelf: 2,
    label: 3,
    height: 4,
    width: 5,
    temperature: 6,
  }
  const bare = { ...one, height: null }
  expect(mergedRows(kind, [bare], [one])).toEqual([one])
  expect(mergedRows(kind, [one], [bare])).toEqual([one])
})

test('rows every 30 seconds need at most five bytes for four columns, without details', () => {
  const steady: Order[] = Array.from({ length: 120 }, (_, n) => ({
    series: 7,
    part: 0,
    at: key.hour * hourMs + 4_321 + n * 30_000 + ((n * 37) % 25),
    color: 'red',
    weight: 80 + ((n * 7919) % 400) / 10,
    shelf: 200,
    label: null,
    height: 12,
    width: 31,
    temperature: null,
  }))
  expect(packChunk(kind, key, steady).body.length / steady.length).toBeLessThan(5)
})

test('a truncated chunk or one of another version is rejected', () => {
  const { body } = packChunk(kind, key, [
    {
      series: 7,
      part: 0,
      at: key.hour * hourMs + 500_000,
      color: 'red',
      weight: 1234,
      shelf: 200,
      label: null,
      height: null,
      width: null,
      temperature: null,
    },
  ])
  expect(() => readChunk(kind, key, body.subarray(0, body.length - 1), null)).toThrow(BadPacking)
  expect(() => readChunk(kind, key, Uint8Array.of(9, ...body.subarray(1)), null)).toThrow(BadPacking)
  expect(() => readChunk(kind, key, new Uint8Array(), null)).toThrow(BadPacking)
})

test('a kind may have more columns than fit in one byte of flags', () => {
  const many = seriesKind({
    name: 'many',
    version: 1,
    columns: Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`column${n}`, { isDetail: n % 3 === 0 }])),
  })
  const rows = [0, 1].map(row => ({
    series: 7,
    part: 0,
    at: key.hour * hourMs + row,
    ...Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`column${n}`, (n + row) % 4 === 0 ? null : n - 30])),
  })) as Sample<typeof many>[]
  const { body, details } = packChunk(many, key, rows)
  expect(readChunk(many, key, body, details)).toEqual(rows)
})
