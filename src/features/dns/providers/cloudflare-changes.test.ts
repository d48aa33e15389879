import { expect, test } from 'bun:test'
import { op, rrset } from '../../../../test/support/provider-contract'
import { batchesOf } from './cloudflare-changes'

const a = (name: string, count = 1) =>
  rrset(
    name,
    'A',
    300,
    Array.from({ length: count }, (_, n) => `192.0.2.${n}`),
  )
const cut = (ops: Parameters<typeof batchesOf>[0], maxOps: number) =>
  batchesOf(ops, maxOps).map(batch => batch.map(({ name, type }) => `${name} ${type}`))

test('steps are split at the batch limit, but not between a name and its replacement', () => {
  const alias = rrset('b', 'CNAME', 300, ['www.example.net.'])
  const ops = [op(null, a('a', 3)), op(a('b'), null), op(null, alias), op(null, a('c'))]
  expect(cut(ops, 4)).toEqual([['a A'], ['b A', 'b CNAME', 'c A']])
  expect(cut(ops, 100)).toEqual([['a A', 'b A', 'b CNAME', 'c A']])
  // Steps that don't fit together are split anyway.
  expect(cut(ops, 1)).toEqual([['a A'], ['b A'], ['b CNAME'], ['c A']])
})
