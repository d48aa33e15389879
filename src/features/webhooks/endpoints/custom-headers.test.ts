import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Problem } from '../../../core/problem'
import { mergeHeaders, refuseHeadersForNewOrigin } from './custom-headers'

const problems = (fn: () => unknown) => {
  try {
    fn()
    return []
  } catch (error) {
    return (error as Problem).extras.errors!.map(one => [one.pointer, one.code])
  }
}

describe('names and values', () => {
  test.each([
    ['Content-Type', 'reserved'],
    ['content-anything', 'reserved'],
    ['HOST', 'reserved'],
    ['X-Service-Signature', 'reserved'],
    ['Webhook-Id', 'reserved'],
    ['Transfer-Encoding', 'reserved'],
    ['Proxy-Authorization', 'reserved'],
    ['User-Agent', 'reserved'],
    ['X A', 'format'],
    ['X-A:', 'format'],
    ['X-A\r\nX-B', 'format'],
    ['Ünicode', 'format'],
    ['', 'format'],
  ])('%j is rejected as %s', (name, code) => {
    expect(problems(() => mergeHeaders({}, { [name]: 'v' })).map(one => one[1])).toEqual([code])
  })

  test.each(['', ' v', 'v ', 'v\r\nX-B: 1', 'v\nw', 'v\0', 'ü', 'v'.repeat(4_097)])('the value %j is rejected', value => {
    expect(problems(() => mergeHeaders({}, { 'X-A': value }))).toEqual([['#/headers/X-A', 'format']])
  })

  test('Authorization and long values with inner spaces are allowed', () => {
    const headers = { Authorization: 'Bearer abc.def', 'X-Long': `a b${'c'.repeat(4_093)}` }
    expect(mergeHeaders({}, headers)).toEqual(headers)
  })

  test('accepted headers are valid for Headers, as one header with that value', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: 'binary' }), (name, value) => {
        let accepted: Record<string, string>
        try {
          accepted = mergeHeaders({}, { [name]: value })
        } catch {
          return
        }
        expect([...new Headers(accepted)]).toEqual([[name.toLowerCase(), value]])
      }),
    )
  })
})

test('a patch replaces case-insensitively, removes with null, and keeps the rest', () => {
  expect(mergeHeaders({ 'X-A': '1', 'X-B': '2', 'X-C': '3' }, { 'x-a': 'new', 'X-B': null })).toEqual({
    'X-C': '3',
    'x-a': 'new',
  })
  expect(mergeHeaders({ 'X-A': '1' }, null)).toEqual({})
  expect(problems(() => mergeHeaders({}, { 'X-A': '1', 'x-a': '2' }))).toEqual([['#/headers/x-a', 'not_unique']])
})

test('at most ten headers are allowed, including stored ones', () => {
  const ten = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`X-${n}`, 'v']))
  expect(Object.keys(mergeHeaders({}, ten))).toHaveLength(10)
  expect(problems(() => mergeHeaders(ten, { 'X-More': 'v' }))).toEqual([['#/headers', 'too_many']])
  expect(Object.keys(mergeHeaders(ten, { 'X-More': 'v', 'X-0': null }))).toHaveLength(10)
})

test('values must be provided again for another origin', () => {
  const row = { id: 'whe', workspaceId: 'ws', url: 'https://a.example/one', headersSealed: 'sealed', headerNames: ['X-A', 'X-B'] }
  expect(problems(() => refuseHeadersForNewOrigin(row, { url: 'https://a.example/two' }))).toEqual([])
  expect(problems(() => refuseHeadersForNewOrigin(row, { url: 'https://b.example/' }))).toEqual([['#/headers', 'required']])
  expect(problems(() => refuseHeadersForNewOrigin(row, { url: 'http://a.example/', headers: { 'X-A': '1' } }))).toHaveLength(1)
  expect(
    problems(() => refuseHeadersForNewOrigin(row, { url: 'https://b.example/', headers: { 'x-a': '1', 'X-B': null } })),
  ).toEqual([])
  expect(problems(() => refuseHeadersForNewOrigin(row, { url: 'https://b.example/', headers: null }))).toEqual([])
})
