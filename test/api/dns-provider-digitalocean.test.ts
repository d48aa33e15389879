import { afterAll, beforeAll, expect, test } from 'bun:test'
import { DigitalOceanDouble } from '../support/digitalocean'
import { world } from '../support/world'
import { createZone } from '../support/zones'

const double = new DigitalOceanDouble()
beforeAll(async () => {
  await double.start()
  for (const name of ['example.com', 'example.org']) double.domain(name)
})
afterAll(() => double.stop())

test('an account at DigitalOcean is checked and listed, and its token is neither shown nor sent to another address', async () => {
  const { acme, settle } = await world()
  const settings = { api_token: double.token, base_url: double.url }
  const created = await acme.call('POST', '/v1/dns/providers', { kind: 'digitalocean', name: 'DigitalOcean', settings })
  expect(created.body).toMatchObject({ settings: { base_url: double.url }, secrets_set: ['api_token'] })
  await settle()
  const path = `/v1/dns/providers/${created.body.id}`
  const checked = await acme.call('GET', path)
  expect(checked.body).toMatchObject({
    state: 'ok',
    detail: 'DigitalOcean team Acme (admin@example.com): 2 domains',
    warnings: [],
  })
  const zones = await acme.call('GET', `${path}/zones`)
  expect(zones.body.data.map((one: any) => [one.name, one.ref])).toEqual([
    ['example.com', null],
    ['example.org', null],
  ])
  for (const response of [created, checked, zones, await acme.call('GET', '/v1/audit-events')])
    expect(response.text).not.toContain(double.token)
  const moved = await acme.call('PATCH', path, { settings: { base_url: 'https://elsewhere.example/v2' } })
  expect([moved.status, moved.body.errors?.map((one: any) => one.pointer)]).toEqual([422, ['#/settings/api_token']])
})

test('a zone at DigitalOcean is synced, and records that it does not support are reported', async () => {
  const { acme, settle } = await world()
  const settings = { api_token: double.token, base_url: double.url }
  const { id } = (await acme.call('POST', '/v1/dns/providers', { kind: 'digitalocean', name: 'DigitalOcean', settings })).body
  const zone = await createZone(acme, 'example.com', { provider_id: id })
  await settle()
  expect((await acme.call('POST', `/v1/dns/zones/${zone.id}/adopt`, { all: true })).body.created).toBe(3)
  const record = async (input: object) =>
    (await acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { ttl: 10, ...input })).body
  const created = [
    await record({ type: 'A', name: 'www', content: '192.0.2.1' }),
    await record({ type: 'TXT', name: 'good', content: 'v=spf1 -all' }),
    await record({ type: 'TXT', name: 'bad', content: '"a\\\\b"' }),
    await record({ type: 'PTR', name: 'ptr', content: 'host.example.net.' }),
  ]
  await settle()
  const states = []
  for (const one of created) {
    const { sync } = (await acme.call('GET', `/v1/dns/records/${one.id}`)).body
    states.push([one.name, sync.state, sync.targets[0].detail])
  }
  expect(states).toEqual([
    ['www', 'synced', null],
    ['good', 'synced', null],
    ['bad', 'unsupported', expect.stringContaining('without backslashes')],
    ['ptr', 'unsupported', expect.stringContaining('PTR')],
  ])
  // TTLs are raised to the minimum.
  const there = double.domains[0]!.rows.filter(one => one.name !== '@').map(one => [one.name, one.type, one.ttl, one.data])
  expect(there.sort()).toEqual([
    ['good', 'TXT', 30, 'v=spf1 -all'],
    ['www', 'A', 30, '192.0.2.1'],
  ])
})
