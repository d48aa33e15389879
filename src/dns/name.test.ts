import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyName } from '../../test/support/dns-values'
import { DnsFormatError } from './format-error'
import {
  canonicalKey,
  compareNames,
  isWithin,
  labelsOf,
  lowerName,
  nameOf,
  parentName,
  parseName,
  relativeName,
  wireLength,
} from './name'
import { WireReader } from './wire-reader'
import { WireWriter } from './wire-writer'

const written = (...names: string[]): Uint8Array => {
  const writer = new WireWriter(8)
  for (const name of names) writer.name(name, true)
  return writer.finish()
}
const hexOf = (octets: Uint8Array) => Buffer.from(octets).toString('hex')
const long = (labels: number, size: number) => `${Array(labels).fill('a'.repeat(size)).join('.')}.`

describe('names as text', () => {
  test.each([
    ['www', 'example.com.', 'www.example.com.'],
    ['WwW.', 'example.com.', 'WwW.'],
    ['@', 'example.com.', 'example.com.'],
    ['www', '.', 'www.'],
    ['.', 'example.com.', '.'],
    ['*', 'example.com.', '*.example.com.'],
    ['_sip._tcp', 'example.com.', '_sip._tcp.example.com.'],
    ['a\\.b', 'c.', 'a\\.b.c.'],
    ['a\\.', 'c.', 'a\\..c.'],
    ['a\\\\.', 'c.', 'a\\\\.'],
    ['\\097\\046', 'c.', 'a\\..c.'],
    ['a"b', 'c.', 'a\\"b.c.'],
    ['\\000\\255', 'c.', '\\000\\255.c.'],
    ['1/26', '2.0.192.in-addr.arpa.', '1/26.2.0.192.in-addr.arpa.'],
    ['bücher.example.', null, 'xn--bcher-kva.example.'],
    ['*.Straße.example.', null, '*.xn--strae-oqa.example.'],
    ['日本語。jp.', null, 'xn--wgv71a119e.jp.'],
    [long(3, 63).slice(0, -1), `${'b'.repeat(61)}.`, `${long(3, 63)}${'b'.repeat(61)}.`],
  ])('%s relative to %s is %s', (text, origin, name) => {
    expect(parseName(text, origin)).toBe(name)
  })

  test.each([
    ['', 'must not be empty; the root is "." (RFC 1035 5.1)'],
    ['www', 'must be absolute: end it with a dot (RFC 1035 5.1)'],
    ['@', 'must be absolute: end it with a dot (RFC 1035 5.1)'],
    ['a..b.', 'must not have an empty label (RFC 1035 3.1)'],
    ['.a.', 'must not have an empty label (RFC 1035 3.1)'],
    ['a b.', 'must escape spaces and control characters as \\DDD (RFC 1035 5.1)'],
    ['a\\', 'must not end with a lone backslash (RFC 1035 5.1)'],
    ['a\\12.', 'must use numeric escapes of the form \\DDD, 000 to 255 (RFC 1035 5.1)'],
    ['a\\256.', 'must use numeric escapes of the form \\DDD, 000 to 255 (RFC 1035 5.1)'],
    [long(1, 64), 'must not contain labels longer than 63 octets (RFC 1035 2.3.4)'],
    [
      `${long(3, 63)}${'b'.repeat(62)}.`,
      'must be at most 255 octets with its label lengths, 253 characters as text (RFC 1035 2.3.4)',
    ],
    ['ü/x.', 'has an invalid internationalized label: "ü/x" (RFC 5891 4.2)'],
    ['\u200d.', 'has an invalid internationalized label: "\u200d" (RFC 5891 4.2)'],
  ])('%j is rejected', (text, reason) => {
    expect(() => parseName(text, null)).toThrow(reason)
  })

  test('the text of any name is parsed as itself, and its labels produce it again', () => {
    fc.assert(
      fc.property(anyName, name => {
        expect(parseName(name, null)).toBe(name)
        expect(nameOf(labelsOf(name))).toBe(name)
        expect(parseName(relativeName(name, 'example.com.'), 'example.com.')).toBe(name)
        const parent = parentName(name)
        expect(parent).toBe(name === '.' ? null : nameOf(labelsOf(name).slice(1)))
        if (parent !== null) expect(parseName(relativeName(name, parent), parent)).toBe(name)
      }),
    )
  })

  test('ancestors and descendants', () => {
    expect(isWithin('www.Example.com.', 'exAmple.COM.')).toBe(true)
    expect(isWithin('example.com.', 'example.com.')).toBe(true)
    expect(isWithin('myexample.com.', 'example.com.')).toBe(false)
    expect(isWithin('a\\.example.com.', 'example.com.')).toBe(false)
    expect(isWithin('a\\\\.example.com.', 'example.com.')).toBe(true)
    expect(isWithin('com.', 'example.com.')).toBe(false)
    expect(isWithin('com.', '.')).toBe(true)
    expect(relativeName('WWW.Example.com.', 'example.COM.')).toBe('WWW')
    expect(relativeName('example.net.', 'example.com.')).toBe('example.net.')
  })
})

