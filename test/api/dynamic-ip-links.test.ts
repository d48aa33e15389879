import { expect, test } from 'bun:test'
import { record } from '../../src/core/change'
import { watchSources } from '../../src/features/dynamic-ips/watch'
import { confirmLinks } from '../../src/features/dynamic-ips/drive-links'
import { FirewallDouble } from '../support/firewall-double'
import { world, type World } from '../support/world'
import { createZone } from '../support/zones'

async function scene(): Promise<{ w: World; firewalls: FirewallDouble; id: string; path: string }> {
  const w = await world()
  const firewalls = new FirewallDouble(w.acme.workspaceId)
  w.hub.firewallRules = firewalls
  firewalls.rules.set('fw_1 ssh', { direction: 'inbound', sources: ['192.0.2.1/32'] })
  firewalls.rules.set('fw_1 out', { direction: 'outbound', sources: [] })
  firewalls.rules.set('fw_1 any', { direction: 'inbound', sources: null })
  const { body } = await w.acme.call('POST', '/v1/dynamic-ips', { name: 'Office router', stale_after_seconds: 300 })
  return { w, firewalls, id: body.id, path: `/v1/dynamic-ips/${body.id}/firewall-links` }
}

const link = { firewall_id: 'fw_1', rule_id: 'ssh' }

test('a rule gets the current addresses first, and loses the old ones after the grace period', async () => {
  const { w, firewalls, id, path } = await scene()
  const report = (body: object) => w.acme.call('POST', `/v1/dynamic-ips/${id}/report`, body)
  await report({ ipv4: '203.0.113.7', prefix6: '2001:db8:1:100::/56' })
  const created = (await w.acme.call('POST', path, { ...link, ipv6: 'prefix' })).body
  expect(created).toMatchObject({ status: 'active', grace_seconds: 120, applied: ['203.0.113.7/32', '2001:db8:1:100::/56'] })
  await w.emitted()
  await report({ prefix6: '2001:db8:2:200::/56' })
  const { data } = (await w.acme.call('GET', '/v1/events')).body
  expect(data.find((one: any) => one.kind === 'dynamic_ip.changed').data.firewalls).toEqual(['fw_1'])
  expect(firewalls.rules.get('fw_1 ssh')!.sources).toEqual([
    '192.0.2.1/32',
    '203.0.113.7/32',
    '2001:db8:1:100::/56',
    '2001:db8:2:200::/56',
  ])
  await w.advance(119_000)
  expect(firewalls.log.filter(one => one.startsWith('-'))).toEqual([])
  await w.advance(1_000)
  expect(firewalls.log.filter(one => one.startsWith('-'))).toEqual(['-2001:db8:1:100::/56'])
  expect((await w.acme.call('GET', path)).body.data[0]).toMatchObject({
    applied: ['203.0.113.7/32', '2001:db8:2:200::/56'],
    pending_removal: [],
  })
  // An address that comes back within the grace period stays.
  await report({ ipv4: '203.0.113.8' })
  await report({ ipv4: '203.0.113.7' })
  await w.advance(121_000)
  expect(firewalls.rules.get('fw_1 ssh')!.sources).toEqual(['192.0.2.1/32', '203.0.113.7/32', '2001:db8:2:200::/56'])
  // What others added stays when the link ends.
  expect((await w.acme.call('DELETE', `${path}/${created.id}`)).status).toBe(204)
  expect(firewalls.rules.get('fw_1 ssh')!.sources).toEqual(['192.0.2.1/32'])
})

test('hosts and rules follow the new prefix of a FRITZ!Box together', async () => {
  const { w, firewalls } = await scene()
  const zone = await createZone(w.acme)
  const names = ['nas', 'tv', 'printer']
  const { id, secret } = (
    await w.acme.call('POST', '/v1/dynamic-ips', {
      name: 'FRITZ!Box',
      hosts: [
        { name: 'home.example.com' },
        ...names.map((name, n) => ({ name: `${name}.example.com`, mode: 'prefix', suffix6: `0:0:0:1::${n + 1}` })),
      ],
    })
  ).body
  await w.acme.call('POST', `/v1/dynamic-ips/${id}/firewall-links`, { ...link, families: ['ipv6'], ipv6: 'prefix' })
  const report = async (n: number) => {
    const prefix = `2001:db8:${n}:${n}00::`
    const query = `hostname=home.example.com&myipv6=${prefix}1&ip6lanprefix=${prefix}/56`
    const headers = { authorization: `Basic ${btoa(`any:${secret}`)}`, 'user-agent': 'Fritz!Box DDNS/1.0.1' }
    const response = await w.app.handle(new Request(`http://localhost:8484/nic/update?${query}`, { headers }))
    expect(await response.text()).toBe(`good ${prefix}1\n`)
  }
  await report(1)
  const serialOf = async () => (await w.acme.call('GET', `/v1/dns/zones/${zone.id}`)).body.serial
  const serial = await serialOf()
  await w.emitted()
  await report(2)
  expect(await serialOf()).toBe(serial + 1)
  expect((await w.emitted()).toSorted()).toEqual(['dns.records_changed', 'dynamic_ip.changed'])
  const { hosts } = (await w.acme.call('GET', `/v1/dynamic-ips/${id}`)).body
  expect(hosts.map((one: any) => one.records[0].content)).toEqual([
    '2001:db8:2:200::1',
    '2001:db8:2:201::1',
    '2001:db8:2:201::2',
    '2001:db8:2:201::3',
  ])
  const networks = () => firewalls.rules.get('fw_1 ssh')!.sources!.slice(1)
  expect(networks()).toEqual(['2001:db8:1:100::/56', '2001:db8:2:200::/56'])
  await w.advance(119_999)
  expect(networks()).toHaveLength(2)
  await w.advance(1)
  expect(networks()).toEqual(['2001:db8:2:200::/56'])
})

