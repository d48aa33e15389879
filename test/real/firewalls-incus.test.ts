import { writeFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Cloud } from '../../src/features/servers/clouds/cloud'
import { incus } from '../../src/features/servers/clouds/incus/incus'
import { passes } from '../../src/features/servers/firewalls/rules'
import { call as callHub, fullToken, installation, startHub, until } from '../support/binary'
import { IncusServer } from '../support/clouds/incus-server'
import { addressesOf, joined } from '../support/clouds/incus-under-test'
import { PacketProber, sentProbes } from '../support/packet-prober'
import { pluginContext } from '../support/plugin-context'
import { generator } from '../support/random'
import { randomRules, type Probe } from '../support/random-rules'

let server: IncusServer
let cloud: Cloud
/** ID and addresses of a running guest. */
let guest: { ref: string; 4: string; 6: string }
beforeAll(async () => {
  server = await IncusServer.start('incus')
  const ipv6 = { 'ipv6.address': 'fd42:87::1/64', 'ipv6.nat': 'false' }
  await server.call('PATCH', '/1.0/networks/bwbr0', { config: ipv6 })
  cloud = incus.open(await joined(await server.token()), pluginContext())
  await server.call('POST', '/1.0/instances', { name: 'web', source: { type: 'image', alias: 'one' }, type: 'container' })
  await server.call('PUT', '/1.0/instances/web/state', { action: 'start', timeout: 30 })
  const { config } = await server.call('GET', '/1.0/instances/web')
  const ref: string = config['volatile.uuid']
  const ipv4 = async () => (await addressesOf(cloud, ref)).find(one => one.family === 4)?.address
  guest = { ref, 4: await until('the address of the guest', ipv4), 6: 'fd42:87::2' }
  const inGuest = (script: string) => server.cli('exec', 'web', '--', 'sh', '-c', script)
  await inGuest(`ip -6 addr add ${guest[6]}/64 dev eth0; ip -6 route add default via fd42:87::1 || true`)
  // Ports that nothing listens on answer each packet.
  await inGuest('echo 0 > /proc/sys/net/ipv4/icmp_ratemask; echo > /proc/sys/net/ipv6/icmp/ratemask')
}, 180_000)
afterAll(async () => {
  await server?.stop()
}, 180_000)

test('the packets that pass are those that the rules allow, for random rules', async () => {
  const prober = await PacketProber.start(server.firstProcess())
  try {
    // The guest uses its IPv6 address once it knows that no one else has it.
    await until('answers without a firewall', async () => (await prober.answered(sentProbes, guest, () => false)).every(Boolean))
    const random = generator(20_261_127)
    for (let set = 0; set < 200; set++) {
      const rules = randomRules(random, ['in'], incus.capabilities.firewallProtocols)
      const firewall = { id: 'fw_00000000000000000000000001', name: 'web', rules, refs: [guest.ref], detach: [] }
      expect(await cloud.setFirewall!(firewall)).toMatchObject({ state: 'applied', refused: [] })
      const expected = (packet: Probe) => passes(rules, { ...packet, direction: 'in' })
      const found = await prober.answered(sentProbes, guest, expected)
      const wrong = sentProbes.filter((packet, at) => found[at] !== expected(packet))
      expect([set, rules, wrong]).toEqual([set, rules, []])
    }
  } finally {
    await prober.stop()
  }
}, 180_000)

