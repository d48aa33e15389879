import { afterAll, expect, test } from 'bun:test'
import { driftContract, troubleContract } from '../support/drift-contract'
import { hubContract } from '../support/hub-contract'
import { hubAt } from '../support/hub-zone'
import { Route53Double } from '../support/route53'
import { route53UnderTest } from '../support/route53-under-test'
import { world } from '../support/world'

const double = await new Route53Double().start()
afterAll(() => double.stop())

for (const contract of [hubContract, driftContract, troubleContract]) contract('route53', async () => route53UnderTest(double))

test('aliases and routing policies are listed with their zone, and records with their name and type are not sent', async () => {
  const under = route53UnderTest(double)
  const w = await world()
  const zone = await (await hubAt(under, w))({ unmanaged: 'delete' })
  const there = double.zones.find(one => one.name === zone.name)!
  await under.makeForeign!(zone.name)
  for (const id of ['blue', 'green'])
    there.put({
      Name: `\\052.${zone.name}.`,
      Type: 'A',
      TTL: 60,
      values: ['192.0.2.1'],
      more: { SetIdentifier: id, Weight: '1' },
    })
  await zone.refresh()
  const foreign = async () =>
    (await w.acme.call('GET', `${zone.path}/drift`)).body.foreign.map((one: any) => [one.name, one.type, one.detail])
  const alias = ['cdn', 'A', 'Alias to d111111abcdef8.cloudfront.net']
  const weighted = [
    ['*', 'A', 'Weighted record “blue”'],
    ['*', 'A', 'Weighted record “green”'],
  ]
  expect(await foreign()).toEqual([...weighted, alias])
  expect(await zone.shown()).toMatchObject({ synced: true, sync: { state: 'synced' } })

  await zone.put(['cdn', 'A', 300, '192.0.2.9'], ['www', 'A', 300, '192.0.2.10'])
  expect(await zone.shown()).toMatchObject({ synced: false, sync: { state: 'unsupported' } })
  expect(await zone.drift()).toMatchObject([
    { name: 'cdn', type: 'A', state: 'unsupported', detail: expect.stringContaining('cloudfront') },
  ])
  expect(await foreign()).toEqual([...weighted, alias])
  const preview = await zone.plan({ rrsets: [{ name: 'cdn', type: 'A', ttl: 60, records: [{ content: '192.0.2.11' }] }] })
  expect(preview.targets.find((one: any) => one.target_id !== null).ops).toEqual([])
  const sent = double.requests.filter(one => one.method === 'POST').map(one => one.body)
  expect(sent.some(body => body.includes(`<Name>www.${zone.name}.`))).toBe(true)
  expect(sent.some(body => body.includes(`<Name>cdn.${zone.name}.`))).toBe(false)

  there.remove(`cdn.${zone.name}.`, 'A')
  await w.advance(20 * 60_000)
  w.clock.advance(Date.now() - w.clock.now())
  await zone.put(['www', 'A', 300, '192.0.2.12'])
  expect(await zone.shown()).toMatchObject({ synced: true })
  expect(there.sets.find(one => one.Name === `cdn.${zone.name}.`)?.values).toEqual(['192.0.2.9'])
})

test('an account at Route 53 is stored and checked, its secrets are never shown, and they are not sent to another address', async () => {
  const { acme, settle, clock } = await world()
  clock.advance(Date.now() - clock.now())
  const { settings } = route53UnderTest(double)
  const created = await acme.call('POST', '/v1/dns/providers', { kind: 'route53', name: 'AWS', settings })
  expect(created.body).toMatchObject({ settings: { access_key_id: double.accessKeyId }, secrets_set: ['secret_access_key'] })
  await settle()
  const path = `/v1/dns/providers/${created.body.id}`
  const checked = await acme.call('GET', path)
  expect(checked.body).toMatchObject({
    state: 'ok',
    detail: expect.stringMatching(/^Amazon Route 53 account 029608264753, access key /),
  })
  const zones = await acme.call('GET', `${path}/zones`)
  expect(zones.body.data.length).toBeGreaterThan(0)
  for (const answer of [created, checked, zones, await acme.call('GET', '/v1/audit-events')])
    expect(answer.text).not.toContain(double.secretAccessKey)
  const edit = async (changed: object) => {
    const { status, body } = await acme.call('PATCH', path, { settings: changed })
    return [status, body.errors?.map((one: any) => one.pointer)]
  }
  expect(await edit({ base_url: 'https://elsewhere.example' })).toEqual([422, ['#/settings/secret_access_key']])
  expect(await edit({ access_key_id: 'lower case' })).toEqual([422, ['#/settings/access_key_id']])
  expect(await edit({ delegation_set_id: 'N1PA6795SAMPLE' })).toEqual([200, undefined])
})
