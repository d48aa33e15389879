import { afterAll, expect, test } from 'bun:test'
import { readDueTargets } from '../../src/features/dns/sync/sync-zone'
import { hostedZone } from '../support/hosted-zone'
import { powerDnsDouble } from '../support/power-dns-double'
import { world } from '../support/world'
import { createZone } from '../support/zones'

const double = powerDnsDouble()
const other = powerDnsDouble('key-of-the-other')
afterAll(() => [double, other].forEach(one => one.stop()))

test('after a provider is changed to another server, its zones start over', async () => {
  const w = await world()
  const kept = await hostedZone(w, double, undefined, { nameservers: ['ns1.example.net'], drift_policy: 'enforce' })
  await kept.put([kept.a('www', '192.0.2.1'), kept.a('api', '192.0.2.2'), kept.a('mail', '192.0.2.3')])
  await fetch(`${other.url}/api/v1/servers/localhost/zones`, {
    method: 'POST',
    headers: { 'x-api-key': other.apiKey },
    body: JSON.stringify({ name: 'example.com.', kind: 'Native', nameservers: ['ns1.example.net.'] }),
  })
  for (const [name, value] of [
    ['www', '203.0.113.1'],
    ['api', '192.0.2.2'],
    ['shop', '203.0.113.2'],
  ])
    other.put('example.com.', `${name}.example.com.`, 'A', 300, [value!])
  const settings = { url: other.url, api_key: other.apiKey }
  expect((await w.acme.call('PATCH', `/v1/dns/providers/${kept.provider.id}`, { settings })).status).toBe(200)
  expect(await kept.shown()).toMatchObject({ synced: false, sync: { state: 'unknown', targets: [{ checked_at: null }] } })
  const listed = (query: string) => w.acme.call('GET', `/v1/dns/zones?${query}`).then(({ body }) => body.data.length)
  expect([await listed('state=unknown'), await listed('synced=true')]).toEqual([1, 0])
  await w.emitted()
  await readDueTargets(w.hub)
  await w.settle()
  expect(await w.emitted()).toEqual([])
  const drift = (await w.acme.call('GET', `/v1/dns/zones/${kept.zone.id}/drift`)).body.rrsets
  expect(drift.map((one: any) => [one.name, one.state])).toEqual([
    ['@', 'conflict'],
    ['shop', 'unmanaged'],
    ['www', 'conflict'],
  ])
  const there = (name: string) =>
    other.zones
      .get('example.com.')!
      .rrsets.get(`${name}.example.com. A`)
      ?.records.map(one => one.content)
  expect([there('www'), there('mail')]).toEqual([['203.0.113.1'], ['192.0.2.3']])
})

test('a zone that was created and could not be read then gets its desired state', async () => {
  const w = await world()
  const kept = await hostedZone(w, double)
  let created = false
  double.trouble = request => {
    if (request === 'POST /zones') created = true
    return created && request.startsWith('GET') ? { status: 500 } : null
  }
  const zone = await createZone(w.acme, 'example.org', { provider_id: kept.provider.id, nameservers: ['ns1.example.net'] })
  await w.settle()
  expect(double.zones.has('example.org.')).toBe(true)
  double.trouble = () => null
  await w.advance(120_000)
  await readDueTargets(w.hub)
  await w.settle()
  expect((await w.acme.call('GET', `/v1/dns/zones/${zone.id}`)).body).toMatchObject({ synced: true, blocked: null })
})

test('a zone moves from one provider to another, and is always served', async () => {
  const w = await world()
  const kept = await hostedZone(w, double, undefined, { nameservers: ['ns1.example.net'] })
  other.zones.clear()
  const path = `/v1/dns/zones/${kept.zone.id}`
  const [first] = (await kept.shown()).sync.targets
  expect((await w.acme.call('DELETE', `${path}/targets/${first.id}`)).body.code).toBe('conflict')
  const settings = { url: other.url, api_key: other.apiKey }
  const added = (await w.acme.call('POST', '/v1/dns/providers', { kind: 'powerdns', name: 'Other', settings })).body
  await w.acme.call('POST', `${path}/targets`, { provider_id: added.id })
  await w.settle()
  expect((await w.acme.call('DELETE', `${path}/targets/${first.id}`)).status).toBe(204)
  expect(await kept.shown()).toMatchObject({ provider_id: added.id, synced: true })
  expect((await w.acme.call('DELETE', `/v1/dns/providers/${kept.provider.id}`)).status).toBe(204)
  await w.acme.call('PATCH', path, { served: true })
  await w.settle()
  const [second] = (await kept.shown()).sync.targets
  expect((await w.acme.call('DELETE', `${path}/targets/${second.id}`)).status).toBe(204)
  expect(await kept.shown()).toMatchObject({ provider_id: 'builtin', synced: true, sync: { targets: [] } })
})

test('a zone that is switched to manual is no longer blocked', async () => {
  const w = await world()
  const kept = await hostedZone(w, double, undefined, { nameservers: ['ns1.example.net'] })
  await kept.put([kept.a('*', '192.0.2.1')])
  expect((await kept.shown()).blocked).not.toBeNull()
  await w.acme.call('PATCH', `/v1/dns/zones/${kept.zone.id}`, { apply: 'manual' })
  await w.settle()
  expect((await kept.shown()).blocked).toBeNull()
})
