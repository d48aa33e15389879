import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { events } from '../../src/core/db/tables'
import { accessOf } from '../../src/core/list-access'
import { sortColumns } from '../../src/core/list'
import { wordsFilter } from '../../src/core/list-filters'
import type { Listing } from '../../src/core/listing'
import { dnsZones } from '../../src/features/dns/zones/tables'
import { zoneListing } from '../../src/features/dns/zones/zones'
import { monitorListing } from '../../src/features/monitors/listing'
import { insertRows } from '../../src/core/db/insert-rows'
import { world, type Caller } from '../support/world'

test('a filter without an index examines 10,000 rows for a page, and the cursor continues from there', async () => {
  const { hub, acme } = await world()
  await acme.call('POST', '/v1/dns/zones', { name: 'example.com' })
  const [event] = await hub.read.select().from(events).where(eq(events.resourceType, 'zone'))
  const number = 21_000
  await record(hub, async tx => {
    // Copies of one event. None is about a monitor.
    const copies = Array.from({ length: number }, (_, n) => ({
      ...event!,
      id: `evt_${n}`,
      position: 1000 + n,
      sequence: 1000 + n,
      ...(n === 0 && { resourceType: 'heartbeat' }),
      ...(n < 10_000 && { resourceId: 'zone_1' }),
    }))
    await insertRows(tx, events, copies)
    return { result: undefined }
  })
  const pages = await pagesOf(acme, '/v1/events?resource_type=monitor&limit=10')
  expect(pages.map(one => one.data.length)).toEqual([0, 0, 0])
  // What is found is returned at once, newest first.
  const all = await pagesOf(acme, '/v1/events?resource_type=zone&limit=100', 2)
  expect(all.map(one => one.data[0].id)).toEqual([`evt_${number - 1}`, `evt_${number - 101}`])
  const counted = await acme.call('GET', '/v1/events?resource_type=zone&include=total')
  expect(counted.body.pagination.total).toBe(10_000)
  // The total counts the rows examined for the first page, which doesn't reach the oldest event.
  const oldest = await acme.call('GET', '/v1/events?resource_type=heartbeat&include=total')
  expect([oldest.body.data, oldest.body.pagination.total]).toEqual([[], 0])
  // A list with exactly this many rows ends with them.
  const ofOne = await pagesOf(acme, '/v1/events?resource_id=zone_1&resource_type=heartbeat&limit=1')
  expect(ofOne.map(one => one.data.length)).toEqual([1])
  expect((await pagesOf(acme, '/v1/events?resource_id=zone_1&resource_type=monitor')).length).toBe(1)
})

test('a page without a sort order is in the order of its time filter', async () => {
  const { acme, clock } = await world()
  for (const name of ['a', 'b', 'c']) {
    await acme.call('POST', '/v1/tokens', { name, mode: 'full' })
    clock.advance(1000)
  }
  const { body } = await acme.call('GET', '/v1/audit-events?action=account.token.create&limit=3')
  const [c, b, a] = body.data
  const times = new URLSearchParams({ 'occurred_at[gte]': a.occurred_at, 'occurred_at[lt]': c.occurred_at, limit: '1' })
  const pages = await pagesOf(acme, `/v1/audit-events?${times}`)
  expect(pages.flatMap(one => one.data.map((entry: any) => entry.id)).slice(0, 2)).toEqual([b.id, a.id])
})

test('a large list can’t be sorted by several fields without an index', async () => {
  const { acme } = await world()
  const { status, body } = await acme.call('GET', '/v1/audit-events?sort=occurred_at,-seq')
  expect([status, body.errors]).toEqual([
    400,
    [{ pointer: '#/query/sort', code: 'invalid_parameter', detail: 'has too many fields for this list. Sort by one field.' }],
  ])
})

test('search ignores the case of all letters', async () => {
  const { acme } = await world()
  const names = ['Österreich', 'STRAẞE', 'ΟΔΟΣ', 'Žižkov [1]', 'a*c', '100%', 'x^y', 'd_e', 'f\\g', '12 \u{212a}']
  for (const name of names) {
    const created = await acme.call('POST', '/v1/heartbeats', {
      name,
      schedule: { kind: 'period', period_seconds: 60, grace_seconds: 60 },
    })
    expect([name, created.body.errors]).toEqual([name, undefined])
  }
  const found = async (q: string) =>
    (await acme.call('GET', `/v1/heartbeats?${new URLSearchParams({ q })}`)).body.data.map((one: any) => one.name)
  for (const [q, name] of [
    ['österreich', 'Österreich'],
    ['ÖSTER', 'Österreich'],
    ['straße', 'STRAẞE'],
    ['οδος', 'ΟΔΟΣ'],
    ['žIžKOV [1', 'Žižkov [1]'],
    ['A*C', 'a*c'],
    ['0%', '100%'],
    ['^', 'x^y'],
    ['X^', 'x^y'],
    ['_', 'd_e'],
    ['F\\', 'f\\g'],
    ['KOV', 'Žižkov [1]'],
    ['1 KOV ž', 'Žižkov [1]'],
    // The sign of the unit kelvin.
    ['12 k', '12 \u{212a}'],
  ] as const)
    expect([q, await found(q)]).toEqual([q, [name]])
  for (const q of ['[a-z]', 'a?c', '.*', 'xa']) expect([q, await found(q)]).toEqual([q, []])
})

test('exact filters on columns with an index find rows without examining others', () => {
  const found = (listing: Listing<any>, query: Record<string, unknown>, sort = '-id') =>
    accessOf(listing as never, sortColumns(listing, [sort]) as never, query, Object.keys(query), false)
  const all = (name: string) => ({ found: [name], checked: [] })
  expect(found(zoneListing, { name: 'example.com' })).toMatchObject(all('name'))
  expect(found(zoneListing, { name: 'example.com' }, 'created_at')).toMatchObject(all('name'))
  expect(found(zoneListing, { name: 'shop*' }, 'name')).toMatchObject(all('name'))
  expect(found(zoneListing, { state: 'synced' })).toMatchObject(all('state'))
  expect(found(monitorListing, { key: 'shop' })).toMatchObject(all('key'))
  expect(found(monitorListing, { group: { ids: ['a'], isIn: true } })).toMatchObject(all('group'))
})

test('monitors with problems first are read in the order of an index', () => {
  const order = sortColumns(monitorListing, ['status', 'name'])
  const indexed = { ...monitorListing, isSmall: false }
  expect(accessOf(indexed as never, order as never, {}, [], false)).toMatchObject({ found: [], checked: [], checksOwner: false })
})

test('several values are looked up one by one only in an index with the owner', () => {
  const filters = { name: wordsFilter(dnsZones.name, ['a', 'b'], '') }
  const listing = { ...zoneListing, filters }
  expect(
    accessOf(listing as never, sortColumns(listing, ['-name']) as never, { name: ['a', 'b'] }, ['name'], false),
  ).toMatchObject({
    checksOwner: false,
  })
})

/** Reads up to `max` pages. */
async function pagesOf(caller: Caller, address: string, max = 10): Promise<any[]> {
  const pages = []
  for (let cursor = ''; pages.length < max;) {
    const { body } = await caller.call('GET', `${address}${cursor}`)
    pages.push(body)
    if (!body.pagination.has_more) break
    cursor = `&cursor=${encodeURIComponent(body.pagination.next_cursor)}`
  }
  return pages
}
