import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  entriesOf,
  canonicalRules,
  isSameSet,
  passes,
  resolvedRules,
  ruleChanges,
  ruleProblems,
  type FirewallRule,
} from './rules'
import { plain, rulesArbitrary } from '../../../../test/support/firewall-arbitraries'

const rule = (more: Partial<FirewallRule> = {}): FirewallRule => ({
  ...{ id: 'r1', direction: 'in', protocol: 'tcp', ports: ['443'], sources: ['0.0.0.0/0'], destinations: [], description: '' },
  ...more,
})
const problemsOf = (...rules: FirewallRule[]) =>
  ruleProblems({ rules, blocks: [] }).map(({ pointer, detail }) => `${pointer}: ${detail}`)
const dip = 'dip_01k3zd4f6g8h0j2k4m6n8p0q2r'

describe('Validation', () => {
  test('names the field and the rule', () => {
    expect(problemsOf(rule())).toEqual([])
    expect(problemsOf(rule({ id: 'a' }), rule({ id: 'https', ports: ['80', '443-80', '0', '99999', 'http', '80'] }))).toEqual([
      '#/rules/1/ports/1: The range 443-80 must start with the lower port: 80-443.',
      '#/rules/1/ports/2: Ports must be between 1 and 65535, not 0.',
      '#/rules/1/ports/3: Ports must be between 1 and 65535, not 99999.',
      '#/rules/1/ports/4: Not a port: "http". Use a port such as 443, or a range such as 8000-8010.',
      '#/rules/1/ports/5: The port 80 is listed twice.',
    ])
    expect(
      problemsOf(rule({ sources: ['203.0.113.9/24', '::ffff:192.0.2.0/120', 'example.com', '10.0.0.1', '10.0.0.1/32'] })),
    ).toEqual([
      '#/rules/0/sources/0: The network 203.0.113.9/24 has host bits. Use 203.0.113.0/24.',
      '#/rules/0/sources/1: The network ::ffff:192.0.2.0/120 mixes address families. Use 192.0.2.0/24.',
      '#/rules/0/sources/2: Not a network: "example.com". Use a CIDR such as 203.0.113.0/24 or 2001:db8::/32, or the ID of a dynamic IP source.',
      '#/rules/0/sources/4: The network 10.0.0.1/32 is listed twice.',
    ])
    expect(
      problemsOf(rule({ protocol: 'icmp' }), rule({ id: 'b', sources: [] }), rule({ id: 'b', destinations: ['::/0'] })),
    ).toEqual([
      '#/rules/0/ports: A rule for the protocol icmp can’t have ports.',
      '#/rules/1/sources: A rule needs at least one network. To allow all addresses, use 0.0.0.0/0 and ::/0.',
      '#/rules/2/id: Another rule has the ID b, too. Each rule needs its own ID.',
      '#/rules/2/destinations: A rule with the direction `in` can’t have `destinations`. Use `sources`.',
    ])
    expect(problemsOf(rule({ direction: 'out', sources: [], destinations: [dip] }))).toEqual([
      `#/rules/0/destinations/0: Not a network: "${dip}". Use a CIDR such as 203.0.113.0/24 or 2001:db8::/32.`,
    ])
    expect(problemsOf(rule({ sources: [dip, `${dip}/prefix6`] }))).toEqual([])
  })

  test('limits rules, ports, and sources', () => {
    const many = Array.from({ length: 51 }, (_, at) => rule({ id: `r${at}` }))
    expect(problemsOf(...many)).toEqual(['#/rules: A firewall can have at most 50 rules, but 51 were given.'])
    const sources = Array.from({ length: 101 }, (_, at) => `10.0.0.${at}/32`)
    expect(problemsOf(rule({ sources }))).toEqual([
      '#/rules/0/sources: A rule can have at most 100 networks, but 101 were given.',
    ])
    const ports = Array.from({ length: 21 }, (_, at) => String(at + 1))
    expect(problemsOf(rule({ ports }))).toEqual(['#/rules/0/ports: A rule can have at most 20 ports, but 21 were given.'])
  })

  test('limits entries of all rules together', () => {
    const large = (id: string, ports: number) =>
      rule({
        ...{ id, ports: Array.from({ length: ports }, (_, at) => String(at + 1)) },
        sources: Array.from({ length: 100 }, (_, at) => `10.0.0.${at}/32`),
      })
    expect(problemsOf(large('a', 10), large('b', 10))).toEqual([])
    expect(problemsOf(large('a', 10), large('b', 5), large('c', 6), rule({ id: 'd' }))).toEqual([
      '#/rules/2/sources: Up to this rule, the firewall has 2100 entries (networks × ports). At most 2000 are possible.',
    ])
  })

  test('makes rules canonical', () => {
    const {
      rules: [one],
      blocks,
    } = canonicalRules({
      rules: [rule({ ports: ['80-80'], sources: ['192.0.2.1', '2001:DB8:0::/32', dip] })],
      blocks: ['192.0.2.9'],
    })
    expect(blocks).toEqual(['192.0.2.9/32'])
    expect(one).toMatchObject({ ports: ['80'], sources: ['192.0.2.1/32', '2001:db8::/32', dip] })
  })
})

