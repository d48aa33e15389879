import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import fc from 'fast-check'
import { record } from '../../src/core/change'
import { dnsChangesetRrsets, dnsChangesets } from '../../src/features/dns/history/tables'
import { pruneHistory } from '../../src/features/dns/history/retention'
import { dnsRecords, dnsRrsets } from '../../src/features/dns/records/tables'
import { readDeltas } from '../../src/features/dns/history/deltas'
import type { Delta } from '../../src/features/dns/server/messages'
import { recordLine, servedText, zoneEdit } from '../support/zone-edits'
import { dnsTransfers } from '../../src/features/dns/transfers/tables'
import { world } from '../support/world'
import { createZone } from '../support/zones'

const day = 86_400_000
const many = 100_000

/** Applies deltas like a secondary. Each may only remove existing records and add missing ones. */
function applied(lines: ReadonlySet<string>, zoneName: string, deltas: readonly Delta[]): Set<string> {
  const after = new Set(lines)
  for (const { soaBefore, soaAfter, removed, added } of deltas) {
    const soa = { name: `${zoneName}.`, type: 'SOA' }
    for (const one of [...removed, { ...soa, ...soaBefore }]) expect(after.delete(recordLine(one))).toBeTrue()
    for (const one of [...added, { ...soa, ...soaAfter }]) {
      expect(after.has(recordLine(one))).toBeFalse()
      after.add(recordLine(one))
    }
  }
  return after
}

test('the deltas from any serial lead to the current zone', async () => {
  const w = await world()
  let zones = 0
  await fc.assert(
    fc.asyncProperty(fc.array(zoneEdit, { minLength: 1, maxLength: 12 }), async edits => {
      const zone = await createZone(w.acme, `zone${++zones}.example`)
      const seen = [await servedText(w, zone.id)]
      for (const edit of edits) {
        expect((await edit(w.acme, zone.id)).status).toBeOneOf([200, 201, 204, 409, 422])
        seen.push(await servedText(w, zone.id))
      }
      const now = seen.at(-1)!
      for (const { serial, lines } of seen) {
        const deltas = await readDeltas(w.hub.read, zone.id, serial, many)
        expect(deltas).not.toBeNull()
        const serials = deltas!.map(one => [one.fromSerial, one.toSerial])
        expect(serials.flat()).toEqual(
          serials.length === 0 ? [] : [serial, ...serials.slice(1).flatMap(([from]) => [from!, from!]), now.serial],
        )
        expect([...applied(lines, zone.name, deltas!)].sort()).toEqual([...now.lines].sort())
      }
    }),
    { numRuns: 12 },
  )
}, 180_000)

test('there are no deltas for unknown serials, before the first version, or above the record limit', async () => {
  const w = await world()
  const zone = await createZone(w.acme)
  for (const content of ['192.0.2.1', '192.0.2.2'])
    await w.acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { type: 'A', name: 'www', content })
  const deltas = (from: number, max = many) => readDeltas(w.hub.read, zone.id, from, max)
  expect(await deltas(3)).toEqual([])
  expect(await deltas(1)).toHaveLength(2)
  expect(await deltas(1, 6)).toHaveLength(2)
  expect(await deltas(1, 5)).toBeNull()
  expect(await deltas(0)).toBeNull()
  expect(await deltas(4)).toBeNull()
  expect(await readDeltas(w.hub.read, 'zone_01k3z8q4g7e2wv5m9x0c6hbtfn', 1, many)).toBeNull()
})

test('comments are not part of deltas', async () => {
  const w = await world()
  const zone = await createZone(w.acme)
  const { body } = await w.acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { type: 'A', name: 'www', content: '192.0.2.1' })
  await w.acme.call('PATCH', `/v1/dns/records/${body.id}`, { comment: 'web' })
  await w.acme.call('PATCH', `/v1/dns/records/${body.id}`, { ttl: 60 })
  const deltas = await readDeltas(w.hub.read, zone.id, 2, many)
  expect(deltas).toMatchObject([{ fromSerial: 2, toSerial: 3, removed: [{ ttl: 3600 }], added: [{ ttl: 60 }] }])
})