test('a new address of a dynamic IP source is in the rule within two seconds, and the old one leaves after the grace period', async () => {
  await using here = await installation()
  await using hub = await startHub(here)
  const token = await fullToken(here)
  const call = async (method: string, path: string, body?: object) => {
    const response = await callHub(hub, token, method, path, body)
    if (response.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(response.body)}`)
    return response.body
  }
  const first = async (path: string) => (await call('GET', path)).data[0]
  await call('POST', '/v1/cloud-accounts', { kind: 'incus', name: 'rack', settings: { trust_token: await server.token('hub') } })
  const { id: serverId } = await until('the server', () => first('/v1/servers?q=web'))
  const source = await call('POST', '/v1/dynamic-ips', { name: 'Office router' })
  const report = (ipv4: string) => call('POST', `/v1/dynamic-ips/${source.id}/report`, { ipv4 })
  await report('203.0.113.7')
  const base = { direction: 'in', protocol: 'tcp' }
  const rules = [
    { ...base, id: 'ssh', ports: ['22'], sources: [source.id, '198.51.100.0/24'] },
    { ...base, id: 'https', ports: ['443'], sources: ['0.0.0.0/0', '::/0'] },
  ]
  const firewall = await call('POST', '/v1/firewalls', { name: 'office', rules })
  await call('POST', `/v1/firewalls/${firewall.id}/attach`, { server_ids: [serverId] })
  await until('the firewall', async () => (await call('GET', `/v1/firewalls/${firewall.id}`)).state === 'applied')
  const links = `/v1/dynamic-ips/${source.id}/firewall-links`
  const graceMs = 3000
  await call('PATCH', `${links}/${(await first(links)).id}`, { grace_seconds: graceMs / 1000 })

  const acls = async (): Promise<any[]> => await server.call('GET', '/1.0/network-acls?recursion=1')
  /** Everything that a firewall changes. The sources of the rule are separate. */
  const seen = async () => {
    const [all, instances, networks] = [
      await acls(),
      await server.call('GET', '/1.0/instances?recursion=1'),
      await server.call('GET', '/1.0/networks?recursion=1'),
    ]
    const named = all.flatMap(one => one.ingress).find(one => one.description === 'ssh')
    const sources: string[] = named.source.split(',').sort()
    named.source = ''
    const devices = instances.map((one: any) => one.devices)
    return { sources, others: { all, devices, networks: networks.map((one: any) => one.config) } }
  }
  const before = await seen()
  const audited = async () => (await call('GET', '/v1/audit-events?sort=occurred_at&limit=100')).data
  const known = (await audited()).length
  const [old, current, fixed] = ['203.0.113.7/32', '203.0.113.8/32', '198.51.100.0/24']
  expect(before.sources).toEqual([fixed, old])

  const startedAt = performance.now()
  await report('203.0.113.8')
  const added = await until('the new address', async () => {
    const found = await seen()
    return found.sources.includes(current) && { ...found, ms: performance.now() - startedAt }
  })
  expect(added.sources).toEqual([fixed, old, current])
  expect(added.ms).toBeLessThan(2000)
  const removed = await until('the end of the grace period', async () => {
    const found = await seen()
    return !found.sources.includes(old) && { ...found, ms: performance.now() - startedAt }
  })
  expect(removed.sources).toEqual([fixed, current])
  expect(removed.ms).toBeGreaterThan(graceMs - 100)
  expect(removed.ms).toBeLessThan(graceMs + 3000)
  for (const one of [added, removed]) expect(one.others).toEqual(before.others)
  expect(await call('GET', `/v1/firewalls/${firewall.id}`)).toMatchObject({ rules_version: 1 })
  // The report and the end of the grace period both name the source and the firewall.
  const both = [
    { type: 'dynamic_ip', id: source.id, name: 'Office router' },
    { type: 'firewall', id: firewall.id, name: 'office' },
  ]
  expect((await audited()).slice(known)).toMatchObject([
    {
      ...{ action: 'dynamic_ip.report', actor: { type: 'token' }, targets: both },
      changes: { before: { ipv4: '203.0.113.7' }, after: { ipv4: '203.0.113.8' } },
    },
    {
      ...{ action: 'dynamic_ip.firewall_link.expire', actor: { type: 'system' }, targets: both },
      changes: { before: { networks: [old] }, after: { networks: [] } },
    },
  ])
}, 180_000)

test('the benchmark changes rules and restarts a server at an account that it is given, and leaves no firewall behind', async () => {
  await using here = await installation()
  const [account, results] = ['account.json', 'results.json'].map(name => join(here.folder, name)) as [string, string]
  const content = { kind: 'incus', settings: { trust_token: await server.token('bench') }, server: 'web' }
  writeFileSync(account, JSON.stringify(content))
  const args = ['--only', 'changes', '--account', account, '--rounds', '2', '--json', results]
  const acls = () => server.call('GET', '/1.0/network-acls')
  const before = await acls()
  const { code, err } = await here.run(['bench', 'servers', ...args])
  if (code !== 0) throw new Error(err)
  const { figures } = JSON.parse(readFileSync(results, 'utf8'))
  const p50 = (name: string): number => figures.find((one: any) => one.name === `${name}, p50`).value
  expect(p50('firewall rules: PUT until applied')).toBeLessThan(2)
  expect(p50('power_cycle, end to end')).toBeLessThan(4)
  expect(await acls()).toEqual(before)
}, 180_000)
