import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Reader } from '../../src/core/db/transaction'
import { pruneHistory } from '../../src/features/dns/history/retention'
import { readWholeZone } from '../../src/features/dns/whole-zone'
import { zoneEdit } from '../support/zone-edits'
import { world, type Caller } from '../support/world'
import { zoneMade } from '../support/zones'

const exported = (caller: Caller, id: string, query = '') => caller.call('GET', `/v1/dns/zones/${id}/export${query}`)
const texts = async (caller: Caller, id: string, query = '') =>
  await Promise.all(['bind', 'json'].map(async format => (await exported(caller, id, `?format=${format}${query}`)).text))
const versionOf = async (caller: Caller, id: string): Promise<number> =>
  (await caller.call('GET', `/v1/dns/zones/${id}`)).body.version

test('a zone is exported as it was at any version, whatever happened since', async () => {
  const { acme } = await world()
  let zones = 0
  await fc.assert(
    fc.asyncProperty(fc.array(zoneEdit, { minLength: 2, maxLength: 10 }), async edits => {
      const { id } = await zoneMade(acme, `zone${++zones}.example`)
      const seen = new Map([[1, await texts(acme, id)]])
      for (const edit of edits) {
        await edit(acme, id)
        seen.set(await versionOf(acme, id), await texts(acme, id))
      }
      for (const [version, then] of seen) expect(await texts(acme, id, `&version=${version}`)).toEqual(then)
    }),
    { numRuns: 12 },
  )
}, 120_000)

test('an export of a version is named by it, and comes back in by an import', async () => {
  const { acme } = await world()
  const { id } = await zoneMade(acme)
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

test('a version that the zone has not had, or of which nothing is kept any more, is refused', async () => {
  const w = await world()
  const { id } = await zoneMade(w.acme)
  const add = (name: string) => w.acme.call('POST', `/v1/dns/zones/${id}/records`, { type: 'A', name, content: '192.0.2.1' })
  for (const name of ['a', 'b', 'c', 'd']) await add(name)
  const later = await exported(w.acme, id, '?version=6')
  expect([later.status, later.body.code]).toEqual([404, 'not_found'])
  expect(later.body.detail).toBe('There is no such version of the zone. It is at 5, and can be told back to 1.')
  for (const wrong of ['0', '-1', '1.5', 'first', '99999999999999999999'])
    expect((await exported(w.acme, id, `?version=${wrong}`)).status).toBeOneOf([400, 404])
  expect((await exported(w.rival, id, '?version=1')).status).toBe(404)
  await w.limit(w.acme.workspaceId, { dns_history_days: 1 })
  w.clock.advance(2 * 86_400_000)
  await pruneHistory(w.hub, 2)
  expect((await exported(w.acme, id, '?version=1')).body.detail).toContain('It is at 5, and can be told back to 3.')
  expect((await exported(w.acme, id, '?version=3')).text).toContain('\nb ')
  expect((await exported(w.acme, id, '?version=3')).text).not.toContain('\nc ')
})

test('a zone that changes while it is read is read as of one version', async () => {
  const { hub, acme } = await world()
  const { id } = await zoneMade(acme)
  const lab = (from: number, to: number, address: string) =>
    acme.call('POST', `/v1/dns/zones/${id}/import?mode=merge`, `$TTL 60\n$GENERATE ${from}-${to} lab-$ A ${address}\n`, {
      'content-type': 'text/dns',
    })
  await lab(1, 2500, '192.0.2.1')
  const then = await readWholeZone(hub.read, id)
  // After each look at its records they are others: some are edited, some go, some are new.
  let looks = 0
  const edited = async <T>(rows: Promise<T>): Promise<T> => {
    const found = await rows
    looks++
    await lab(500, 1800, `192.0.2.${1 + looks}`)
    const [record] = (await acme.call('GET', `/v1/dns/zones/${id}/records?name=lab-*&sort=-name&limit=1`)).body.data
    await acme.call('DELETE', `/v1/dns/records/${record.id}`)
    await lab(10_000 * looks, 10_000 * looks + 9, '192.0.2.99')
    return found
  }
  const restless = {
    select(fields?: object) {
      const query = hub.read.select(fields as never)
      return fields && 'rdata' in fields ? followed(query, edited) : query
    },
  } as unknown as Reader
  const found = await readWholeZone(restless, id)
  expect(looks).toBeGreaterThan(1)
  const lines = (zone: NonNullable<typeof found>) =>
    zone.published.rrsets
      .map(({ name, type, ttl, rdata }) => `${name} ${type} ${ttl} ${rdata.map(one => Buffer.from(one).toString('hex')).join()}`)
      .sort()
  expect(lines(found!)).toEqual(lines(then!))
  expect({ ...found!.published, rrsets: [] }).toEqual({ ...then!.published, rrsets: [] })
  expect(await readWholeZone(restless, 'zone_none')).toBe(null)
}, 60_000)

/** A query that does what it did, and then something else. */
function followed<T extends object>(query: T, after: (rows: Promise<any>) => Promise<any>): T {
  return new Proxy(query, {
    get(target, member) {
      const value = (target as any)[member]
      if (member === 'then') return (...given: [any, any]) => after(Promise.resolve(target as any)).then(...given)
      return typeof value === 'function' ? (...given: any[]) => followed(value.apply(target, given), after) : value
    },
  })
}
