import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseRange } from './address'
import { clientAddress, isEncrypted } from './client-address'

const TRUSTED = ['10.0.0.0/8', 'fd00::/8'].map(text => parseRange(text)!)
const from = (peer: string, headers: Record<string, string>) => clientAddress(peer, new Headers(headers), TRUSTED)

describe('the client address', () => {
  test('is the socket address of an untrusted peer, whatever the headers', () => {
    expect(from('203.0.113.9', { 'x-forwarded-for': '198.51.100.1', forwarded: 'for=198.51.100.1' })).toBe('203.0.113.9')
    expect(clientAddress('10.0.0.1', new Headers({ 'x-forwarded-for': '198.51.100.1' }), [])).toBe('10.0.0.1')
  })

  test('is the socket address of a trusted peer without headers', () => {
    expect(from('10.0.0.1', {})).toBe('10.0.0.1')
    expect(from('::ffff:10.0.0.1', {})).toBe('10.0.0.1')
  })

  test('is the right-most untrusted hop, not the first', () => {
    expect(from('10.0.0.1', { 'x-forwarded-for': '1.1.1.1, 2.2.2.2' })).toBe('2.2.2.2')
    expect(from('10.0.0.1', { 'x-forwarded-for': '1.1.1.1, 2.2.2.2, 10.0.0.2, 10.0.0.3' })).toBe('2.2.2.2')
    expect(from('10.0.0.1', { forwarded: 'for=1.1.1.1, for=2.2.2.2;proto=https, for=10.0.0.2' })).toBe('2.2.2.2')
  })

  test('is the first hop if all hops are trusted', () => {
    expect(from('10.0.0.1', { 'x-forwarded-for': '10.0.0.9, 10.0.0.2' })).toBe('10.0.0.9')
  })

  test.each([
    ['2.2.2.2:4711', '2.2.2.2'],
    ['2001:db8::7', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['[2001:db8::7]:4711', '2001:db8::7'],
    ['::ffff:2.2.2.2', '2.2.2.2'],
    ['fe80::1%eth0', 'fe80::1'],
  ])('reads the hop %s in X-Forwarded-For', (hop, address) => {
    expect(from('10.0.0.1', { 'x-forwarded-for': hop })).toBe(address)
  })

  test.each([
    ['for=2.2.2.2', '2.2.2.2'],
    ['For="[2001:db8:cafe::17]:4711"', '2001:db8:cafe::17'],
    ['proto=http; for = "2.2.2.2:80" ;by=10.0.0.1', '2.2.2.2'],
    ['by="a,b;c";for=2.2.2.2', '2.2.2.2'],
    [String.raw`by="\",for=9.9.9.9";for=2.2.2.2`, '2.2.2.2'],
  ])('reads the element %s in Forwarded', (element, address) => {
    expect(from('10.0.0.1', { forwarded: element })).toBe(address)
  })

  test.each<Record<string, string>>([
    { 'x-forwarded-for': 'unknown' },
    { 'x-forwarded-for': '1.1.1.1, garbage' },
    { 'x-forwarded-for': '1.1.1.1,' },
    { 'x-forwarded-for': '' },
    { forwarded: 'for=_hidden' },
    { forwarded: 'for=unknown' },
    { forwarded: 'for=1.1.1.1, proto=https' },
    { forwarded: 'for=1.1.1.1;for=2.2.2.2' },
    { forwarded: 'for="1.1.1.1' },
  ])('stops at the proxy when the nearest hop cannot be read: %j', headers => {
    expect(from('10.0.0.1', headers)).toBe('10.0.0.1')
  })

  test('is the hop before an unreadable one', () => {
    expect(from('10.0.0.1', { 'x-forwarded-for': '1.1.1.1, unknown, 10.0.0.2' })).toBe('10.0.0.2')
  })

  test('is the proxy if the two headers disagree, because the client forged one', () => {
    expect(from('10.0.0.1', { 'x-forwarded-for': '2.2.2.2', forwarded: 'for=9.9.9.9' })).toBe('10.0.0.1')
    expect(from('10.0.0.1', { 'x-forwarded-for': '2.2.2.2', forwarded: 'for=2.2.2.2' })).toBe('2.2.2.2')
  })

  test('can’t be forged by a client of a proxy that appends to the header', () => {
    fc.assert(
      fc.property(fc.string(), forged => {
        const headers = new Headers()
        try {
          headers.set('x-forwarded-for', forged)
        } catch {
          return
        }
        headers.append('x-forwarded-for', '2.2.2.2')
        expect(clientAddress('10.0.0.1', headers, TRUSTED)).toBe('2.2.2.2')
      }),
    )
  })
})

describe('the encryption of the connection', () => {
  const encrypted = (address: string, isTls: boolean, headers: Record<string, string>) =>
    isEncrypted({ address, encrypted: isTls }, new Headers(headers), TRUSTED)

  test('is reported by a trusted proxy, or known from the socket', () => {
    expect(encrypted('10.0.0.1', false, { 'x-forwarded-proto': 'https' })).toBe(true)
    expect(encrypted('10.0.0.1', false, { 'x-forwarded-proto': 'https, HTTP ' })).toBe(false)
    expect(encrypted('10.0.0.1', false, { forwarded: 'for=2.2.2.2;proto=http, for=3.3.3.3; Proto="https"' })).toBe(true)
    expect(encrypted('10.0.0.1', true, { forwarded: 'for=2.2.2.2;proto=http' })).toBe(false)
    expect(encrypted('10.0.0.1', true, {})).toBe(true)
    expect(encrypted('2.2.2.2', false, { 'x-forwarded-proto': 'https' })).toBe(false)
    expect(encrypted('2.2.2.2', true, { 'x-forwarded-proto': 'http' })).toBe(true)
    expect(encrypted('nonsense', true, {})).toBe(true)
  })
})
