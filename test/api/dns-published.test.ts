import { expect, test } from 'bun:test'
import {
  lastZoneChange,
  readPublishedChanges,
  readPublishedZone,
  zoneChangesAfter,
  type PublishedRrset,
} from '../../src/features/dns/publish/published-zones'
import type { Reader } from '../../src/core/db/transaction'
import { world } from '../support/world'
import { createZone } from '../support/zones'

const key = ({ name, type }: { name: string; type: string }) => `${name} ${type}`
const plain = (rrsets: Iterable<PublishedRrset>) =>
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

test('a zone that keeps changing can still be read', async () => {
  const { hub, acme } = await world()
  const zone = await createZone(acme)
  let reads = 0
  // Every read of the version returns another one.
  const restless = {
    select(fields: object) {
      if (!fields || Object.keys(fields).join() !== 'version,serial') return hub.read.select(fields as never)
      reads++
      return { from: () => ({ where: async () => [{ version: -1, serial: -1 }] }) }
    },
  } as unknown as Reader
  const calm = await readPublishedZone(hub.read, zone.id)
  expect(await readPublishedZone(restless, zone.id)).toEqual(calm)
  expect(await readPublishedChanges(restless, zone.id, 0)).toMatchObject({ serial: zone.serial })
  expect(reads).toBeWithin(6, 30)
})
