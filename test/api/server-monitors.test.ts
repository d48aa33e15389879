import { expect, test } from 'bun:test'
import { callerWith, world } from '../support/world'
import { createZone } from '../support/zones'

test('monitors at the addresses of a server are listed, with the monitor that they can depend on', async () => {
  const here = await world()
  const { acme } = here
  const addresses = ['192.0.2.20', '2001:db8::20']
  const addServer = async (name: string, more: object) =>
    (await acme.call('POST', '/v1/servers', { name, ...more }, { 'Idempotency-Key': name })).body
  const web = await addServer('web-1', { addresses })
  const path = `/v1/servers/${web.id}/monitors`
  const list = async (caller: Pick<typeof acme, 'call'> = acme) => await caller.call('GET', path)
  expect((await list()).body).toEqual({ monitor_id: null, data: [] })
  const parent = (await acme.call('POST', '/v1/monitors', { target: web.id, interval_seconds: 60 })).body.id
  expect((await list()).body).toEqual({ monitor_id: parent, data: [] })

  const zone = await createZone(acme)
  const record = async (type: string, name: string, content: string) => {
    const { status, text } = await acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { type, name, content, ttl: 300 })
    expect([status, text]).toEqual([201, text])
  }
  await record('A', 'shop', '192.0.2.20')
  await record('CNAME', 'www', 'shop.example.com.')
  await record('A', 'other', '192.0.2.21')
  const monitor = async (name: string, type: string, target: string, more: object = {}): Promise<string> => {
    const { status, body, text } = await acme.call('POST', '/v1/monitors', { type, name, target, interval_seconds: 60, ...more })
    expect([status, text]).toEqual([201, text])
    return body.id
  }
  const ids = {
    address: await monitor('address', 'tcp', '[2001:db8:0::20]:22'),
    name: await monitor('name', 'http', 'https://SHOP.example.com/cart'),
    alias: await monitor('alias', 'http', 'https://www.example.com/'),
    contacted: await monitor('contacted', 'http', 'https://shop.example.org/'),
    elsewhere: await monitor('elsewhere', 'http', 'https://other.example.com/'),
    proxied: await monitor('proxied', 'http', 'https://shop.example.com/', {
      options: { proxy: { url: 'http://proxy.example.org:3128' } },
    }),
  }
  await here.settle()
  here.engine.report({ monitor: ids.contacted, address: '192.0.2.20' })
  here.engine.report({ monitor: ids.elsewhere, address: '192.0.2.21' })
  await here.settle()
  const { body } = await list()
  expect(body.monitor_id).toBe(parent)
  expect(body.data.map((one: any) => [one.name, one.address, one.depends_on_server])).toEqual([
    ['address', '2001:db8::20', false],
    ['name', 'shop.example.com', false],
    ['alias', 'www.example.com', false],
    ['contacted', '192.0.2.20', false],
  ])

  const operations = body.data.map(({ id, depends_on: before }: any) => ({
    ...{ id, op: 'update' },
    body: { depends_on: [...before, parent] },
  }))
  expect((await acme.call('POST', '/v1/monitors/bulk', { operations })).status).toBe(200)
  expect((await list()).body.data.map((one: any) => one.depends_on_server)).toEqual([true, true, true, true])
  // What the server itself depends on must not depend on it.
  await acme.call('PATCH', `/v1/monitors/${ids.contacted}`, { depends_on: [] })
  await acme.call('PATCH', `/v1/monitors/${parent}`, { depends_on: [ids.contacted] })
  expect((await list()).body.data.map((one: any) => one.name)).toEqual(['address', 'name', 'alias'])

  expect((await list(await here.scoped('cloud.read'))).body).toEqual({ monitor_id: null, data: [] })
  const withoutDns = (await list(await here.scoped('cloud.read', 'monitoring.read'))).body
  expect(withoutDns.data.map((one: any) => one.name)).toEqual(['address'])
  const token = { name: 'narrow', mode: 'full', resource_ids: [web.id, zone.id, ids.alias, ids.elsewhere] }
  const narrow = callerWith(here.app, acme.workspaceId, (await acme.call('POST', '/v1/tokens', token)).body.token)
  expect((await list(narrow)).body).toMatchObject({ monitor_id: null, data: [{ id: ids.alias }] })
  expect((await list(here.rival)).status).toBe(404)

  for (let n = 0; n < 25; n++) await record('A', `host-${n}`, '192.0.2.20')
  const hosts = [
    await monitor('first', 'http', 'https://host-0.example.com/'),
    await monitor('last', 'tcp', 'host-24.example.com:22'),
  ]
  expect((await list()).body.data.slice(-2).map((one: any) => one.id)).toEqual(hosts)
})
