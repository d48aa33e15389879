import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { rdataOfText } from '../../../dns/rdata'
import type { Caps, Op, ProviderRrset } from '../providers/provider'
import { rrsetKey } from '../zones/names'
import { externalChanges, evaluate, type Evaluated, type EvaluationInput } from './evaluate'
import type { KnownState } from './three-way'

const caps: Caps = {
  unit: 'rrset',
  atomic: 'batch',
  cas: 'none',
  unsupported: new Set(['LOC']),
  ttl: { min: 60, max: 86_400 },
  batchOps: 100,
  rechunksTxt: false,
  alias: 'none',
  apexNs: 'rw',
}
const rrset = (name: string, type: string, text: string, ttl = 300): ProviderRrset => ({
  name,
  type,
  ttl,
  values: [rdataOfText(type, text, 'example.com.')],
})
const a = (name: string, last: number, ttl?: number) => rrset(name, 'A', `192.0.2.${last}`, ttl)
const keyed = (list: ProviderRrset[]) => new Map(list.map(one => [rrsetKey(one), one]))
const look = (desired: ProviderRrset[], observed: ProviderRrset[], more: Partial<EvaluationInput> = {}) =>
  evaluate({
    desired: keyed(desired),
    known: new Map(),
    observed,
    foreign: [],
    aliases: new Map(),
    caps,
    findUnsupported: () => [],
    rules: [],
    deletesUnmanaged: false,
    isNew: false,
    isFirst: false,
    enforces: () => false,
    ...more,
  })
/** The known states after a snapshot was stored. */
const knownOf = (seen: Evaluated): Map<string, KnownState> => new Map(seen.states.map(one => [rrsetKey(one), one]))
const states = (seen: Evaluated) => Object.fromEntries(seen.states.map(one => [rrsetKey(one), one.state]))
const steps = (seen: Evaluated) => seen.ops.map(one => `${one.action} ${one.name} ${one.type}`)

test('the first sync creates missing rrsets, and changes nothing that exists there', () => {
  const seen = look([a('here', 1), a('both', 2), a('other', 3)], [a('both', 2), a('other', 4), a('there', 5)])
  expect(states(seen)).toEqual({ 'here A': 'pending', 'both A': 'synced', 'other A': 'conflict', 'there A': 'unmanaged' })
  expect(steps(seen)).toEqual(['create here A'])
})

test('TTLs are sent and compared as the provider stores them', () => {
  const seen = look([a('short', 1, 5)], [])
  expect(seen.ops[0]!.after!.ttl).toBe(60)
  expect(states(look([a('short', 1, 5)], [a('short', 1, 60)]))).toEqual({ 'short A': 'synced' })
})

test('apex NS records are left to a provider that manages them', () => {
  const ns = rrset('@', 'NS', 'ns1.example.net.')
  for (const apexNs of ['ro', 'hidden'] as const)
    expect(look([ns], [], { caps: { ...caps, apexNs } })).toMatchObject({ states: [{ state: 'ignored' }], ops: [] })
  expect(steps(look([ns], []))).toEqual(['create @ NS'])
})

test('unsupported rrsets are skipped, and names that would be lost are reported', () => {
  const loc = rrset('x', 'LOC', '52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m')
  const alias = rrset('x', 'ALIAS', 'www.example.net.')
  const before = look([rrset('x', 'CNAME', 'www')], [rrset('x', 'CNAME', 'www')])
  const seen = look([alias, loc], [rrset('x', 'CNAME', 'www')], { known: knownOf(before) })
  expect(states(seen)).toEqual({ 'x ALIAS': 'unsupported', 'x LOC': 'unsupported', 'x CNAME': 'pending' })
  expect(steps(seen)).toEqual(['delete x CNAME'])
  expect(seen.blockingUnsupported.map(one => one.type)).toEqual(['ALIAS', 'LOC'])
  expect(look([loc], []).blockingUnsupported).toEqual([])
})

test('a refused change stays in error until something changes', () => {
  const refused = look([a('x', 1)], [])
  refused.states[0]!.state = 'error'
  refused.states[0]!.detail = 'no'
  const again = look([a('x', 1)], [], { known: knownOf(refused) })
  expect(again.states[0]).toMatchObject({ state: 'error', detail: 'no' })
  expect(steps(again)).toEqual(['create x A'])
})

