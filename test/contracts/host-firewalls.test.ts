import { describe, expect, test } from 'bun:test'
import { nftRuleset, noRuleset, type HostRules } from '../../src/features/servers/firewalls/host-ruleset'
import { blockingRules, passes, type PlainRule } from '../../src/features/servers/firewalls/rules'
import { NftModel, type HostPacket } from '../support/nft-model'
import { generator } from '../support/random'
import { probes, randomRules, type Probe } from '../support/random-rules'

const host = { 4: '192.0.2.1', 6: '2001:db8::9' }
const firewallId = 'fw_01k3zd5s7t9v1w3x5y7z9a1b3c'
const agent = { uid: 987, hubPort: 8484, isHubNamed: false }
const hostRules = (rules: readonly PlainRule[], more: Partial<HostRules> = {}): HostRules => ({
  rules: rules.map(one => ({ ...one, firewallId })),
  ...{ agent, uplinks: ['eth0'] },
  ...more,
})
const table = (rules: readonly PlainRule[], more?: Partial<HostRules>) => new NftModel(nftRuleset(hostRules(rules, more)))
const packet = (hook: HostPacket['hook'], { protocol, address, port }: Probe): HostPacket => {
  const own = host[address.includes(':') ? 6 : 4]
  const [source, destination] = hook === 'output' ? [own, address] : [address, own]
  return { hook, protocol, source, destination, port }
}

test('a host lets the packets pass that the rules allow, for random rules', () => {
  const random = generator(20_261_127)
  for (let set = 0; set < 200; set++) {
    const blocks = random(3) === 0 ? ['10.1.0.0/16', '2001:db9::/32'] : []
    const rules = [...randomRules(random, ['in', 'in', 'out']), ...blockingRules(blocks)]
    const model = table(rules)
    for (const probe of probes)
      for (const [direction, hooks] of [['in', ['input', 'forward']] as const, ['out', ['output']] as const])
        for (const hook of hooks) {
          const found = model.passes(packet(hook, probe))
          expect([set, hook, probe, found]).toEqual([set, hook, probe, passes(rules, { ...probe, direction })])
        }
  }
})

describe('the table of a host', () => {
  const ssh: PlainRule = { id: 'ssh', direction: 'in', protocol: 'tcp', ports: ['22'], networks: ['10.0.0.0/8'] }
  const web: PlainRule = { ...ssh, id: 'web', ports: ['80-90', '85-443', '91'], networks: ['0.0.0.0/0', '::/0'] }
  const ntp: PlainRule = { ...ssh, id: 'ntp', direction: 'out', protocol: 'udp', ports: ['123'], networks: ['192.0.2.53/32'] }

  test('is replaced as a whole', () => {
    const text = nftRuleset(hostRules([ssh, web, ntp, ...blockingRules(['198.51.100.0/24'])], { uplinks: ['eth0'] }))
    expect(text).toStartWith(`${noRuleset}table inet bailiwick {\n`)
    const counted = text.split('\n').filter(one => one.includes(' counter ') || one.trim().startsWith('counter'))
    const [forSsh, forWeb, forNtp] = ['ssh', 'web', 'ntp'].map(id => `counter accept comment "${firewallId}.${id}"`)
    expect(counted.map(one => one.trim())).toEqual([
      'ip saddr @blocks_4 counter drop comment "blocks"',
      `ip saddr @r0_4 tcp dport { 22 } ${forSsh}`,
      `meta nfproto ipv4 tcp dport { 80-443 } ${forWeb}`,
      `meta nfproto ipv6 tcp dport { 80-443 } ${forWeb}`,
      'counter drop comment "default"',
      `ip daddr @r2_4 udp dport { 123 } ${forNtp}`,
      'counter drop comment "default"',
      'ct status dnat ip saddr @blocks_4 counter drop comment "blocks"',
      `ct status dnat meta l4proto 6 ct original proto-dst 22 ip saddr @r0_4 ${forSsh}`,
      `ct status dnat meta l4proto 6 ct original proto-dst 80-443 meta nfproto ipv4 ${forWeb}`,
      `ct status dnat meta l4proto 6 ct original proto-dst 80-443 meta nfproto ipv6 ${forWeb}`,
      'ct status dnat ct direction original iifname @uplinks counter drop comment "default"',
    ])
    expect(noRuleset).toBe('table inet bailiwick {}\ndelete table inet bailiwick\n')
    expect(new NftModel(noRuleset).passes(packet('input', { protocol: 'tcp', address: '192.0.2.9', port: 9 }))).toBe(true)
  })

  test('drops blocked networks whatever the rules allow, also to published ports', () => {
    const model = table([web, ...blockingRules(['10.1.0.0/16', '2001:db9::/32'])])
    const passing = (address: string) =>
      (['input', 'forward'] as const).map(hook => model.passes(packet(hook, { protocol: 'tcp', address, port: 443 })))
    expect(['10.1.2.3', '10.2.2.3', '2001:db9::1', '2001:db8::1'].map(passing)).toEqual([
      [false, false],
      [true, true],
      [false, false],
      [true, true],
    ])
  })

  test('lets the agent reach the hub if rules restrict outgoing packets', () => {
    const sent = (more: Partial<HostRules['agent']>, protocol: 'tcp' | 'udp', port: number, uid: number) => {
      const model = table([ntp], { agent: { ...agent, ...more } })
      return model.passes({ ...packet('output', { protocol, address: '203.0.113.5', port }), uid })
    }
    expect([sent({}, 'tcp', 8484, 987), sent({}, 'tcp', 3128, 987), sent({}, 'tcp', 8484, 1000)]).toEqual([true, true, false])
    // Everything that runs as root must not pass.
    expect([sent({ uid: 0 }, 'tcp', 8484, 0), sent({ uid: 0 }, 'tcp', 443, 0)]).toEqual([true, false])
    const resolves = (isHubNamed: boolean) => (['udp', 'tcp'] as const).map(one => sent({ isHubNamed }, one, 53, 1000))
    expect([resolves(true), resolves(false)]).toEqual([
      [true, true],
      [false, false],
    ])
  })

  test('only filters what comes from other networks to published ports', () => {
    const model = table([ssh], { uplinks: ['eth0'] })
    const fromContainer = { ...packet('forward', { protocol: 'tcp', address: '172.17.0.3', port: 80 }), interface: 'docker0' }
    expect([model.passes(fromContainer), model.passes({ ...fromContainer, interface: 'eth0' })]).toEqual([true, false])
    const unknown = table([ssh, ...blockingRules(['10.1.0.0/16'])], { uplinks: [] })
    const forwarded = (address: string) => unknown.passes(packet('forward', { protocol: 'tcp', address, port: 80 }))
    expect([forwarded('172.17.0.3'), forwarded('10.1.2.3')]).toEqual([true, false])
  })

  test('counts the packets of each rule', () => {
    const model = table([ssh, web])
    for (const port of [22, 443, 443, 8080]) model.passes(packet('input', { protocol: 'tcp', address: '10.1.2.3', port }))
    expect(Object.fromEntries(model.counters)).toEqual({
      [`accept ${firewallId}.ssh`]: 1,
      [`accept ${firewallId}.web`]: 2,
      'drop default': 1,
    })
  })
})
