import { expect, test } from 'bun:test'
import type { CloudServer } from './clouds/cloud'
import { isAnother, isSurelySame, withIdentity } from './same-server'

const own = 'srv_1'
const cloudOf = (mark: string | null) => ({ mark }) as CloudServer

test.each([
  ['its own mark', cloudOf(own), 'running', { mark: own, status: 'running' }, false],
  ['its own mark, after it was gone', cloudOf(own), 'missing', { mark: own, status: 'running' }, false],
  ['the mark of another one', cloudOf(own), 'running', { mark: 'srv_2', status: 'running' }, true],
  ['a mark that a found one had before', cloudOf('srv_2'), 'running', { mark: 'srv_2', status: 'off' }, false],
  ['a mark that a found one did not have', cloudOf(null), 'running', { mark: 'srv_2', status: 'off' }, true],
  ['no mark, like a found one', cloudOf(null), 'missing', { mark: null, status: 'off' }, false],
  ['no mark anymore', cloudOf(own), 'running', { mark: null, status: 'running' }, false],
  ['no mark, after it was gone', cloudOf(own), 'missing', { mark: null, status: 'running' }, true],
  ['no mark yet, while it is being created again', cloudOf(own), 'running', { mark: null, status: 'provisioning' }, true],
  ['no mark yet, while it is being created', null, 'provisioning', { mark: null, status: 'provisioning' }, false],
] as const)('what has the ref of a server and %s', (_, cloud, status, seen, expected) => {
  expect(isAnother({ id: own, status, cloud }, { ...seen, identity: null })).toBe(expected)
})

const known = (identity: string | null, mark: string | null = 'srv_1', status = 'running') =>
  ({ id: 'srv_1', status, cloud: { identity, mark } }) as never
const seen = (identity: string | null, mark: string | null) => ({ identity, mark, status: 'running' as const })

test('another identity is another server, whatever its mark', () => {
  expect(isAnother(known('a'), seen('b', 'srv_1'))).toBe(true)
  expect(isAnother(known('a'), seen('a', null))).toBe(false)
  // It has come back.
  expect(isAnother(known('a', 'srv_1', 'missing'), seen('a', null))).toBe(false)
  expect(isAnother(known('a'), seen('a', 'srv_2'))).toBe(true)
  // While one of them is not known, nothing is concluded from it.
  for (const [was, is] of [
    ['a', null],
    [null, 'a'],
  ] as const)
    expect(isAnother(known(was), seen(is, null))).toBe(false)
})

test('only a mark or an identity is proof', () => {
  expect(isSurelySame(known('a'), seen(null, null))).toBe(false)
  expect(isSurelySame(known(null), seen('a', null))).toBe(false)
  expect(isSurelySame(known(null), seen('a', 'srv_1'))).toBe(true)
  expect(isSurelySame(known('a', null), seen('a', null))).toBe(true)
})

test('an identity is kept while it can’t be read', () => {
  expect(withIdentity(known('a'), seen(null, null) as never).identity).toBe('a')
  expect(withIdentity(known('a'), seen('b', null) as never).identity).toBe('b')
})