describe('canonical order', () => {
  test('matches the example in RFC 4034 6.1', () => {
    const sorted = [
      'example.',
      'a.example.',
      'yljkjljk.a.example.',
      'Z.a.example.',
      'zABC.a.EXAMPLE.',
      'z.example.',
      '\\001.z.example.',
      '*.z.example.',
      '\\200.z.example.',
    ]
    expect(sorted.toReversed().sort(compareNames)).toEqual(sorted)
  })

  test('is the order of the label octets', () => {
    const octets = (name: string) =>
      labelsOf(lowerName(name))
        .toReversed()
        .map(label => Buffer.from(label, 'latin1'))
    fc.assert(
      fc.property(anyName, anyName, (a, b) => {
        const [left, right] = [octets(a), octets(b)]
        let expected = left.length - right.length
        for (let at = 0; at < Math.min(left.length, right.length); at++) {
          const order = Buffer.compare(left[at]!, right[at]!)
          if (order !== 0) {
            expected = order
            break
          }
        }
        expect(Math.sign(compareNames(a, b))).toBe(Math.sign(expected))
        expect(canonicalKey(a) === canonicalKey(b)).toBe(lowerName(a) === lowerName(b))
      }),
      { numRuns: 500 },
    )
  })

  test('is correct for octets 0 and 1, which are separators internally', () => {
    const sorted = ['a.', '\\000.a.', '\\000\\000.a.', '\\000\\001.a.', '\\001.a.', '\\001\\000.a.', '\\001\\001.a.', '\\002.a.']
    expect(sorted.toReversed().sort(compareNames)).toEqual(sorted)
  })
})

describe('names on the wire', () => {
  test('names survive a round trip with compression, keeping their case', () => {
    fc.assert(
      fc.property(fc.array(anyName, { maxLength: 8 }), names => {
        const all = [...names, ...names]
        const reader = new WireReader(written(...all))
        expect(all.map(() => reader.name())).toEqual(all)
        expect(reader.left).toBe(0)
        expect(reader.offset).toBeLessThanOrEqual(names.reduce((sum, name) => sum + wireLength(name) + 2, 0))
      }),
    )
  })

  test('a suffix is compressed only if its case matches', () => {
    expect(hexOf(written('a.example.', 'b.example.', 'example.', '.'))).toBe('0161076578616d706c65000162c002c00200')
    expect(hexOf(written('a.x.', 'b.X.'))).toBe('01610178000162015800')
  })

  test('discarded names are not pointed to', () => {
    const writer = new WireWriter()
    writer.name('a.', true)
    const start = writer.offset
    writer.name('b.c.', true)
    writer.rewind(start)
    writer.name('c.', true)
    writer.name('a.', true)
    expect(hexOf(writer.finish())).toBe('0161000163 00c000'.replace(' ', ''))
  })

  test('relative and overlong names are rejected', () => {
    for (const wrong of ['a', 'a..', '..', '', long(1, 64), long(128, 1), `${'\\001'.repeat(64)}.`, 'é.']) {
      if (wrong !== '') expect(() => written(wrong)).toThrow(DnsFormatError)
    }
    expect(written(long(127, 1))).toHaveLength(255)
  })

  test.each([
    ['a pointer to itself', 'c000'],
    ['a pointer forward', 'c00200'],
    ['two pointers in a circle', '0161c0040162c000'],
    ['a pointer into the name it ends', '0161c000'],
    ['half a pointer', '0161c0'],
    ['a label that is cut', '0361'],
    ['no end', '0161'],
    ['an extended label', '4161'],
    ['nothing', ''],
  ])('%s is rejected', (_, hex) => {
    expect(() => new WireReader(Buffer.from(hex, 'hex')).name()).toThrow(DnsFormatError)
  })

  test('more than 255 octets by pointers are rejected', () => {
    const piece = `3f${'61'.repeat(63)}`
    const octets = Buffer.from(`${piece.repeat(3)}00${piece}c000`, 'hex')
    expect(new WireReader(octets).name()).toHaveLength(192)
    expect(() => new WireReader(octets, 193).name()).toThrow('255 octets')
  })

  test('a long chain of pointers is rejected, not followed', () => {
    const chain = new Uint8Array(20_000)
    for (let at = 2; at < 16_000; at += 2) {
      chain[at] = 0xc0 | ((at - 2) >> 8)
      chain[at + 1] = (at - 2) & 0xff
    }
    expect(new WireReader(chain, 100).name()).toBe('.')
    expect(() => new WireReader(chain, 15_998).name()).toThrow('compression pointer')
  })
})