test('external changes are compared to the previous read', () => {
  const desired = [a('same', 1), a('changed', 2), a('missing', 3), a('ours', 4)]
  const first = look(desired, [...desired, a('found', 8)])
  const now = look(desired, [a('same', 1), a('changed', 9), a('ours', 5), a('new', 6)], { known: knownOf(first) })
  const changes = externalChanges(now.states, now.absent, knownOf(first), new Set(['ours A']))
  expect(changes.map(one => [one.name, one.before?.observed !== undefined, one.after?.state ?? null]).sort()).toEqual([
    ['changed', true, 'drifted'],
    ['found', true, null],
    ['missing', true, 'drifted'],
    ['new', false, 'unmanaged'],
  ])
  const again = look(desired, [a('same', 1), a('changed', 9), a('ours', 5), a('new', 6)], { known: knownOf(now) })
  expect(externalChanges(again.states, again.absent, knownOf(now), new Set())).toEqual([])
})

const some = fc.uniqueArray(
  fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), last: fc.integer({ min: 1, max: 3 }), ttl: fc.constantFrom(60, 300) }),
  { selector: one => one.name, maxLength: 4 },
)
const create = (list: { name: string; last: number; ttl: number }[]) => list.map(one => a(one.name, one.last, one.ttl))
const applied = (observed: ProviderRrset[], ops: Op[]): ProviderRrset[] => {
  const there = keyed(observed)
  for (const op of ops) {
    if (op.after) there.set(rrsetKey(op), op.after)
    else there.delete(rrsetKey(op))
  }
  return [...there.values()]
}

test('after applying the steps, nothing is left to do', () => {
  fc.assert(
    fc.property(some, some, some, fc.boolean(), fc.boolean(), (first, desired, observed, deletesUnmanaged, enforces) => {
      const known = knownOf(look(create(first), create(first)))
      const policy = { deletesUnmanaged, enforces: () => enforces }
      const seen = look(create(desired), create(observed), { known, ...policy })
      const after = look(create(desired), applied(create(observed), seen.ops), { known: knownOf(seen), ...policy })
      expect(after.ops).toEqual([])
      // Unmanaged rrsets are not changed.
      if (!enforces)
        for (const one of seen.states)
          if (one.state === 'drifted' || one.state === 'conflict') expect(seen.ops.some(op => op.name === one.name)).toBe(false)
      if (deletesUnmanaged && enforces) expect(after.states.every(one => one.state === 'synced')).toBe(true)
    }),
  )
})

test('what is not a plain rrset is kept, and a record with its name and type is not sent', () => {
  const foreign = [
    { name: 'www', type: 'A', detail: 'one of two' },
    { name: 'www', type: 'A', detail: 'the other' },
    { name: 'cdn', type: 'AAAA', detail: 'Alias' },
  ]
  const seen = look([a('www', 1), a('new', 2)], [], { foreign, deletesUnmanaged: true, enforces: () => true })
  expect(states(seen)).toEqual({ 'www A': 'unsupported', 'new A': 'pending', 'cdn AAAA': 'ignored' })
  expect(steps(seen)).toEqual(['create new A'])
  expect(seen.unsupported).toMatchObject([{ name: 'www', type: 'A', detail: expect.stringMatching(/one of two; the other$/) }])
  const gone = look([a('www', 1)], [], { known: knownOf(seen) })
  expect([states(gone), steps(gone), gone.absent]).toEqual([{ 'www A': 'pending' }, ['create www A'], ['new A', 'cdn AAAA']])
  expect(gone.observedHash).not.toBe(seen.observedHash)
})

test('an rrset with more records than the provider allows is not sent', () => {
  const wide = (count: number) => ({ ...a('www', 1), values: Array.from({ length: count }, (_, n) => a('www', n).values[0]!) })
  const limited = { ...caps, recordsMax: 3 }
  expect(steps(look([wide(3)], [], { caps: limited }))).toEqual(['create www A'])
  const seen = look([wide(4)], [], { caps: limited })
  expect(seen.ops).toEqual([])
  expect(seen.unsupported[0]!.detail).toBe('The provider allows up to 3 records with the same name and type; there are 4.')
})
