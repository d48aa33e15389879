import { expect, test } from 'bun:test'
import { rdataOfText } from '../../../dns/rdata'
import type { AliasAddresses } from '../aliases/expand'
import type { Caps, ProviderRrset } from '../providers/provider'
import { rrsetKey } from '../zones/names'
import { adoptable } from '../drift/adopt-observed'
import { evaluate } from './evaluate'
import type { KnownState } from './three-way'

const caps: Caps = {
  unit: 'rrset',
  atomic: 'zone',
  cas: 'prerequisite',
  unsupported: new Set(),
  ttl: { min: 0, max: 2 ** 31 - 1 },
  batchOps: 100,
  rechunksTxt: false,
  alias: 'expand',
  apexNs: 'rw',
}
const rrset = (name: string, type: string, ttl: number, ...values: string[]): ProviderRrset => ({
  name,
  type,
  ttl,
  values: values.map(value => rdataOfText(type, value, '.')),
})
const found = (name: string, ttl: number, ...addresses: string[]): AliasAddresses => ({
  name,
  ttl,
  A: addresses.map(address => rdataOfText('A', address, null)),
  AAAA: [],
})

const seen = (
  desired: ProviderRrset[],
  observed: ProviderRrset[],
  aliases: AliasAddresses[],
  more: { known?: Map<string, KnownState>; alias?: Caps['alias'] } = {},
) =>
  evaluate({
    desired: new Map(desired.map(one => [rrsetKey(one), one])),
    observed,
    foreign: [],
    known: more.known ?? new Map(),
    caps: { ...caps, alias: more.alias ?? 'expand' },
    aliases: new Map(aliases.map(one => [one.name, one])),
    findUnsupported: () => [],
    rules: [],
    deletesUnmanaged: false,
    isNew: false,
    isFirst: false,
    enforces: () => false,
  })
const steps = (of: ReturnType<typeof seen>) =>
  of.ops.map(one =>
    `${one.action} ${one.name} ${one.type} ${one.after?.ttl ?? ''} ${one.after?.values.map(value => value.join('.')) ?? ''}`.trim(),
  )
const states = (of: ReturnType<typeof seen>) => of.states.map(one => `${one.name} ${one.type} ${one.state}`).sort()
/** The known states after everything that was read was agreed on. */
const agreed = (of: ReturnType<typeof seen>) => new Map(of.states.map(one => [rrsetKey(one), { ...one, agreed: one.observed }]))

const alias = rrset('@', 'ALIAS', 600, 'cdn.far.test.')
const www = rrset('www', 'A', 60, '192.0.2.1')

test('a provider without ALIAS gets addresses instead, and the ALIAS has their state', () => {
  const first = seen([alias, www], [www], [found('@', 30, '198.51.100.7', '198.51.100.8')])
  expect(steps(first)).toEqual(['create @ A 30 198.51.100.7,198.51.100.8'])
  expect(states(first)).toEqual(['@ A pending', '@ ALIAS pending', 'www A synced'])
  const there = rrset('@', 'A', 30, '198.51.100.7', '198.51.100.8')
  const second = seen([alias, www], [www, there], [found('@', 30, '198.51.100.7', '198.51.100.8')], { known: agreed(first) })
  expect([second.ops, second.absent, states(second)]).toEqual([[], [], ['@ A synced', '@ ALIAS synced', 'www A synced']])
  const moved = seen([alias, www], [www, there], [found('@', 30, '198.51.100.9')], { known: agreed(second) })
  expect(steps(moved)).toEqual(['update @ A 30 198.51.100.9'])
  const removed = seen([www], [www, there], [], { known: agreed(second) })
  expect(steps(removed)).toEqual(['delete @ A'])
})

test('existing addresses stay until the ALIAS is resolved', () => {
  const there = rrset('@', 'A', 30, '198.51.100.7')
  const before = agreed(seen([alias], [there], [found('@', 30, '198.51.100.7')]))
  const unknown = seen([alias], [there], [], { known: before })
  expect(steps(unknown)).toEqual([])
  expect(states(unknown)).toEqual(['@ A synced', '@ ALIAS pending'])
  // An empty result counts as resolved.
  expect(steps(seen([alias], [there], [found('@', 30)], { known: before }))).toEqual(['delete @ A'])
})

test('externally changed addresses are drift, and are not adopted', () => {
  const there = rrset('@', 'A', 30, '198.51.100.7')
  const known = agreed(seen([alias], [there], [found('@', 30, '198.51.100.7')]))
  const drifted = seen([alias], [rrset('@', 'A', 30, '203.0.113.1')], [found('@', 30, '198.51.100.7')], { known })
  expect(states(drifted)).toEqual(['@ A drifted', '@ ALIAS drifted'])
  expect([drifted.ops, adoptable(drifted, new Set())]).toEqual([[], []])
})

test('a provider with native ALIAS, or without expansion, gets no addresses', () => {
  expect(steps(seen([alias], [], [found('@', 30, '198.51.100.7')], { alias: 'native' }))).toHaveLength(1)
  expect(states(seen([alias], [], [found('@', 30, '198.51.100.7')], { alias: 'none' }))).toEqual(['@ ALIAS unsupported'])
})
