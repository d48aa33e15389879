import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  base62Alphabet,
  constantTimeEqual,
  decodeBase64url,
  encodeBase64url,
  hmacSha256,
  randomBase62,
  sha256,
  sha256Hex,
} from './crypto'

test('sha256 gives the digest of "abc" from FIPS 180-4, for text and bytes', () => {
  const digest = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  expect(sha256Hex('abc')).toBe(digest)
  expect(sha256Hex(new TextEncoder().encode('abc'))).toBe(digest)
  expect(Buffer.from(sha256('abc')).toString('hex')).toBe(digest)
})

test('hmacSha256 gives test case 2 of RFC 4231', () => {
  expect(Buffer.from(hmacSha256('Jefe', 'what do ya want for nothing?')).toString('hex')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  )
})

test('constantTimeEqual is true only for equal bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
      expect(constantTimeEqual(a, b)).toBe(a === b)
      expect(constantTimeEqual(a, Buffer.from(a))).toBe(true)
    }),
  )
  expect(constantTimeEqual('secret-a', 'secret-b')).toBe(false)
  expect(constantTimeEqual('secret', 'secret-longer')).toBe(false)
})

test('randomBase62 has the requested length, differs each time and is uniformly distributed', () => {
  expect(randomBase62(0)).toBe('')
  expect(randomBase62(30)).toMatch(/^[0-9A-Za-z]{30}$/)
  expect(randomBase62(30)).not.toBe(randomBase62(30))
  const draws = 62 * 4_000
  const counts = new Map<string, number>()
  for (const character of randomBase62(draws)) counts.set(character, (counts.get(character) ?? 0) + 1)
  const chiSquare = [...base62Alphabet].reduce((sum, c) => sum + ((counts.get(c) ?? 0) - 4_000) ** 2 / 4_000, 0)
  // 61 degrees of freedom: exceeds 140 once in ten million runs. With modulo bias it would be about 1,800.
  expect(chiSquare).toBeLessThan(140)
})

test('base64url round-trips, also for a view into a larger buffer', () => {
  fc.assert(
    fc.property(fc.uint8Array(), bytes => {
      expect(decodeBase64url(encodeBase64url(bytes))).toEqual(Buffer.from(bytes))
    }),
  )
  expect(encodeBase64url(new Uint8Array([1, 2, 251, 255, 3]).subarray(2, 4))).toBe('-_8')
})

test.each(['Zg==', 'Zh', 'a', 'a+bc', 'a/bc', 'Zm 9', 'Zm9v\n', 'Zm9vé'])('base64url rejects %j', text => {
  expect(decodeBase64url(text)).toBeNull()
})
