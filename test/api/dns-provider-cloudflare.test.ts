import { afterAll, beforeAll, expect, test } from 'bun:test'
import { CloudflareDouble } from '../support/cloudflare'
import { world } from '../support/world'
import { createZone } from '../support/zones'

const double = new CloudflareDouble()
beforeAll(async () => {
  await double.start()
  for (const name of ['example.com', 'example.org']) double.zone(name)
})
afterAll(() => double.stop())

test('an account at Cloudflare is stored, checked, and queried for its zones, and its token is never shown', async () => {
  const { acme, settle, audited } = await world()
  const settings = { api_token: double.token, account_id: double.accountId, base_url: double.url }
  const created = await acme.call('POST', '/v1/dns/providers', { kind: 'cloudflare', name: 'Cloudflare', settings })
  expect(created.status).toBe(201)
  expect(created.body).toMatchObject({
    settings: { account_id: double.accountId, base_url: double.url, plan: 'free' },
    secrets_set: ['api_token'],
  })
  await settle()
  const path = `/v1/dns/providers/${created.body.id}`
  const checked = await acme.call('GET', path)
  expect(checked.body).toMatchObject({ state: 'ok', detail: 'Cloudflare account Acme: 2 zones', warnings: [] })
  const zone = await createZone(acme, 'example.org')
  const zones = await acme.call('GET', `${path}/zones`)
  expect(zones.body.data.map((one: any) => [one.name, one.zone_id])).toEqual([
    ['example.com', null],
    ['example.org', zone.id],
  ])
  for (const answer of [created, checked, zones, await acme.call('GET', '/v1/audit-events')])
    expect(answer.text).not.toContain(double.token)
  expect(await audited()).toContain('dns.provider.create')
})

test('the token of an account at Cloudflare is not sent to another address', async () => {
  const { acme } = await world()
  const { body } = await acme.call('POST', '/v1/dns/providers', {
    kind: 'cloudflare',
    name: 'Cloudflare',
    settings: { api_token: double.token, base_url: double.url },
  })
  const edit = async (settings: object) => {
    const { status, body: answer } = await acme.call('PATCH', `/v1/dns/providers/${body.id}`, { settings })
    return [status, answer.errors?.map((one: any) => one.pointer)]
  }
  expect(await edit({ base_url: 'https://elsewhere.example/client/v4' })).toEqual([422, ['#/settings/api_token']])
  expect(await edit({ base_url: 'https://me:secret@elsewhere.example' })).toEqual([422, ['#/settings/base_url']])
  expect(await edit({ account_id: 'acme' })).toEqual([422, ['#/settings/account_id']])
  expect(await edit({ plan: 'gold' })).toEqual([422, ['#/settings/plan']])
  expect(await edit({ api_token: 'two\nlines of a token' })).toEqual([422, ['#/settings/api_token']])
  expect(await edit({ plan: 'pro' })).toEqual([200, undefined])
})

test('a zone is imported from Cloudflare with its proxied records, and keeps its own name servers', async () => {
  const { acme } = await world()
  const created = await acme.call('POST', '/v1/dns/providers', {
    kind: 'cloudflare',
    name: 'Cloudflare',
    settings: { api_token: double.token, base_url: double.url },
  })
  const there = double.zones.find(one => one.name === 'example.com')!
  there.post({ type: 'CNAME', name: '@', content: 'lb.example.net', proxied: true })
  there.post({ type: 'A', name: 'www', content: '192.0.2.1', ttl: 300 })
  // The automatic TTL of Cloudflare.
  there.post({ type: 'TXT', name: 'www', content: 'v=spf1 -all', ttl: 1 })
  // Its name server is within the zone, with glue.
  const { id, nameservers } = await createZone(acme)
  const answer = await acme.call('POST', `/v1/dns/zones/${id}/import-from`, { provider_id: created.body.id })
  expect(answer.body).toMatchObject({ mode: 'replace', created: 3, deleted: 0 })
  expect((await acme.call('GET', `/v1/dns/zones/${id}`)).body.nameservers).toEqual(nameservers)
  const { data } = (await acme.call('GET', `/v1/dns/zones/${id}/records`)).body
  expect(data.map((one: any) => `${one.name} ${one.type}`)).toEqual(expect.arrayContaining(['@ NS', 'ns1 A']))
  expect(data.map((one: any) => [one.name, one.type, one.content, one.ttl, one.options])).toEqual(
    expect.arrayContaining([
      ['@', 'ALIAS', 'lb.example.net.', 3600, { proxied: true }],
      ['www', 'A', '192.0.2.1', 300, { proxied: false }],
      ['www', 'TXT', '"v=spf1 -all"', 3600, null],
    ]),
  )
})
