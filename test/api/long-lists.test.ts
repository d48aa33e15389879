import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { events } from '../../src/core/db/tables'
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
  const names = ['Österreich', 'STRAẞE', 'ΟΔΟΣ', 'Žižkov [1]', 'a*c', '100%']
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
  ] as const)
    expect([q, await found(q)]).toEqual([q, [name]])
  for (const q of ['[a-z]', 'a?c', '.*', 'x']) expect([q, await found(q)]).toEqual([q, []])
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
