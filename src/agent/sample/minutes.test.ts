import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { MinuteSums } from './minutes'

const start = Date.parse('2026-11-27T10:00:00Z')

test('a minute has the average and maximum of each metric, over the samples that have it', () => {
  const sums = new MinuteSums()
  expect(sums.add(start, new Map([['a', 1]]))).toBeNull()
  expect(
    sums.add(
      start + 10_000,
      new Map([
        ['a', 4],
        ['b', 10],
      ]),
    ),
  ).toBeNull()
  expect(sums.add(start + 59_999, new Map([['b', 20]]))).toBeNull()
  expect(sums.add(start + 60_000, new Map([['a', 9]]))).toEqual({ columns: ['a', 'b'], row: [start, 3, [2.5, 15], [4, 20]] })
  expect(sums.end()).toEqual({ columns: ['a'], row: [start + 60_000, 1, [9], [9]] })
  expect(sums.end()).toBeNull()
})

test('a sample is in the minute that contains most of the time since the one before, and ends it at its end', () => {
  const sums = new MinuteSums()
  for (let at = 10_000; at < 60_000; at += 10_000)
    expect(sums.add(start + at, new Map([['a', 1]]), start + at - 10_000)).toBeNull()
  expect(sums.add(start + 60_003, new Map([['a', 7]]), start + 50_000)).toEqual({ columns: ['a'], row: [start, 6, [2], [7]] })
  expect(sums.end()).toBeNull()
  expect(sums.add(start + 70_000, new Map([['a', 3]]), start + 60_003)).toBeNull()
  // One that is taken late ends the minute before, and its own with the next one.
  expect(sums.add(start + 181_000, new Map([['a', 4]]), start + 135_000)!.row[0]).toBe(start + 60_000)
  expect(sums.add(start + 190_000, new Map([['a', 5]]), start + 181_000)!.row).toEqual([start + 120_000, 1, [4], [4]])
})

test('a minute has at most as many samples as the hub accepts, also if the clock stands still', () => {
  const sums = new MinuteSums()
  for (let value = 1; value <= 99; value++) sums.add(start, new Map([['a', value]]))
  expect(sums.end()).toEqual({ columns: ['a'], row: [start, 60, [50], [99]] })
})

test('a clock that is set back starts another minute', () => {
  const sums = new MinuteSums()
  sums.add(start, new Map([['a', 1]]))
  expect(sums.add(start - 3_600_000, new Map([['a', 2]]))!.row[0]).toBe(start)
  expect(sums.end()!.row[0]).toBe(start - 3_600_000)
})

test('a minute has at most 300 metrics', () => {
  const sums = new MinuteSums()
  sums.add(start, new Map(Array.from({ length: 400 }, (_, at) => [`a${at}`, at])))
  expect(sums.end()!.columns).toHaveLength(300)
})

test('averages are between the lowest and the highest value, and maximums are the highest', () => {
  const values = fc.array(fc.double({ min: 0, max: 1e15, noNaN: true }), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(values, all => {
      const sums = new MinuteSums()
      for (const [at, value] of all.entries()) sums.add(start + at * 1000, new Map([['a', value]]))
      const [, samples, [average], [most]] = sums.end()!.row
      expect(samples).toBe(all.length)
      const slack = 1 + 1e-5
      expect(most! * slack >= Math.max(...all) && most! <= Math.max(...all) * slack).toBe(true)
      expect(average! * slack >= Math.min(...all) && average! <= most! * slack).toBe(true)
    }),
  )
})
