import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Reader } from '../../src/core/db/transaction'
import { pruneHistory } from '../../src/features/dns/history/retention'
import { readZoneSnapshot } from '../../src/features/dns/publish/zone-snapshot'
import { zoneEdit } from '../support/zone-edits'
import { world, type Caller } from '../support/world'
import { createZone } from '../support/zones'

const exported = (caller: Caller, id: string, query = '') => caller.call('GET', `/v1/dns/zones/${id}/export${query}`)
const texts = async (caller: Caller, id: string, query = '') =>
  await Promise.all(['bind', 'json'].map(async format => (await exported(caller, id, `?format=${format}${query}`)).text))
const versionOf = async (caller: Caller, id: string): Promise<number> =>
  (await caller.call('GET', `/v1/dns/zones/${id}`)).body.version

test('any version of a zone can be exported', async () => {
  const { acme } = await world()
  let zones = 0
  await fc.assert(
    fc.asyncProperty(fc.array(zoneEdit, { minLength: 2, maxLength: 10 }), async edits => {
      const { id } = await createZone(acme, `zone${++zones}.example`)
      const seen = new Map([[1, await texts(acme, id)]])
      for (const edit of edits) {
        await edit(acme, id)
        seen.set(await versionOf(acme, id), await texts(acme, id))
      }
      for (const [version, then] of seen) expect(await texts(acme, id, `&version=${version}`)).toEqual(then)
    }),
    { numRuns: 12 },
  )
}, 180_000)

test('an export of a version is named after it, and can be imported', async () => {
  const { acme } = await world()
  const { id } = await createZone(acme)
  await acme.call('POST', `/v1/dns/zones/${id}/records`, { type: 'TXT', name: 'a', content: 'first', tags: ['x'], comment: 'c' })
  await acme.call('PATCH', `/v1/dns/zones/${id}`, { soa: { refresh: 1234 } })
  const [, then] = await texts(acme, id)
  await acme.call('PUT', `/v1/dns/zones/${id}/rrsets`, {
    rrsets: [
      { name: 'a', type: 'TXT', records: [{ content: 'second' }], comment: null },
      { name: 'b', type: 'A', records: [{ content: '192.0.2.1' }] },
    ],
  })
  await acme.call('PATCH', `/v1/dns/zones/${id}`, { soa: { refresh: 4321 } })
  const answer = await exported(acme, id, '?format=json&version=3')
  expect(answer.headers.get('content-disposition')).toContain('"example.com-3.json"')
  expect(answer.text).toBe(then!)
  const { serial, ...back } = JSON.parse(answer.text)
  expect((await acme.call('POST', `/v1/dns/zones/${id}/import?mode=replace`, back)).status).toBe(200)
  const { serial: after, ...now } = JSON.parse((await texts(acme, id))[1]!)
  expect(now).toEqual(back)
  expect(after).toBeGreaterThan(serial)
})

test('unknown and pruned versions are rejected', async () => {
  const w = await world()
  const { id } = await createZone(w.acme)
  const add = (name: string) => w.acme.call('POST', `/v1/dns/zones/${id}/records`, { type: 'A', name, content: '192.0.2.1' })
  for (const name of ['a', 'b', 'c', 'd']) await add(name)
  const later = await exported(w.acme, id, '?version=6')
  expect([later.status, later.body.code]).toEqual([404, 'not_found'])
  expect(later.body.detail).toBe('The zone has no version 6. Available versions: 1 to 5.')
  for (const wrong of ['0', '-1', '1.5', 'first', '99999999999999999999'])
    expect((await exported(w.acme, id, `?version=${wrong}`)).status).toBeOneOf([400, 404])
  expect((await exported(w.rival, id, '?version=1')).status).toBe(404)
  await w.limit(w.acme.workspaceId, { dns_history_days: 1 })
  w.clock.advance(2 * 86_400_000)
  await pruneHistory(w.hub, 2)
  expect((await exported(w.acme, id, '?version=1')).body.detail).toContain('Available versions: 3 to 5.')
  expect((await exported(w.acme, id, '?version=3')).text).toContain('\nb ')
  expect((await exported(w.acme, id, '?version=3')).text).not.toContain('\nc ')
})

test('a zone that changes while being read is read at one version', async () => {
  const { hub, acme } = await world()
  const { id } = await createZone(acme)
  const lab = (from: number, to: number, address: string) =>
    acme.call('POST', `/v1/dns/zones/${id}/import?mode=merge`, `$TTL 60\n$GENERATE ${from}-${to} lab-$ A ${address}\n`, {
      'content-type': 'text/dns',
    })
  await lab(1, 2500, '192.0.2.1')
  const then = await readZoneSnapshot(hub.read, id)
  // After each read, some records are updated, deleted and added.
  let reads = 0
  const edited = async <T>(rows: Promise<T>): Promise<T> => {
    const found = await rows
    reads++
    await lab(500, 1800, `192.0.2.${1 + reads}`)
    const [record] = (await acme.call('GET', `/v1/dns/zones/${id}/records?name=lab-*&sort=-name&limit=1`)).body.data
    await acme.call('DELETE', `/v1/dns/records/${record.id}`)
    await lab(10_000 * reads, 10_000 * reads + 9, '192.0.2.99')
    return found
  }
  const restless = {
    select(fields?: object) {
      const query = hub.read.select(fields as never)
      return fields && 'rdata' in fields ? withFollowUp(query, edited) : query
    },
  } as unknown as Reader
  const found = await readZoneSnapshot(restless, id)
  expect(reads).toBeGreaterThan(1)
  const lines = (zone: NonNullable<typeof found>) =>
    zone.published.rrsets
      .map(({ name, type, ttl, rdata }) => `${name} ${type} ${ttl} ${rdata.map(one => Buffer.from(one).toString('hex')).join()}`)
      .sort()
  expect(lines(found!)).toEqual(lines(then!))
  expect({ ...found!.published, rrsets: [] }).toEqual({ ...then!.published, rrsets: [] })
  expect(await readZoneSnapshot(restless, 'zone_none')).toBe(null)
}, 180_000)

/** Wraps a query to run a function after it. */
function withFollowUp<T extends object>(query: T, after: (rows: Promise<any>) => Promise<any>): T {
  return new Proxy(query, {
    get(target, member) {
      const value = (target as any)[member]
      if (member === 'then') return (...args: [any, any]) => after(Promise.resolve(target as any)).then(...args)
      return typeof value === 'function' ? (...args: any[]) => withFollowUp(value.apply(target, args), after) : value
    },
  })
}
