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
      '#/rules/1/ports/1: of the rule https must start with the lower port: 80-443 instead of 443-80.',
      '#/rules/1/ports/2: of the rule https must be between 1 and 65535, not 0.',
      '#/rules/1/ports/3: of the rule https must be between 1 and 65535, not 99999.',
      '#/rules/1/ports/4: of the rule https must be a port such as 443 or a range such as 8000-8010, not "http".',
      '#/rules/1/ports/5: of the rule https contains 80 twice.',
    ])
    expect(
      problemsOf(rule({ sources: ['203.0.113.9/24', '::ffff:192.0.2.0/120', 'example.com', '10.0.0.1', '10.0.0.1/32'] })),
    ).toEqual([
      '#/rules/0/sources/0: of the rule r1 must be a network address: 203.0.113.9/24 has host bits. Use 203.0.113.0/24.',
      '#/rules/0/sources/1: of the rule r1 must not mix address families: use 192.0.2.0/24 instead of ::ffff:192.0.2.0/120.',
      '#/rules/0/sources/2: of the rule r1 must be a network such as 203.0.113.0/24 or 2001:db8::/32, or the ID of a dynamic IP source, not "example.com".',
      '#/rules/0/sources/4: of the rule r1 contains 10.0.0.1/32 twice.',
    ])
    expect(
      problemsOf(rule({ protocol: 'icmp' }), rule({ id: 'b', sources: [] }), rule({ id: 'b', destinations: ['::/0'] })),
    ).toEqual([
      '#/rules/0/ports: of the rule r1 must be empty for the protocol icmp.',
      '#/rules/1/sources: of the rule b must contain at least one network. To allow all addresses, use 0.0.0.0/0 and ::/0.',
      '#/rules/2/id: of the rule b is also the ID of another rule. IDs must be unique within the firewall.',
      '#/rules/2/destinations: of the rule b must be empty, because the direction is `in`. Use `sources`.',
    ])
    expect(problemsOf(rule({ direction: 'out', sources: [], destinations: [dip] }))).toEqual([
      `#/rules/0/destinations/0: of the rule r1 must be a network such as 203.0.113.0/24 or 2001:db8::/32, not "${dip}".`,
    ])
    expect(problemsOf(rule({ sources: [dip, `${dip}/prefix6`] }))).toEqual([])
  })

  test('limits rules, ports, and sources', () => {
    const many = Array.from({ length: 51 }, (_, at) => rule({ id: `r${at}` }))
    expect(problemsOf(...many)).toEqual(['#/rules: can contain at most 50 rules, but 51 were given.'])
    const sources = Array.from({ length: 101 }, (_, at) => `10.0.0.${at}/32`)
    expect(problemsOf(rule({ sources }))).toEqual([
      '#/rules/0/sources: of the rule r1 can contain at most 100 entries, but 101 were given.',
    ])
    const ports = Array.from({ length: 21 }, (_, at) => String(at + 1))
    expect(problemsOf(rule({ ports }))).toEqual([
      '#/rules/0/ports: of the rule r1 can contain at most 20 ports, but 21 were given.',
    ])
  })

  test('limits entries of all rules together', () => {
    const large = (id: string, ports: number) =>
      rule({
        ...{ id, ports: Array.from({ length: ports }, (_, at) => String(at + 1)) },
        sources: Array.from({ length: 100 }, (_, at) => `10.0.0.${at}/32`),
      })
    expect(problemsOf(large('a', 10), large('b', 10))).toEqual([])
    expect(problemsOf(large('a', 10), large('b', 5), large('c', 6), rule({ id: 'd' }))).toEqual([
      '#/rules/2/sources: of the rule c would make 2100 entries (networks × ports) in total, and a firewall can have at most 2000.',
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