const packetArbitrary = fc
  .record({
    direction: fc.constantFrom('in' as const, 'out' as const),
    protocol: fc.constantFrom('tcp' as const, 'udp' as const, 'icmp' as const),
    port: fc.integer({ min: 1, max: 70 }),
    address: fc.constantFrom('10.1.2.3', '10.9.9.9', '192.0.2.7', '198.51.100.1', '2001:db8::1', '2001:db9::1'),
  })
  .map(one => ({ ...one, port: one.protocol === 'icmp' ? null : one.port }))

describe('Sets', () => {
  test('order and grouping mean nothing', () => {
    fc.assert(
      fc.property(rulesArbitrary, packetArbitrary, (rules, packet) => {
        const split = entriesOf(rules).map((one, at) =>
          plain({ ...one, id: `s${at}`, ports: one.port === null ? [] : [one.port], networks: [one.network] }),
        )
        expect(isSameSet(rules, split.toReversed())).toBe(true)
        expect(passes(split, packet)).toBe(passes(rules, packet))
      }),
    )
  })

  test('adding before removing never cuts what both sets allow', () => {
    fc.assert(
      fc.property(rulesArbitrary, rulesArbitrary, packetArbitrary, (before, after, packet) => {
        const { added, removed } = ruleChanges(before, after)
        expect(added.filter(one => removed.includes(one))).toEqual([])
        const between = [...before, ...after]
        if (packet.direction === 'in' && passes(before, packet) && passes(after, packet))
          expect(passes(between, packet)).toBe(true)
        expect(ruleChanges(after, after)).toEqual({ added: [], removed: [] })
      }),
    )
  })

  test('dynamic IP sources become their networks', () => {
    const networks = ({ isPrefix }: { isPrefix: boolean }) => [isPrefix ? '2001:db8::/56' : '203.0.113.42/32']
    const [one] = resolvedRules([rule({ sources: [dip, '10.0.0.0/8', `${dip}/prefix6`] })], networks)
    expect(one!.networks).toEqual(['203.0.113.42/32', '10.0.0.0/8', '2001:db8::/56'])
    const [nobody] = resolvedRules([rule({ sources: [dip] })], () => [])
    expect(passes([nobody!], { direction: 'in', protocol: 'tcp', port: 443, address: '203.0.113.42' })).toBe(false)
  })

  test('outgoing packets are only restricted by outgoing rules', () => {
    const packet = { direction: 'out', protocol: 'tcp', port: 443, address: '192.0.2.1' } as const
    expect(passes([plain()], packet)).toBe(true)
    expect(passes([plain({ direction: 'out', networks: ['10.0.0.0/8'] })], packet)).toBe(false)
    expect(passes(null, { ...packet, direction: 'in' })).toBe(true)
    expect(passes([], { ...packet, direction: 'in' })).toBe(false)
  })
})
