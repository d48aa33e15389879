import { afterAll, beforeAll, expect, test } from 'bun:test'
import { nftRuleset, noRuleset } from '../../src/features/servers/firewalls/host-ruleset'
import { blockingRules, passes, type PlainRule } from '../../src/features/servers/firewalls/rules'
import { NetworkNamespace } from '../support/network-namespace'
import { gateways, PacketProber, sentProbes } from '../support/packet-prober'
import { generator } from '../support/random'
import { randomRules, type Probe } from '../support/random-rules'

const firewallId = 'fw_01k3zd5s7t9v1w3x5y7z9a1b3c'
const rulesetOf = (rules: readonly PlainRule[], blocks: string[] = [], uplinks: string[] = []) =>
  nftRuleset({
    rules: [...rules, ...blockingRules(blocks)].map(one => ({ ...one, firewallId })),
    agent: { uid: 987, hubPort: 443, isHubNamed: true },
    uplinks,
  })

let host: NetworkNamespace
let prober: PacketProber
beforeAll(async () => {
  host = await NetworkNamespace.create()
  prober = await PacketProber.start(host.pid)
  // Ports that nothing listens on answer each packet.
  host.run('echo 0 > /proc/sys/net/ipv4/icmp_ratemask; echo > /proc/sys/net/ipv6/icmp/ratemask')
}, 180_000)
afterAll(async () => {
  await prober?.stop()
  await host?.end()
})
const apply = (text: string) => host.run('nft -f -', text)

test('nftables accepts what is generated for random rules', () => {
  const random = generator(20_261_128)
  for (let set = 0; set < 200; set++) {
    const [blocks, uplinks] = [random(2) ? ['198.51.100.0/24', '2001:db9::/32'] : [], random(2) ? ['eth0', 'wlan0'] : []]
    host.run('nft -c -f -', rulesetOf(randomRules(random, ['in', 'out']), blocks, uplinks))
  }
}, 180_000)

test('the packets that pass are those that the rules allow, for random rules', async () => {
  const random = generator(20_261_127)
  for (let set = 0; set < 20; set++) {
    const rules = randomRules(random)
    apply(rulesetOf(rules))
    const expected = (packet: Probe) => passes(rules, { ...packet, direction: 'in' })
    const found = await prober.answered(sentProbes, gateways, expected)
    expect([set, rules, sentProbes.filter((packet, at) => found[at] !== expected(packet))]).toEqual([set, rules, []])
  }
  apply(noRuleset)
  expect((await prober.answered(sentProbes, gateways, () => true)).every(Boolean)).toBe(true)
}, 180_000)

const web: PlainRule = { id: 'web', direction: 'in', protocol: 'tcp', ports: ['8080', '8090-8099'], networks: ['0.0.0.0/0'] }

test('published ports of containers are filtered by the port that packets were sent to', async () => {
  const container = await NetworkNamespace.create()
  try {
    host.run(`ip link add bridge type veth peer name eth0 netns ${container.pid}
      ip address add 172.17.0.1/16 dev bridge; ip link set bridge up; echo 1 > /proc/sys/net/ipv4/ip_forward`)
    container.run('ip address add 172.17.0.2/16 dev eth0; ip link set eth0 up; ip route add default via 172.17.0.1')
    apply(`table ip docker {
      chain pre { type nat hook prerouting priority dstnat; tcp dport { 8080, 8081, 8095 } dnat to 172.17.0.2:80; }
    }`)
    const ports = async () => {
      const sent = [8080, 8081, 8095].map(port => ({ protocol: 'tcp' as const, address: '192.0.2.7', port }))
      return await prober.answered(sent, gateways, ({ port }) => port !== 8081)
    }
    expect(await ports()).toEqual([true, true, true])
    apply(rulesetOf([web], [], ['probes']))
    expect(await ports()).toEqual([true, false, true])
    apply(rulesetOf([web], ['192.0.2.0/24'], ['probes']))
    expect(await ports()).toEqual([false, false, false])
    // Other tables stay.
    expect(host.run('nft list tables')).toContain('table ip docker')
  } finally {
    host.run('nft flush ruleset')
    await container.end()
  }
}, 180_000)

test('services of a cluster stay reachable for its pods', async () => {
  const pods = [await NetworkNamespace.create(), await NetworkNamespace.create()]
  try {
    for (const [at, pod] of pods.entries()) {
      host.run(`ip link add pod${at} type veth peer name eth0 netns ${pod.pid}
        ip address add 10.244.${at}.1/24 dev pod${at}; ip link set pod${at} up; echo 1 > /proc/sys/net/ipv4/ip_forward`)
      pod.run(`ip address add 10.244.${at}.2/24 dev eth0; ip link set eth0 up; ip route add default via 10.244.${at}.1`)
    }
    // As kube-proxy does for a service and a node port.
    apply(`table ip kube {
      chain pre { type nat hook prerouting priority dstnat; ip daddr 10.96.0.10 tcp dport 443 dnat to 10.244.1.2:8443; tcp dport 30443 dnat to 10.244.1.2:8443; }
    }`)
    const connect = `import socket; s = socket.socket(); s.settimeout(2); print(s.connect_ex(('10.96.0.10', 443)) == 111)`
    const isServed = () => pods[0]!.run('python3 -', connect).trim()
    const nodePort = async () =>
      (await prober.answered([{ protocol: 'tcp', address: '192.0.2.7', port: 30443 }], gateways, () => false))[0]
    expect([isServed(), await nodePort()]).toEqual(['True', true])
    apply(rulesetOf([web], [], ['probes']))
    expect([isServed(), await nodePort()]).toEqual(['True', false])
    apply(rulesetOf([web]))
    expect([isServed(), await nodePort()]).toEqual(['True', true])
  } finally {
    host.run('nft flush ruleset')
    for (const pod of pods) await pod.end()
  }
}, 180_000)

test('the agent can reach the hub if rules restrict outgoing packets', () => {
  const isAnswered = (uid: number) => {
    const connect = `import os, socket; os.setuid(${uid}); s = socket.socket(); s.settimeout(1); print(s.connect_ex(('192.0.2.7', 8484)) == 111)`
    return host.run('python3 -', connect).trim()
  }
  apply(rulesetOf([{ ...web, id: 'out', direction: 'out', networks: ['10.0.0.0/8'] }]))
  expect([987, 988].map(isAnswered)).toEqual(['True', 'False'])
  apply(noRuleset)
  expect([987, 988].map(isAnswered)).toEqual(['True', 'True'])
})

test('each rule has a counter with its comment', async () => {
  apply(rulesetOf([web]))
  await prober.answered(
    [8080, 8090, 22].map(port => ({ protocol: 'tcp', address: '192.0.2.7', port })),
    gateways,
    () => false,
  )
  const listed = JSON.parse(host.run('nft -j list chain inet bailiwick in')).nftables as any[]
  const counts = listed.flatMap(({ rule }) => {
    const counter = rule?.expr.find((one: any) => one.counter)?.counter
    return counter ? [[rule.comment, counter.packets > 0]] : []
  })
  expect(counts).toEqual([
    [`${firewallId}.web`, true],
    ['default', true],
  ])
})
