import { expect, test } from 'bun:test'
import { changesSince, holdMs, holdReason, type AddressChange } from './turns'

const minute = 60_000
const change = (at: number, address: string, userAgent = 'ddclient'): AddressChange => ({
  at: at * minute,
  family: 'ipv4',
  address,
  client: { address: `192.0.2.${userAgent.length}`, userAgent },
})
const inTurns = (count: number, everyMinutes: number) =>
  Array.from({ length: count }, (_, at) =>
    change(at * everyMinutes, `203.0.113.${1 + (at % 2)}`, at % 2 === 0 ? 'ddclient' : 'Fritz!Box'),
  )

test('two clients are detected at the sixth turn, and both are named', () => {
  expect(holdReason(inTurns(7, 2), 12 * minute)).toBeNull()
  expect(holdReason(inTurns(8, 2), 14 * minute)).toEqual({
    reason: 'two_clients',
    family: 'ipv4',
    clients: [
      { reported: '203.0.113.1', address: '192.0.2.8', userAgent: 'ddclient' },
      { reported: '203.0.113.2', address: '192.0.2.9', userAgent: 'Fritz!Box' },
    ],
  })
})

test('turns that are too slow, new addresses, and turns of different families don’t count', () => {
  expect(holdReason(inTurns(20, 6), 19 * 6 * minute)).toBeNull()
  const always = Array.from({ length: 20 }, (_, at) => change(at, `203.0.113.${at}`))
  expect(holdReason(always, 20 * minute)).toBeNull()
  const mixed = inTurns(8, 1).map((one, at) => ({ ...one, family: at < 4 ? ('ipv4' as const) : ('ipv6' as const) }))
  expect(holdReason(mixed, 8 * minute)).toBeNull()
})

test('more than 20 changes in an hour are flapping', () => {
  const changes = Array.from({ length: 21 }, (_, at) => change(at * 2.9, `203.0.113.${at}`))
  expect(holdReason(changes.slice(1), 59 * minute)).toBeNull()
  expect(holdReason(changes, 59 * minute)).toEqual({ reason: 'flapping', changes: 21 })
  expect(holdReason(changes, 61 * minute)).toBeNull()
  expect([changesSince(61 * minute), holdMs]).toEqual([minute, 30 * minute])
})
