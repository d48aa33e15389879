import { expect, test } from 'bun:test'
import { priceInMicros, priceOf } from './catalog'

test('amounts are rounded to millionths', () => {
  expect(
    ['4.5101000000000000', '0.5950000000000000', '3', '0.0000004', '0.0000005', '0.9999995', '12.34'].map(priceInMicros),
  ).toEqual([4_510_100, 595_000, 3_000_000, 0, 1, 1_000_000, 12_340_000])
})

test('anything else is not an amount', () => {
  for (const one of ['', '-1', '1e3', '1,5', '.5', 'free', '1234567890', 1, null, undefined])
    expect(priceInMicros(one)).toBeNull()
})

test('a price is the sum of the size, its backups, and an address', () => {
  const price = (monthlyMicros: number) => ({ monthlyMicros, currency: 'EUR' })
  const offers = [{ location: 'fsn1', price: price(3_333_333), available: true }]
  const resources = { cores: 1, memoryBytes: 1, diskBytes: 1 }
  const size = { slug: 'cx1', title: 'CX1', resources, architecture: 'x86', sharedCores: true, unavailableAfter: null, offers }
  const extras = {
    ipv4: [{ location: 'fsn1', price: price(500_000) }],
    backupPercent: 20,
    volumePerGb: null,
    snapshotPerGb: null,
  }
  const catalog = { locations: [], sizes: [size], images: [], networks: [], extras }
  const order = { size: { slug: 'cx1' }, location: 'fsn1', enableIpv4: true, backups: true }
  expect(priceOf(catalog, order)).toEqual(price(3_333_333 + 666_667 + 500_000))
  expect(priceOf(catalog, { ...order, enableIpv4: false, backups: false })).toEqual(price(3_333_333))
  expect(priceOf({ ...catalog, extras: { ...extras, backupPercent: null } }, order)).toBeNull()
  expect(priceOf({ ...catalog, extras: undefined as never }, order)).toBeNull()
})
