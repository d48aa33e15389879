import { expect, test } from 'bun:test'
import { fillZone, nameNumber } from '../../src/cli/bench/dns-fill'
import { pageSize, readPackedZone } from '../../src/features/dns/publish/packed-zones'
import { TYPE } from '../../src/features/dns/server/indexed-set'
import { wireName } from '../../src/features/dns/server/name-key'
import { ZoneIndex } from '../../src/features/dns/server/zone-index'
import { lastZoneChange, readPublishedChanges, zoneChangesAfter } from '../../src/features/dns/publish/published-zones'
import type { ServedSet } from '../../src/features/dns/server/served-zone'
import { readPublishedZone } from '../support/published-zone'
import { world } from '../support/world'
import { createZone } from '../support/zones'

const key = ({ name, type }: { name: string; type: string }) => `${name} ${type}`
const plain = (rrsets: Iterable<ServedSet>) =>
  [...rrsets].map(one => `${key(one)} ${one.ttl} ${one.rdata.map(octets => Buffer.from(octets).toString('hex')).sort()}`).sort()

test('incremental reads add up to the same as reading the whole zone', async () => {
  const { hub, acme } = await world()
  const zone = await createZone(acme)
  const initial = await readPublishedZone(hub.read, zone.id)
  const copy = new Map(initial!.rrsets.map(one => [key(one), one]))
  let seen = await lastZoneChange(hub.read)
  const put = async (rrsets: object[]) => {
    const { status } = await acme.call('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets })
    expect(status).toBe(200)
  }
  const a = (name: string, ...last: number[]) => ({
    name,
    type: 'A',
    ttl: 60,
    records: last.map(n => ({ content: `192.0.2.${n}` })),
  })
  const steps: (() => Promise<void>)[] = [
    () => put([a('www', 1, 2), a('deep.name', 3)]),
    () => put([a('www', 2)]),
    () => put([{ ...a('www', 2), ttl: 90 }]),
    () => put([a('www'), { name: 'www', type: 'CNAME', ttl: 60, records: [{ content: 'deep.name' }] }]),
    () => put([a('deep.name'), a('@', 9), { name: 'www', type: 'CNAME', records: [] }]),
    async () => void (await acme.call('PATCH', `/v1/dns/zones/${zone.id}`, { soa: { refresh: 9000 } })),
  ]
  for (const step of steps) {
    await step()
    const changes = await zoneChangesAfter(hub.read, seen)
    expect(changes).toMatchObject([{ zoneId: zone.id, name: 'example.com.' }])
    // Only changes that aren’t tracked by rrset require reading the whole zone.
    expect(changes[0]!.wholeNumber).toBeLessThanOrEqual(seen)
    const part = await readPublishedChanges(hub.read, zone.id, seen)
    expect(part!.rrsets.length).toBeLessThanOrEqual(3)
    for (const rrset of part!.rrsets) {
      if (rrset.rdata.length === 0) copy.delete(key(rrset))
      else copy.set(key(rrset), rrset)
    }
    const now = await readPublishedZone(hub.read, zone.id)
    expect(plain(copy.values())).toEqual(plain(now!.rrsets))
    expect({ serial: part!.serial, soa: part!.soa }).toEqual({ serial: now!.serial, soa: now!.soa })
    seen = changes[0]!.number
  }
})

test('a zone that is paused, resumed or deleted is read as a whole', async () => {
  const { hub, acme } = await world()
  const zone = await createZone(acme)
  let seen = await lastZoneChange(hub.read)
  const next = async () => {
    const [change] = await zoneChangesAfter(hub.read, seen)
    expect(change!.wholeNumber).toBeGreaterThan(seen)
    seen = change!.number
    return await readPublishedZone(hub.read, zone.id)
  }
  await acme.call('PATCH', `/v1/dns/zones/${zone.id}`, { status: 'paused' })
  expect(await next()).toBe(null)
  expect(await readPublishedChanges(hub.read, zone.id, 0)).toBe(null)
  await acme.call('PATCH', `/v1/dns/zones/${zone.id}`, { status: 'active' })
  expect((await next())!.name).toBe('example.com.')
  await acme.call('DELETE', `/v1/dns/zones/${zone.id}`)
  expect(await next()).toBe(null)
})

test('what changes while a zone is read is included, as one version', async () => {
  const { hub, acme } = await world()
  const zone = await createZone(acme)
  const a = (name: string, ...last: number[]) => ({
    name,
    type: 'A',
    ttl: 60,
    records: last.map(n => ({ content: `192.0.2.${n}` })),
  })
  const put = (...rrsets: object[]) => acme.call('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets })
  await put(a('www', 1, 2), a('gone.deep', 3))
  let pages = 0
  const published = await readPublishedZone(hub.read, zone.id, async () => {
    pages++
    await put(a('www', 2, 9), a('gone.deep'), a('new', 4))
  })
  expect(pages).toBe(1)
  expect(plain(published!.rrsets)).toEqual(plain((await readPublishedZone(hub.read, zone.id))!.rrsets))
  expect(published!.rrsets.some(one => one.name === 'new.example.com.')).toBe(true)
  expect(published!.serial).toBe((await acme.call('GET', `/v1/dns/zones/${zone.id}`)).body.serial)
})

test('a zone that keeps changing as a whole can still be read', async () => {
  const { hub, acme } = await world()
  const zone = await createZone(acme)
  let pages = 0
  const published = await readPublishedZone(hub.read, zone.id, async () => {
    pages++
    for (const status of ['paused', 'active']) await acme.call('PATCH', `/v1/dns/zones/${zone.id}`, { status })
  })
  expect(pages).toBeWithin(2, 10)
  expect(plain(published!.rrsets)).toEqual(plain((await readPublishedZone(hub.read, zone.id))!.rrsets))
})

test('a large zone is read with few statements, and takes little memory', async () => {
  const { hub, acme } = await world()
  const { id } = await createZone(acme)
  await fillZone(hub, id, 2 * pageSize)
  let pages = 0
  const { packed, changes } = (await readPackedZone(hub.read, id, async () => void pages++))!
  expect(pages).toBe(3)
  expect(changes.map(one => one.type)).toEqual(['SOA'])
  expect(packed.records).toBeGreaterThan(2 * pageSize)
  // Names, rdata, and everything else.
  const octets = packed.slots.byteLength + packed.blocks.reduce((sum, block) => sum + block.byteLength, 0)
  expect(octets / packed.records).toBeLessThan(64)
  const index = new ZoneIndex('example.com.', '', packed)
  for (const n of [0, 1, 1234, 2 * pageSize - 1])
    expect(index.node(wireName(`${nameNumber(n)}.example.com.`).key)!.sets.get(TYPE.A)!.rdata).toHaveLength(1)
  expect(index.node(wireName('absent.example.com.').key)).toBeUndefined()
})
