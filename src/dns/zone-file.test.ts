import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { cpuTime } from '../../test/support/cpu-time'
import { anyFields, anyName } from '../../test/support/dns-values'
import { generator, tries } from '../../test/support/random'
import { DnsFormatError } from './format-error'
import { rdataOfFields, textOf } from './rdata'
import { readZoneFile, ZoneFileError, type ZoneFileOptions, type ZoneRecord } from './zone-file'
import { writeZoneFile } from './zone-file-write'

/** Each record as one line of text. */
const read = (text: string, options: ZoneFileOptions = { origin: 'example.com.', defaultTtl: 3600 }) =>
  Array.from(readZoneFile(text, options), ({ name, ttl, type, rdata }) => `${name} ${ttl} ${type} ${textOf(type, rdata)}`)

const refusal = (text: string, options?: ZoneFileOptions): string => {
  try {
    return read(text, options).join('\n')
  } catch (error) {
    if (error instanceof ZoneFileError) return error.message
    throw error
  }
}

const anyZone: fc.Arbitrary<ZoneRecord[]> = fc.array(
  fc
    .constantFrom(...Object.entries(anyFields))
    .chain(([type, fields]) =>
      fc.record({
        name: fc.oneof(
          anyName,
          fc.constantFrom(
            'example.com.',
            'www.example.com.',
            '*.example.com.',
            'a\\.example.com.',
            'IN.example.com.',
            '1h.example.com.',
          ),
        ),
        type: fc.constant(type),
        ttl: fc.oneof(fc.constantFrom(300, 3600), fc.integer({ min: 0, max: 0x7fffffff })),
        fields,
      }),
    )
    .map(({ fields, ...record }) => ({ ...record, rdata: rdataOfFields(record.type, fields, null) })),
  { maxLength: 12 },
)
const sortable = ({ name, type, ttl, rdata }: ZoneRecord) => `${name} ${type} ${ttl} ${Buffer.from(rdata).toString('hex')}`

describe('a written zone file', () => {
  test('is parsed to the same records', () => {
    fc.assert(
      fc.property(anyZone, fc.constantFrom('example.com.', '.', 'Other.test.'), (zone, origin) => {
        const text = writeZoneFile(zone, origin)
        const back = [...readZoneFile(text, { origin: null })]
        expect(back.map(sortable).sort()).toEqual(zone.map(sortable).sort())
        expect(writeZoneFile(back.toReversed(), origin)).toBe(text)
      }),
      { numRuns: 200 },
    )
  })

  test('is well formatted', () => {
    const zone = readZoneFile(
      `$TTL 1h
@ SOA ns hostmaster 2026010101 2h 30m 2w 5m
www A 192.0.2.1
@ MX 10 mail
@ NS ns
ns AAAA 2001:db8::53
_443._tcp.www 300 TLSA 3 1 1 ( ${'ab'.repeat(16)} ${'cd'.repeat(16)} )
*.z TXT "a;b"
`,
      { origin: 'example.com.' },
    )
    expect(writeZoneFile(zone, 'example.com.')).toBe(`$ORIGIN example.com.
$TTL 3600
@                 IN SOA  ns.example.com. hostmaster.example.com. (
\t2026010101 ; serial
\t7200       ; refresh
\t1800       ; retry
\t1209600    ; expire
\t300        ; minimum
\t)
@                 IN NS   ns.example.com.
@                 IN MX   10 mail.example.com.
ns                IN AAAA 2001:db8::53
www               IN A    192.0.2.1
_443._tcp.www 300 IN TLSA 3 1 1 ${'ab'.repeat(16)}${'cd'.repeat(16)}
*.z               IN TXT  "a;b"
`)
  })

  test('of an empty zone has only its origin', () => {
    expect(writeZoneFile([], 'example.com.')).toBe('$ORIGIN example.com.\n')
    expect([...readZoneFile(writeZoneFile([], 'example.com.'), { origin: null })]).toEqual([])
  })
})

