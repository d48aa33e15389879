import { expect, test } from 'bun:test'
import { blockReasons, implausibleReason, type GuardInput } from './guards'

const names = (count: number, first = 0) => Array.from({ length: count }, (_, n) => ({ name: `n${n + first}`, type: 'A' }))
const ops = (action: 'create' | 'update' | 'delete', of: { name: string; type: string }[]) => of.map(one => ({ ...one, action }))
const codes = (planned: Partial<GuardInput>) =>
  blockReasons({
    ops: [],
    existing: names(10),
    limits: { update: 30, delete: 30 },
    locked: new Set(),
    driven: new Set(),
    unsupported: [],
    isFirst: false,
    ...planned,
  }).map(one => one.code)

test('of ten rrsets, three may be deleted, but not four', () => {
  expect(codes({ ops: ops('delete', names(3)) })).toEqual([])
  expect(codes({ ops: ops('delete', names(4)) })).toEqual(['deletes_over_limit'])
  expect(codes({ ops: ops('update', names(3)) })).toEqual([])
  expect(codes({ ops: ops('update', names(4)) })).toEqual(['updates_over_limit'])
  expect(codes({ ops: [...ops('update', names(3)), ...ops('delete', names(3, 3))] })).toEqual([])
})

test('a zone can have its own limits', () => {
  const limits = { update: 100, delete: 0 }
  expect(codes({ ops: ops('update', names(10)), limits })).toEqual([])
  expect(codes({ ops: ops('delete', names(1)), limits })).toEqual(['deletes_over_limit'])
})

test('in a small zone, deleting three rrsets is blocked if they are half of it', () => {
  expect(codes({ existing: names(6), ops: ops('delete', names(3)) })).toEqual(['deletes_over_limit'])
  expect(codes({ existing: names(7), ops: ops('delete', names(3)) })).toEqual([])
  expect(codes({ existing: names(3), ops: ops('delete', names(2)) })).toEqual([])
  expect(codes({ existing: names(5), ops: ops('update', names(5)) })).toEqual([])
})

test('emptying a zone is blocked', () => {
  expect(codes({ existing: names(1), ops: ops('delete', names(1)) })).toEqual(['zone_emptied'])
  expect(codes({ existing: [], ops: [] })).toEqual([])
})

test.each([
  ['NS', '@', ['loses_apex_ns', 'apex_ns_change']],
  ['MX', '@', ['loses_apex_mx']],
  ['AAAA', '@', ['loses_apex_address']],
  ['DS', 'child', ['loses_ds']],
  ['CAA', '@', ['loses_caa']],
  ['MX', 'lists', []],
  ['TXT', '@', []],
])('the last %s of %s needs approval: %p', (type, name, expected) => {
  const existing = [...names(20), { name, type }]
  expect(codes({ existing, ops: ops('delete', [{ name, type }]) })).toEqual(expected as never)
})

test('an apex address can be replaced by another', () => {
  const existing = [...names(20), { name: '@', type: 'A' }]
  const swap = [...ops('delete', [{ name: '@', type: 'A' }]), ...ops('create', [{ name: '@', type: 'ALIAS' }])]
  expect(codes({ existing, ops: swap })).toEqual([])
})

test('apex NS changes, wildcards and delegations are blocked', () => {
  const ns = { name: '@', type: 'NS' }
  expect(codes({ existing: [...names(20), ns], ops: ops('update', [ns]) })).toEqual(['apex_ns_change'])
  expect(codes({ ops: ops('create', [ns]) })).toEqual([])
  expect(codes({ ops: ops('create', [{ name: '*.dev', type: 'A' }]) })).toEqual(['new_wildcard'])
  expect(codes({ existing: [...names(10), { name: '*', type: 'A' }], ops: ops('create', [{ name: '*', type: 'MX' }]) })).toEqual(
    [],
  )
  expect(codes({ ops: ops('create', [{ name: 'child', type: 'NS' }]) })).toEqual(['new_delegation'])
})

test('many creates, locked and unsupported rrsets, and the first sync are blocked', () => {
  expect(codes({ ops: ops('create', names(500, 10)) })).toEqual([])
  expect(codes({ ops: ops('create', names(501, 10)) })).toEqual(['creates_over_limit'])
  expect(codes({ ops: ops('update', names(1)), locked: new Set(['n0 A']) })).toEqual(['locked'])
  expect(codes({ unsupported: [{ name: 'x', type: 'LOC', detail: 'no LOC here.' }] })).toEqual(['unsupported'])
  expect(codes({ ops: ops('delete', names(1)), isFirst: true })).toEqual(['first_sync'])
  expect(codes({ ops: ops('create', names(1, 10)), isFirst: true })).toEqual([])
})

test('updates of rrsets that a dynamic IP source sets don’t count', () => {
  const driven = new Set(names(4).map(({ name, type }) => `${name} ${type}`))
  expect(codes({ ops: ops('update', names(4)), driven })).toEqual([])
  expect(codes({ ops: ops('update', names(8)), driven })).toEqual(['updates_over_limit'])
})

test('answers to challenges of certificate authorities come and go', () => {
  const answers = (count: number, text = 'x'.repeat(43)) =>
    Array.from({ length: count }, (_, n) => {
      const rrset = {
        name: `_acme-challenge.n${n}`,
        type: 'TXT',
        ttl: 60,
        values: [Buffer.from(`${String.fromCharCode(text.length)}${text}`)],
      }
      return { action: 'delete' as const, name: rrset.name, type: 'TXT', before: rrset, after: null }
    })
  expect(codes({ existing: [...names(10), ...answers(100)], ops: answers(100) })).toEqual([])
  expect(codes({ existing: answers(2), ops: answers(2) })).toEqual([])
  expect(codes({ existing: answers(1, 'kept'), ops: answers(1, 'kept') })).toEqual(['zone_emptied'])
  expect(codes({ existing: [...names(10), ...answers(10, 'kept')], ops: answers(10, 'kept') })).toEqual(['deletes_over_limit'])
})

test('reasons list the first affected rrsets', () => {
  const [one] = blockReasons({
    ops: ops('delete', names(40)),
    existing: names(100),
    limits: { update: 30, delete: 30 },
    locked: new Set(),
    driven: new Set(),
    unsupported: [],
    isFirst: false,
  })
  expect(one).toMatchObject({ code: 'deletes_over_limit', detail: 'Deletes 40 of 100 record sets; the limit is 30%.' })
  expect(one!.rrsets).toHaveLength(20)
})

test('an empty, halved or NS-less result is rejected', () => {
  const read = (count: number, ns = true) =>
    [...names(count), ...(ns ? [{ name: '@', type: 'NS' }] : [])].map(one => ({ ...one, ttl: 1, values: [] }))
  const before = (count: number | null, hasNs = true) => ({ count, hasNs })
  expect(implausibleReason(read(9), before(null), { apexNs: 'rw' })).toBeNull()
  expect(implausibleReason(read(9, false), before(null), { apexNs: 'ro' })).toContain('no NS')
  expect(implausibleReason(read(9, false), before(9, false), { apexNs: 'rw' })).toBeNull()
  expect(implausibleReason(read(9, false), before(null), { apexNs: 'hidden' })).toBeNull()
  expect(implausibleReason([], before(4), { apexNs: 'hidden' })).toContain('no records')
  expect(implausibleReason([], before(0), { apexNs: 'hidden' })).toBeNull()
  expect(implausibleReason(read(4), before(10), { apexNs: 'rw' })).toBeNull()
  expect(implausibleReason(read(3), before(10), { apexNs: 'rw' })).toContain('fewer than half')
})
