import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ServerUsage } from '../clouds/cloud'
import { measuredUsage } from './rates'

const usage = (more: Partial<ServerUsage> = {}): ServerUsage => ({
  cpu: null,
  memoryBytes: null,
  received: null,
  sent: null,
  read: null,
  written: null,
  ...more,
})
const measured = (seconds: number, before: Partial<ServerUsage>, after: Partial<ServerUsage>) =>
  Object.fromEntries(measuredUsage({ at: seconds * 1000, usage: usage(after) }, { at: 0, usage: usage(before) }))

test('counters become rates, and the time of all cores together is 100 percent', () => {
  expect(
    measured(
      30,
      { cpu: { seconds: 100, cores: 4 }, received: 1000, written: 0 },
      { cpu: { seconds: 160, cores: 4 }, received: 31_000, written: 0, memoryBytes: 7 },
    ),
  ).toEqual({
    'cpu.used_percent': 50,
    'memory.used_bytes': 7,
    'network.received_bytes_per_second': 1000,
    'disk.write_bytes_per_second': 0,
  })
  expect(measured(30, {}, { cpu: { percent: 12.5 } })).toEqual({ 'cpu.used_percent': 12.5 })
})

test('a counter without a comparable previous one gives no value', () => {
  const now = { cpu: { seconds: 5, cores: 1 }, received: 10, memoryBytes: 1 }
  const none = { 'memory.used_bytes': 1 }
  expect(Object.fromEntries(measuredUsage({ at: 0, usage: usage(now) }, undefined))).toEqual(none)
  expect(measured(30, { cpu: { seconds: 6, cores: 1 }, received: 11 }, now)).toEqual(none)
  expect(measured(30, { cpu: { percent: 4 } }, now)).toEqual(none)
  // It is not known when it happened.
  expect(measured(300, { cpu: { seconds: 1, cores: 1 }, received: 1 }, now)).toEqual(none)
  expect(measured(0, { cpu: { seconds: 1, cores: 1 }, received: 1 }, now)).toEqual(none)
  expect(measured(30, { cpu: { seconds: 1, cores: 0 } }, { cpu: { seconds: 2, cores: 0 } })).toEqual({})
})

test('no counters give a negative rate, or a use of more than all cores', () => {
  const counter = fc.option(fc.nat(), { nil: null })
  const cpu = fc.option(fc.record({ seconds: fc.nat(), cores: fc.nat({ max: 64 }) }), { nil: null })
  const any = fc.record({ cpu, memoryBytes: counter, received: counter, sent: counter, read: counter, written: counter })
  fc.assert(
    fc.property(fc.integer({ min: -400, max: 400 }), any, any, (seconds, before, after) => {
      for (const [name, value] of Object.entries(measured(seconds, before, after))) {
        expect(value).toBeGreaterThanOrEqual(0)
        if (name === 'cpu.used_percent') expect(value).toBeLessThanOrEqual(100)
      }
    }),
  )
})
