import { expect, test } from 'bun:test'
import { isIrregular, nextStatus, type Evidence } from './moves'
import { domainStatuses, type DomainStatus } from './statuses'

const now = Date.parse('2027-02-10')
const past = now - 1
const future = now + 1
const found = (...statuses: string[]): Evidence['registry'] => ({ state: 'found', statuses })
const absent = (isProven: boolean): Evidence['registry'] => ({ state: 'absent', isProven })
const next = (current: DomainStatus, evidence: Partial<Evidence>) =>
  nextStatus(current, { registrar: null, registry: null, end: null, ...evidence }, now)

const cases: [current: DomainStatus, evidence: Partial<Evidence>, next: DomainStatus][] = [
  ['unknown', {}, 'unknown'],
  ['unknown', { registry: found('active'), end: future }, 'active'],
  ['unknown', { end: past }, 'expired'],
  ['unknown', { end: future }, 'unknown'],
  ['active', { registry: found('client hold'), end: future }, 'suspended'],
  ['suspended', { registry: found('active'), end: future }, 'active'],
  ['active', { registry: found('active'), end: past }, 'expired'],
  ['active', { registry: found('client hold', 'auto renew period'), end: past }, 'expired'],
  // A registry that doesn’t answer changes nothing, except that time passes.
  ['active', { registry: null, end: future }, 'active'],
  ['active', { registry: null, end: past }, 'expired'],
  ['redemption', { registry: null, end: past }, 'redemption'],
  ['pending_delete', { registry: null, end: past }, 'pending_delete'],
  ['expired', { registry: found('active'), end: future }, 'active'],
  ['expired', { registry: found('redemption period', 'pending delete'), end: past }, 'redemption'],
  ['redemption', { registry: found('pending restore'), end: past }, 'redemption'],
  ['redemption', { registry: found('pending delete'), end: past }, 'pending_delete'],
  ['pending_delete', { registry: absent(false), end: past }, 'pending_delete'],
  ['pending_delete', { registry: absent(true), end: past }, 'deleted'],
  ['active', { registry: absent(false), end: future }, 'active'],
  ['active', { registrar: 'suspended', registry: found('active'), end: future }, 'suspended'],
  // Registrars call domains active until they are renewed or deleted.
  ['active', { registrar: 'active', registry: found('active'), end: past }, 'expired'],
  ['active', { registrar: 'active', registry: null, end: past }, 'expired'],
  ['expired', { registrar: 'active', registry: null, end: future }, 'active'],
  ['active', { registrar: 'redemption', registry: null, end: past }, 'redemption'],
  ['active', { registrar: 'transferred_out', registry: found('active'), end: future }, 'transferred_out'],
  ['transferred_out', { registry: found('active'), end: future }, 'transferred_out'],
  ['pending_registration', { registry: absent(true) }, 'pending_registration'],
  ['pending_registration', { registry: found('add period'), end: future }, 'active'],
  ['pending_transfer', { registry: found('pending transfer'), end: future }, 'pending_transfer'],
  ['pending_transfer', { registrar: 'active', registry: found('active'), end: future }, 'active'],
]
for (const [current, evidence, to] of cases)
  test(`${current} becomes ${to}: ${JSON.stringify(evidence.registry ?? null)}, ${evidence.end === past ? 'over' : 'not over'}`, () =>
    expect(next(current, evidence)).toBe(to))

test('only the usual order of statuses is regular', () => {
  const regular = domainStatuses.flatMap(from =>
    domainStatuses.flatMap(to =>
      from !== to && !isIrregular(from, to) && from !== 'unknown' && to !== 'unknown' ? [`${from} ${to}`] : [],
    ),
  )
  expect(regular.toSorted()).toEqual([
    'active expired',
    'active suspended',
    'active transferred_out',
    'deleted pending_registration',
    'expired active',
    'expired redemption',
    'expired transferred_out',
    'pending_delete deleted',
    'pending_registration active',
    'pending_registration deleted',
    'pending_transfer active',
    'pending_transfer transferred_out',
    'redemption active',
    'redemption pending_delete',
    'suspended active',
    'suspended expired',
    'suspended transferred_out',
    'transferred_out pending_transfer',
  ])
  expect(domainStatuses.some(one => isIrregular('unknown', one) || isIrregular(one, 'unknown'))).toBe(false)
})