describe('parsing a zone file', () => {
  test('supports all RFC 1035 section 5 syntax', () => {
    expect(
      read(`; a comment
$TTL 1h30m ; another
@ IN SOA ns.example.com. host\\.master.example.com. ( ; opened
    2026010101 1d
    2h 4w 1h )
   IN NS ns
\t60 NS ns2.example.net.
www 300 IN A 192.0.2.1
    IN 301 A 192.0.2.2
    A 192.0.2.3
$ORIGIN sub.example.com.
@ MX 10 mail
MAIL IN A 192.0.2.4\r
$ORIGIN deep
x CNAME @
in in A 192.0.2.5
300 300 A 192.0.2.6
a.b TXT one "two three" four\\ five "\\"" ; six
   TXT ( "seven"
 "eight" )`),
    ).toEqual([
      'example.com. 5400 SOA ns.example.com. host\\.master.example.com. 2026010101 86400 7200 2419200 3600',
      'example.com. 5400 NS ns.example.com.',
      'example.com. 60 NS ns2.example.net.',
      'www.example.com. 300 A 192.0.2.1',
      'www.example.com. 301 A 192.0.2.2',
      'www.example.com. 5400 A 192.0.2.3',
      'sub.example.com. 5400 MX 10 mail.sub.example.com.',
      'MAIL.sub.example.com. 5400 A 192.0.2.4',
      'x.deep.sub.example.com. 5400 CNAME deep.sub.example.com.',
      'in.deep.sub.example.com. 5400 A 192.0.2.5',
      '300.deep.sub.example.com. 300 A 192.0.2.6',
      'a.b.deep.sub.example.com. 5400 TXT "one" "two three" "four five" "\\""',
      'a.b.deep.sub.example.com. 5400 TXT "seven" "eight"',
    ])
  })

  test('without $TTL uses the last TTL, the SOA, or the given default', () => {
    expect(read('a 60 A 192.0.2.1\nb A 192.0.2.2', { origin: 'x.' })).toEqual(['a.x. 60 A 192.0.2.1', 'b.x. 60 A 192.0.2.2'])
    expect(read('@ SOA a b 1 2 3 4 77\nb A 192.0.2.2', { origin: 'x.' }).at(-1)).toBe('b.x. 77 A 192.0.2.2')
    expect(read('a A 192.0.2.1', { origin: 'x.', defaultTtl: 5 })).toEqual(['a.x. 5 A 192.0.2.1'])
    expect(refusal('a A 192.0.2.1', { origin: 'x.' })).toBe(
      'line 1, column 5: The record must have a TTL, or $TTL must come before it (RFC 2308 4)',
    )
  })

  test('supports numeric types and generic values', () => {
    expect(read('a TYPE1 \\# 4 C0000201\nb type731 \\# 2 abcd\nc A \\# 4 c0000201')).toEqual([
      'a.example.com. 3600 A 192.0.2.1',
      'b.example.com. 3600 TYPE731 \\# 2 abcd',
      'c.example.com. 3600 A 192.0.2.1',
    ])
  })

  test('reports the line of each record', () => {
    const records = [...readZoneFile('\n\na A 192.0.2.1\n; c\nb TXT (\n x )\nc A 192.0.2.1', { origin: 'x.', defaultTtl: 1 })]
    expect(records.map(({ line }) => line)).toEqual([3, 5, 7])
  })
})

