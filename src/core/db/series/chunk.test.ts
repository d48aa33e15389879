import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Beat } from '../series'
import { hourMs, mergedBeats, packChunk, readChunk } from './chunk'
import { BadPacking } from './packer'

const key = { monitor: 7, location: 0, hour: 492_000 }

const tenth = fc.integer({ min: 0, max: 900_000 }).map(n => n / 10)
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: null })
const beats: fc.Arbitrary<Beat[]> = fc.array(
  fc.record({
    monitor: fc.constant(key.monitor),
    location: fc.constant(key.location),
    at: fc.integer({ min: key.hour * hourMs, max: (key.hour + 1) * hourMs - 1 }),
    status: fc.constantFrom('up' as const, 'degraded' as const, 'down' as const),
    ms: maybe(tenth),
    code: maybe(fc.integer({ min: 0, max: 999 })),
    error: maybe(fc.nat()),
    dns: maybe(tenth),
    connect: maybe(tenth),
    tls: maybe(tenth),
    firstByte: maybe(tenth),
  }),
)

test('a chunk gives back the beats that were put in, in whatever order they came', () => {
  fc.assert(
    fc.property(beats, given => {
      const { body, phases } = packChunk(key, given)
      expect(readChunk(key, body, phases)).toEqual(given)
    }),
  )
})

test('without its phases a chunk gives all but them', () => {
  fc.assert(
    fc.property(beats, given => {
      const bare = given.map(beat => ({ ...beat, dns: null, connect: null, tls: null, firstByte: null }))
      expect(readChunk(key, packChunk(key, given).body, null)).toEqual(bare)
    }),
  )
})

test('merging takes each time once, in order, whatever of it is taken twice', () => {
  fc.assert(
    fc.property(beats, fc.nat(), (given, cut) => {
      const distinct = mergedBeats(given)
      const at = cut % (given.length + 1)
      expect(mergedBeats(given.slice(at), distinct, given.slice(0, at)).map(beat => beat.at)).toEqual(
        distinct.map(beat => beat.at),
      )
      expect(distinct.map(beat => beat.at)).toEqual([...new Set(given.map(beat => beat.at))].sort((a, b) => a - b))
    }),
  )
})

test('an hour of checks every thirty seconds takes five octets a beat at most, without its phases', () => {
  const steady: Beat[] = Array.from({ length: 120 }, (_, n) => ({
    monitor: 7,
    location: 0,
    at: key.hour * hourMs + 4_321 + n * 30_000 + ((n * 37) % 25),
    status: 'up',
    ms: 80 + ((n * 7919) % 400) / 10,
    code: 200,
    error: null,
    dns: 0,
    connect: 12,
    tls: 31,
    firstByte: 40,
  }))
  expect(packChunk(key, steady).body.length / steady.length).toBeLessThan(5)
})

test('a chunk that was cut or is of another version is told from a good one', () => {
  const { body } = packChunk(key, [
    {
      monitor: 7,
      location: 0,
      at: key.hour * hourMs + 500_000,
      status: 'up',
      ms: 1234,
      code: 200,
      error: null,
      dns: null,
      connect: null,
      tls: null,
      firstByte: null,
    },
  ])
  expect(() => readChunk(key, body.subarray(0, body.length - 1), null)).toThrow(BadPacking)
  expect(() => readChunk(key, Uint8Array.of(9, ...body.subarray(1)), null)).toThrow(BadPacking)
  expect(() => readChunk(key, new Uint8Array(), null)).toThrow(BadPacking)
})
