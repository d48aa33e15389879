import { expect, test } from 'bun:test'
import type { CloudServer } from './clouds/cloud'
import { isAnother } from './same-server'

const own = 'srv_1'
const cloudOf = (mark: string | null) => ({ mark }) as CloudServer

test.each([
  ['its own mark', cloudOf(own), 'running', { mark: own, status: 'running' }, false],
  ['its own mark, after it was gone', cloudOf(own), 'missing', { mark: own, status: 'running' }, false],
  ['the mark of another one', cloudOf(own), 'running', { mark: 'srv_2', status: 'running' }, true],
  ['a mark that a found one had before', cloudOf('srv_2'), 'running', { mark: 'srv_2', status: 'off' }, false],
  ['a mark that a found one did not have', cloudOf(null), 'running', { mark: 'srv_2', status: 'off' }, true],
  ['no mark, like a found one', cloudOf(null), 'missing', { mark: null, status: 'off' }, false],
  ['no mark any more', cloudOf(own), 'running', { mark: null, status: 'running' }, false],
  ['no mark, after it was gone', cloudOf(own), 'missing', { mark: null, status: 'running' }, true],
  ['no mark yet, while it is being created again', cloudOf(own), 'running', { mark: null, status: 'provisioning' }, true],
  ['no mark yet, while it is being created', null, 'provisioning', { mark: null, status: 'provisioning' }, false],
] as const)('what has the ref of a server and %s', (_, cloud, status, seen, expected) => {
  expect(isAnother({ id: own, status, cloud }, seen)).toBe(expected)
})