// What named-compilezone of BIND 9.18 makes of the same lines.
describe('$GENERATE', () => {
  test.each([
    ['1-3 host-$ A 192.0.2.$', 'host-1 A 192.0.2.1', 'host-2 A 192.0.2.2', 'host-3 A 192.0.2.3'],
    ['0-4/2 $ CNAME $.0', '0 CNAME 0.0.example.com.', '2 CNAME 2.0.example.com.', '4 CNAME 4.0.example.com.'],
    ['1-2 a${10,4,d} 60 IN MX "${-1} b$"', 'a0011 MX 0 b1.example.com.', 'a0012 MX 1 b2.example.com.'],
    ['9-10 x${0,3,x}${0,0,X}-${0,2,o} A 192.0.2.1', 'x0099-11 A 192.0.2.1', 'x00aA-12 A 192.0.2.1'],
    ['18-18 ${0,7,n} PTR a', '2.1.0.0 PTR a.example.com.'],
    ['171-171 ${0,0,N} PTR a', 'B.A PTR a.example.com.'],
    ['1-1 d TXT "a $ \\$ b"', 'd TXT "a 1 $ b"'],
  ] as [string, ...string[]][])('%s', (directive, ...lines) => {
    const created = read(`$GENERATE ${directive}`).map(line => line.replace(/^(\S+)\.example\.com\. \d+/, '$1'))
    expect(created).toEqual(lines)
  })

  test('creates no more records than allowed', () => {
    expect(read('$GENERATE 1-65536 a$ A 192.0.2.1')).toHaveLength(65_536)
    expect(refusal('$GENERATE 0-65536 a$ A 192.0.2.1')).toContain('$GENERATE must create at most 65536 records in a file')
    expect(refusal('$GENERATE 1-65536 a$ A 192.0.2.1\n$GENERATE 1-1 a A 192.0.2.1')).toStartWith(
      'line 2, column 11: $GENERATE must create',
    )
  })
})

test('all errors can be collected line by line', () => {
  const errors: string[] = []
  const read = (max: number) => {
    errors.length = 0
    const options = { origin: 'z.test.', defaultTtl: 60, broken: (error: Error) => errors.push(error.message) < max }
    return [...readZoneFile('a A 1\nb A 192.0.2.1\nc B x\nd EUI48 y\n$TTL z\ne A 192.0.2.2', options)].map(one => one.name)
  }
  expect(read(9)).toEqual(['b.z.test.', 'e.z.test.'])
  expect(errors.map(one => one.split(',')[0])).toEqual(['line 1', 'line 3', 'line 4', 'line 5'])
  expect(() => read(2)).toThrow('line 3, column 3: "B" is not a TTL, a class, or a record type (RFC 1035 5.1)')
})