test('a link is pending until a slow firewall has the change, and paused after many changes', async () => {
  const { w, firewalls, id, path } = await scene()
  const report = (ipv4: string) => w.acme.call('POST', `/v1/dynamic-ips/${id}/report`, { ipv4 })
  firewalls.isSlow = true
  const { body } = await w.acme.call('POST', path, link)
  const statusOf = async () => (await w.acme.call('GET', path)).body.data[0].status
  await report('203.0.113.1')
  expect(await statusOf()).toBe('pending')
  await record(w.hub, async tx => ({ result: await confirmLinks(tx, { firewallId: 'fw_1', ruleId: 'ssh' }) }))
  expect(await statusOf()).toBe('active')
  for (const n of [2, 3, 4, 5]) await report(`203.0.113.${n}`)
  expect(await statusOf()).toBe('paused')
  expect(firewalls.log.at(-1)).toBe('+203.0.113.4/32')
  expect((await w.acme.call('GET', '/v1/notices')).body.data[0].kind).toBe('dynamic_ip.link_paused')
  expect((await w.acme.call('POST', `${path}/${body.id}/resume`)).body.applied).toContain('203.0.113.5/32')
  firewalls.rules.delete('fw_1 ssh')
  await report('203.0.113.6')
  expect((await w.acme.call('GET', `/v1/dynamic-ips/${id}`)).body.firewall_links).toMatchObject([
    { status: 'failed', reason: { code: 'rule_gone' } },
  ])
})

test('addresses are removed while the source is stale if the link says so, and when the source is deleted', async () => {
  const { w, firewalls } = await scene()
  const { id, secret } = (await w.acme.call('POST', '/v1/dynamic-ips', { name: 'Router', stale_after_seconds: 300 })).body
  const path = `/v1/dynamic-ips/${id}/firewall-links`
  const created = (await w.acme.call('POST', path, { ...link, on_stale: 'remove' })).body
  const headers = { authorization: `Bearer ${secret}` }
  const report = async (ipv4: string) =>
    (await w.app.handle(new Request(`http://localhost:8484/nic/update?myip=${ipv4}`, { headers }))).text()
  const networks = () => firewalls.rules.get('fw_1 ssh')!.sources!.slice(1)
  await report('203.0.113.7')
  expect(networks()).toEqual(['203.0.113.7/32'])
  await w.advance(316_000)
  await watchSources(w.hub)
  expect(networks()).toEqual([])
  await w.acme.call('PATCH', `${path}/${created.id}`, { grace_seconds: 60 })
  expect(networks()).toEqual([])
  expect(await report('203.0.113.7')).toBe('nochg 203.0.113.7\n')
  expect(networks()).toEqual(['203.0.113.7/32'])
  // An entry of someone else stays.
  firewalls.rules.get('fw_1 ssh')!.sources!.push('203.0.113.8/32')
  await report('203.0.113.8')
  await w.advance(61_000)
  expect(networks()).toEqual(['203.0.113.8/32'])
  // It is not counted as a change each time that the source is edited.
  for (let n = 0; n < 6; n++) await w.acme.call('PATCH', `/v1/dynamic-ips/${id}`, { ttl: 100 + n })
  expect((await w.acme.call('GET', path)).body.data[0]).toMatchObject({ status: 'active', applied: [] })
  for (const n of [9, 10, 11, 12, 13]) await report(`203.0.113.${n}`)
  expect((await w.acme.call('GET', path)).body.data[0].status).toBe('paused')
  expect((await w.acme.call('DELETE', `/v1/dynamic-ips/${id}`)).status).toBe(204)
  expect(networks()).toEqual(['203.0.113.8/32'])
})

test('links need access to firewalls, and a rule that they can change', async () => {
  const { w, id, path } = await scene()
  const create = async (input: object) => {
    const { status, body } = await w.acme.call('POST', path, { ...link, ...input })
    return [status, body.code, body.errors?.[0]?.pointer]
  }
  expect(await create({ rule_id: 'none' })).toEqual([404, 'not_found', undefined])
  expect(await create({ rule_id: 'out' })).toEqual([422, 'validation_failed', '#/rule_id'])
  expect(await create({ rule_id: 'any' })).toEqual([422, 'validation_failed', '#/rule_id'])
  expect(await create({})).toEqual([201, undefined, undefined])
  expect(await create({})).toEqual([409, 'conflict', undefined])
  const caller = await w.scoped('dynamic_ip.write')
  expect((await caller.call('POST', path, link)).body.required_permission).toBe('cloud.write')
  expect((await w.rival.call('GET', path)).status).toBe(404)
  // A prefix that is too large is never added.
  const wide = (await w.acme.call('PATCH', `${path}/${(await w.acme.call('GET', path)).body.data[0].id}`, { ipv6: 'prefix' }))
    .body
  await w.acme.call('POST', `/v1/dynamic-ips/${id}/report`, { prefix6: '2001:db8:1::/48' })
  expect((await w.acme.call('GET', path)).body.data).toMatchObject([
    { id: wide.id, status: 'failed', reason: { code: 'too_wide' } },
  ])
})
