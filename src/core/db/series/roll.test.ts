import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Beat } from '../series'
import { Roll, Spread } from './roll'

const tenth = fc.integer({ min: 0, max: 600_000 }).map(n => n / 10)
const beat: fc.Arbitrary<Beat> = fc.record({
  monitor: fc.constant(1),
  location: fc.constant(0),
  at: fc.nat(),
  status: fc.constantFrom('up' as const, 'degraded' as const, 'down' as const),
  ms: fc.option(tenth, { nil: null }),
  code: fc.constant(null),
  error: fc.constant(null),
  dns: fc.option(tenth, { nil: null }),
  connect: fc.option(tenth, { nil: null }),
  tls: fc.option(tenth, { nil: null }),
  firstByte: fc.option(tenth, { nil: null }),
})

const rolled = (beats: readonly Beat[]): Roll => {
  const roll = new Roll()
  for (const one of beats) roll.add(one)
  return roll
}
const told = (roll: Roll) => ({
  counts: [roll.up, roll.degraded, roll.down],
  spreads: [roll.latency, ...Object.values(roll.phases)].map(spread => ({
    n: spread.n,
    mean: spread.mean,
    min: spread.min,
    max: spread.max,
    histogram: [...spread.histogram].sort(([a], [b]) => a - b),
  })),
})

test('what came of a span is what came of its parts together', () => {
  fc.assert(
    fc.property(fc.array(beat), fc.array(beat), (one, other) => {
      const merged = rolled(one)
      merged.merge(rolled(other))
      expect(told(merged)).toEqual(told(rolled([...one, ...other])))
    }),
  )
})

test('packing keeps it', () => {
  fc.assert(fc.property(fc.array(beat), beats => expect(told(Roll.read(rolled(beats).packed()))).toEqual(told(rolled(beats)))))
})

test('a percentile is off by a tenth of what it is at most, and lies between the least and the most', () => {
  const from = fc.array(
    fc.integer({ min: 10, max: 600_000 }).map(n => n / 10),
    { minLength: 1, maxLength: 300 },
  )
  fc.assert(
    fc.property(from, fc.constantFrom(0.01, 0.5, 0.95, 0.99, 1), (values, share) => {
      const spread = new Spread()
      for (const ms of values) spread.add(ms)
      const exact = values.toSorted((a, b) => a - b)[Math.max(1, Math.ceil(share * values.length)) - 1]!
      const found = spread.percentile(share)!
      expect(Math.abs(found - exact)).toBeLessThanOrEqual(exact * 0.1)
      expect(found).toBeGreaterThanOrEqual(Math.min(...values))
      expect(found).toBeLessThanOrEqual(Math.max(...values))
    }),
  )
})

test('of nothing there is neither a mean nor a percentile', () => {
  expect([new Spread().mean, new Spread().percentile(0.5)]).toEqual([null, null])
})

test('how long failures took does not count as how fast the target is', () => {
  const roll = rolled([
    {
      monitor: 1,
      location: 0,
      at: 0,
      status: 'up',
      ms: 20,
      code: null,
      error: null,
      dns: null,
      connect: null,
      tls: null,
      firstByte: null,
    },
    {
      monitor: 1,
      location: 0,
      at: 1,
      status: 'down',
      ms: 10_000,
      code: null,
      error: null,
      dns: null,
      connect: null,
      tls: null,
      firstByte: null,
    },
  ])
  expect([roll.n, roll.latency.max]).toEqual([2, 20])
})