test('old changesets are pruned by plan retention, except the most recent ones of a zone', async () => {
  const w = await world()
  const zone = await createZone(w.acme)
  const record = { type: 'A', name: 'www' }
  for (const content of ['192.0.2.1', '192.0.2.2', '192.0.2.3'])
    await w.acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { ...record, content })
  const remaining = async (minKept: number) => {
    await pruneHistory(w.hub, minKept)
    const rows = [...(await w.hub.read.select().from(dnsChangesets)), ...(await w.hub.read.select().from(dnsChangesetRrsets))]
    return [...new Set(rows.map(row => row.version))].sort()
  }
  expect(await remaining(1)).toEqual([1, 2, 3, 4])
  await w.advance(365 * day + 1)
  await w.acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { ...record, content: '192.0.2.4' })
  expect(await remaining(1000)).toEqual([1, 2, 3, 4, 5])
  expect(await remaining(3)).toEqual([3, 4, 5])
  expect(await readDeltas(w.hub.read, zone.id, 1, many)).toBeNull()
  expect(await readDeltas(w.hub.read, zone.id, 2, many)).toHaveLength(3)
  expect(await remaining(0)).toEqual([5])
})

test('there are no deltas for changesets that are being pruned', async () => {
  const w = await world()
  const zone = await createZone(w.acme)
  for (const content of ['192.0.2.1', '192.0.2.2'])
    await w.acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { type: 'A', name: 'www', content })
  await record(w.hub, async tx => {
    await tx.delete(dnsChangesetRrsets).where(eq(dnsChangesetRrsets.version, 2))
    return { result: undefined }
  })
  expect(await readDeltas(w.hub.read, zone.id, 1, many)).toBeNull()
  expect(await readDeltas(w.hub.read, zone.id, 2, many)).toHaveLength(1)
})

test('a recreated zone continues the serial that secondaries have, without deltas from the old zone', async () => {
  const w = await world()
  const add = (id: string, content: string) =>
    w.acme.call('POST', `/v1/dns/zones/${id}/records`, { type: 'A', name: 'www', content })
  const before = await createZone(w.acme)
  for (const content of ['192.0.2.1', '192.0.2.2']) await add(before.id, content)
  await record(w.hub, async tx => {
    const { workspaceId } = w.acme
    const [address, keyId, type, transferredAt] = ['192.0.2.53', 'tsig_of_theirs', 'axfr' as const, w.clock.now()]
    await tx.insert(dnsTransfers).values({ workspaceId, zone: 'example.com', address, keyId, serial: 3, type, transferredAt })
    return { result: undefined }
  })
  await w.acme.call('DELETE', `/v1/dns/zones/${before.id}`)
  const zone = await createZone(w.acme)
  expect(zone.serial).toBe(4)
  await add(zone.id, '192.0.2.3')
  expect(await readDeltas(w.hub.read, zone.id, 4, many)).toHaveLength(1)
  for (const serial of [1, 2, 3]) expect(await readDeltas(w.hub.read, zone.id, serial, many)).toBeNull()
  await w.acme.call('DELETE', `/v1/dns/zones/${zone.id}`)
  expect((await createZone(w.acme)).serial).toBe(6)
})

test('a zone is deleted immediately, and its contents afterwards', async () => {
  const w = await world()
  const zone = await createZone(w.acme)
  await createZone(w.acme, 'example.org')
  const file = `$TTL 60\n${Array.from({ length: 2500 }, (_, n) => `h${n} IN A 192.0.2.1\n`).join('')}`
  await w.acme.call('POST', `/v1/dns/zones/${zone.id}/import?mode=merge`, file, { 'content-type': 'text/dns' })
  expect(await w.hub.read.$count(dnsChangesetRrsets)).toBe(2504)
  const [record] = (await w.acme.call('GET', '/v1/dns/records?name=h1')).body.data
  expect((await w.acme.call('DELETE', `/v1/dns/zones/${zone.id}`)).status).toBe(204)
  expect(await w.hub.read.$count(dnsRecords)).toBe(2504)
  expect((await w.acme.call('GET', '/v1/dns/records?name=h1')).body.data).toEqual([])
  for (const [method, body] of [['GET'], ['PATCH', { ttl: 60 }], ['DELETE']] as const)
    expect((await w.acme.call(method, `/v1/dns/records/${record.id}`, body)).status).toBe(404)
  expect(await createZone(w.acme)).toMatchObject({ record_count: 2 })
  await w.settle()
  expect(await w.hub.read.$count(dnsRecords)).toBe(4)
  expect(await w.hub.read.$count(dnsRrsets)).toBe(4)
  expect(await w.hub.read.$count(dnsChangesets)).toBe(2)
  expect(await w.hub.read.$count(dnsChangesetRrsets)).toBe(4)
})