describe('errors have a position', () => {
  test.each([
    [
      'a A 192.0.2.1\nb A 192.0.2',
      'line 2, column 5: address must be an IPv4 address such as 192.0.2.1, four decimal numbers without leading zeros, not "192.0.2" (RFC 1035 3.4.1)',
    ],
    ['a MX ( 10\n  70000\n mail )', 'line 3, column 2: Unexpected "mail" after the value of MX (RFC 1035 3.3.9)'],
    ['a MX 10', 'line 1, column 6: exchange is missing (RFC 1035 3.3.9)'],
    ['a B 192.0.2.1', 'line 1, column 3: "B" is not a TTL, a class, or a record type (RFC 1035 5.1)'],
    ['a KX 10 b', 'line 1, column 3: KX has no supported text format. Write it as TYPE36 \\# and its octets (RFC 3597 5)'],
    ['a', 'line 1, column 1: The record type is missing (RFC 1035 5.1)'],
    [
      ' A 192.0.2.1',
      'line 1, column 2: The first record must have a name: its line must not start with whitespace (RFC 1035 5.1)',
    ],
    ['a..b A 192.0.2.1', 'line 1, column 1: The name of a record must not have an empty label (RFC 1035 3.1)'],
    ['"a" A 192.0.2.1', 'line 1, column 1: The name of a record must not be in quotes (RFC 1035 5.1)'],
    ['a CH TXT x', 'line 1, column 3: The class must be IN, not CH (RFC 1035 3.2.4)'],
    [
      'a 2147483648 A 192.0.2.1',
      'line 1, column 3: ttl must be between 0 and 2147483647 seconds, as a number or in the form 1h30m (RFC 2181 8)',
    ],
    ['a TXT "x\ny"', 'line 1, column 7: A quoted string must end on the same line (RFC 1035 5.1)'],
    ['a TXT ( x\n\n', 'line 1, column 7: Unmatched opening parenthesis (RFC 1035 5.1)'],
    ['a TXT x )', 'line 1, column 9: Unmatched closing parenthesis (RFC 1035 5.1)'],
    ['a TXT ( ( x ) )', 'line 1, column 9: Parentheses must not be nested (RFC 1035 5.1)'],
    [
      '$INCLUDE other',
      'line 1, column 1: $INCLUDE is not supported. Insert the content of the included file instead (RFC 1035 5.1)',
    ],
    ['$FOO', 'line 1, column 1: Unknown directive $FOO. Supported: $ORIGIN, $TTL and $GENERATE (RFC 1035 5.1)'],
    ['$ORIGIN a. b', 'line 1, column 12: Unexpected "b" after $ORIGIN'],
    ['$TTL x', 'line 1, column 6: ttl must be between 0 and 2147483647 seconds, as a number or in the form 1h30m (RFC 2181 8)'],
    ['$GENERATE 3-1 a A 192.0.2.1', 'line 1, column 11: $GENERATE must start with a range such as 1-254 or 0-100/10'],
    [
      '\n$GENERATE 1-300 a A 192.0.2.$',
      'line 2, column 1: address must be an IPv4 address such as 192.0.2.1, four decimal numbers without leading zeros, not "192.0.2.256" (RFC 1035 3.4.1)',
    ],
    [
      '$GENERATE 1-3 a${-2} A 192.0.2.1',
      'line 1, column 24: $GENERATE must use modifiers such as ${0,3,d} with a non-negative number, not ${-2}',
    ],
    ['a ANY x', 'line 1, column 3: ANY is a query type or meta type, not a record type (RFC 6895 3.1)'],
  ])('%j', (text, reason) => {
    expect(refusal(text)).toBe(reason)
  })

  test('for any text', () => {
    const pieces = [
      'a',
      ' ',
      '\n',
      '"',
      '(',
      ')',
      ';',
      '\\',
      '\\#',
      '$',
      '$TTL',
      '$ORIGIN',
      '$GENERATE',
      '1-2',
      '@',
      'A',
      'TXT',
      'SVCB',
      'LOC',
      '1',
      '192.0.2.1',
      '=',
      '.',
      'é',
      '\0',
      'alpn="',
      '${',
      'NSEC',
      'IN',
    ]
    const random = generator(1)
    let taken = 0
    for (let round = 0; round < tries(20_000); round++) {
      const text = Array.from({ length: random(30) }, () => pieces[random(pieces.length)]! + (random(2) === 0 ? ' ' : '')).join(
        '',
      )
      try {
        read(text)
        taken++
      } catch (error) {
        if (!(error instanceof DnsFormatError)) throw new Error(`${JSON.stringify(text)}: ${error}`)
      }
    }
    expect(taken).toBeGreaterThan(0)
  })
})

test('100,000 records are parsed and written in linear time', () => {
  const records = (count: number) =>
    `$TTL 300\n${Array.from({ length: count }, (_, at) => `host-${at} ${at % 3 === 0 ? 'TXT "v=spf1 -all"' : at % 3 === 1 ? 'MX 10 mail' : 'A 192.0.2.1'}\n`).join('')}`
  const took = (count: number) => {
    const text = records(count)
    const start = cpuTime()
    const zone = [...readZoneFile(text, { origin: 'example.com.' })]
    expect(zone).toHaveLength(count)
    expect(writeZoneFile(zone, 'example.com.').split('\n')).toHaveLength(count + 3)
    return cpuTime() - start
  }
  took(10_000)
  // Far from what it takes, and far from what a square would.
  expect(took(100_000)).toBeLessThan(Math.max(100, took(10_000)) * 60)
}, 180_000)
