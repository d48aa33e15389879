import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { rdataOfText } from '../../../dns/rdata'
import type { Op, ProviderRrset } from '../providers/provider'
import { independentOf, inBatches } from './order'

const rrset = (name: string, type: string, text: string): ProviderRrset => ({
  name,
  type,
  ttl: 300,
  values: [rdataOfText(type, text, 'example.com.')],
})
const op = (action: Op['action'], name: string, type: string, text = '192.0.2.1'): Op => ({
  action,
  name,
  type,
  before: action === 'create' ? null : rrset(name, type, text),
  after: action === 'delete' ? null : rrset(name, type, text),
})
const describeBatches = (batches: Op[][]) => batches.map(batch => batch.map(one => `${one.action} ${one.name} ${one.type}`))

test('targets are created first and deleted last', () => {
  expect(
    describeBatches(
      inBatches(
        [
          op('delete', 'old', 'A'),
          op('delete', 'alias', 'CNAME', 'old'),
          op('update', 'www', 'A'),
          op('create', 'a', 'CNAME', 'b'),
          op('create', 'b', 'CNAME', 'c'),
          op('create', 'c', 'A'),
        ],
        'example.com',
        100,
      ),
    ),
  ).toEqual([['create c A', 'create b CNAME', 'create a CNAME', 'update www A', 'delete alias CNAME', 'delete old A']])
})

test('NS and MX are deleted last', () => {
  const ops = [
    op('delete', '@', 'NS', 'ns1'),
    op('delete', '@', 'MX', '10 mail'),
    op('delete', 'www', 'A'),
    op('create', 'x', 'A'),
  ]
  expect(describeBatches(inBatches(ops, 'example.com', 100))).toEqual([
    ['create x A', 'delete www A', 'delete @ NS', 'delete @ MX'],
  ])
})

test('a CNAME and its replacement are in one batch, the deletion first', () => {
  const ops = [
    op('create', 'one', 'A'),
    op('create', 'www', 'A'),
    op('create', 'www', 'AAAA', '2001:db8::1'),
    op('delete', 'www', 'CNAME', 'one'),
  ]
  expect(describeBatches(inBatches(ops, 'example.com', 3))).toEqual([
    ['create one A'],
    ['delete www CNAME', 'create www A', 'create www AAAA'],
  ])
})

test('cycles and long chains terminate', () => {
  const circle = [op('create', 'a', 'CNAME', 'b'), op('create', 'b', 'CNAME', 'a')]
  expect(inBatches(circle, 'example.com', 10).flat()).toHaveLength(2)
  const chain = Array.from({ length: 20_000 }, (_, n) => op('create', `n${n}`, 'CNAME', `n${n + 1}`))
  expect(inBatches(chain, 'example.com', 1000)[0]![0]!.name).toBe('n19999')
})

test('each step occurs once, and no batch is too large', () => {
  const step = fc
    .record({
      action: fc.constantFrom('create' as const, 'update' as const, 'delete' as const),
      name: fc.constantFrom('@', 'a', 'b', 'c', 'd'),
      type: fc.constantFrom('A', 'CNAME', 'MX', 'NS'),
      to: fc.constantFrom('a', 'b', 'c', 'x.example.net.'),
    })
    .map(({ action, name, type, to }) => op(action, name, type, type === 'A' ? '192.0.2.1' : type === 'MX' ? `10 ${to}` : to))
  fc.assert(
    fc.property(
      fc.uniqueArray(step, { selector: one => `${one.name} ${one.type}` }),
      fc.integer({ min: 1, max: 5 }),
      (ops, max) => {
        const batches = inBatches(ops, 'example.com', max)
        expect(new Set(batches.flat())).toEqual(new Set(ops))
        expect(batches.flat()).toHaveLength(ops.length)
        for (const batch of batches) expect(batch.length).toBeLessThanOrEqual(max)
      },
    ),
  )
})

test('only dependents of a refused step wait', () => {
  const refused = [op('create', 'new', 'A'), { ...op('update', 'www', 'CNAME', 'next'), before: rrset('www', 'CNAME', 'old') }]
  const apart = independentOf(
    refused,
    [
      op('create', 'new', 'TXT', 'x'),
      op('create', 'far', 'CNAME', 'near'),
      op('create', 'near', 'CNAME', 'new'),
      op('delete', 'old', 'A'),
      op('delete', 'other', 'A'),
      op('update', 'mail', 'A'),
      op('create', 'next', 'AAAA', '2001:db8::1'),
    ],
    'example.com',
  )
  expect(describeBatches([apart])).toEqual([['delete other A', 'update mail A', 'create next AAAA']])
})
