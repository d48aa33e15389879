import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyFields } from '../../test/support/dns-values'
import { DnsFormatError } from './format-error'
import { octetsOf } from './octets'
import { fieldsOf, rdataOfContent, rdataOfFields, rdataOfText, rdataOfTxt, textOf, txtValue } from './rdata'
import { canonicalRdata } from './rdata-names'
import { recordTypes } from './types'

const hexOf = (rdata: Uint8Array) => Buffer.from(rdata).toString('hex')
const refusal = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    if (error instanceof DnsFormatError) return error.message
    throw error
  }
  return 'taken'
}

test('every record type has sample values', () => {
  const known = recordTypes.map(type => type.name)
  expect(known.filter(name => !(name in anyFields))).toEqual([])
  expect(new Set(known).size).toBe(known.length)
})

describe.each(Object.entries(anyFields))('%s', (type, fields) => {
  test('fields, rdata and text are the same value', () => {
    fc.assert(
      fc.property(fields, value => {
        const rdata = rdataOfFields(type, value, null)
        expect(fieldsOf(type, rdata)).toEqual(value)
        const text = textOf(type, rdata)
        expect(text.startsWith('\\#')).toBe(type === 'TYPE731')
        expect(hexOf(rdataOfText(type, text, null))).toBe(hexOf(rdata))
        expect(textOf(type, rdataOfText(type, text, 'example.com.'))).toBe(text)
        expect(JSON.parse(JSON.stringify(value))).toEqual(value)
      }),
      { numRuns: 60 },
    )
  })

  test('the generic format of RFC 3597 is accepted too', () => {
    fc.assert(
      fc.property(fields, value => {
        const rdata = rdataOfFields(type, value, null)
        const generic = `\\# ${rdata.length} ${hexOf(rdata)}`
        expect(hexOf(rdataOfText(type, generic, null))).toBe(hexOf(rdata))
      }),
      { numRuns: 20 },
    )
  })

  test('truncated or extended rdata is rejected, or a different value', () => {
    fc.assert(
      fc.property(fields, fc.nat(), (value, cut) => {
        const rdata = rdataOfFields(type, value, null)
        for (const wrong of [rdata.subarray(0, cut % (rdata.length + 1)), new Uint8Array([...rdata, 1])]) {
          try {
            fieldsOf(type, wrong)
          } catch (error) {
            expect(error).toBeInstanceOf(DnsFormatError)
          }
          // Invalid rdata has a text form too, which is parsed to the same octets if its type is not checked.
          expect(textOf(type, wrong)).toBeString()
        }
      }),
      { numRuns: 30 },
    )
  })

  test('any octets are parsed or rejected, and parsed ones survive a round trip', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), octets => {
        let value: unknown
        try {
          value = fieldsOf(type, octets)
        } catch (error) {
          expect(error).toBeInstanceOf(DnsFormatError)
          return
        }
        expect(hexOf(rdataOfText(type, `\\# ${octets.length} ${hexOf(octets)}`, null))).toBe(hexOf(octets))
        try {
          expect(hexOf(rdataOfFields(type, value, null))).toBe(hexOf(octets))
        } catch (error) {
          expect(error).toBeInstanceOf(DnsFormatError)
        }
      }),
      { numRuns: 200 },
    )
  })

  test('any JSON is accepted or rejected with a reason', () => {
    fc.assert(
      fc.property(fields, fc.jsonValue(), fc.nat(), (value, other, at) => {
        const names = Object.keys(value)
        for (const wrong of [other, { ...value, [names[at % names.length]!]: other }, { ...value, other }]) {
          expect(refusal(() => rdataOfFields(type, wrong, null))).toBeString()
        }
        expect(refusal(() => rdataOfFields(type, { ...value, other: 1 }, null))).toStartWith(`other is not a field of ${type}`)
      }),
      { numRuns: 30 },
    )
  })
})

// Octets from the cited documents or, if they give none, from BIND 9.18.
describe('values with known octets', () => {
  const table: [type: string, text: string, hex: string][] = [
    ['A', '192.0.2.1', 'c0000201'],
    ['AAAA', '2001:0DB8::1', '20010db8000000000000000000000001'],
    ['MX', '10 mail', '000a046d61696c076578616d706c6503636f6d00'],
    ['MX', '0 .', '000000'],
    ['TXT', 'foo "bar baz" ""', '03666f6f076261722062617a00'],
    ['TXT', '"\\"\\\\\\000\\255é"', '06225c00ffc3a9'],
    ['CNAME', '*.a\\.b\\032c', '012a05612e622063076578616d706c6503636f6d00'],
    // RFC 1876 4
    ['LOC', '42 21 54 N 71 06 18 W -24m 30m', '0033161389172dd070be15f000988d20'],
    ['LOC', '42 21 43.952 N 71 5 6.344 W -24m 1m 200m', '001224138917069070bf2dd800988d20'],
    ['LOC', '52 14 05 N 00 08 50 E 10m', '001216138b3556c88008165000989a68'],
    ['LOC', '90 N 180 W 0m', '00121613934fd90059604e0000989680'],
    // RFC 3403 6.1, RFC 2915 7
    [
      'NAPTR',
      '100 50 "a" "z3950+N2L+N2C" "" cidserver.example.com.',
      '0064003201610d7a333935302b4e324c2b4e32430009636964736572766572076578616d706c6503636f6d00',
    ],
    [
      'CAA',
      '0 issue "ca.example.net; account=230123"',
      '0005697373756563612e6578616d706c652e6e65743b206163636f756e743d323330313233',
    ],
    ['SSHFP', '2 1 123456789abcdef67890123456789abcdef67890', '0201123456789abcdef67890123456789abcdef67890'],
    ['DS', '60485 5 1 ( 2BB183AF5F22588179A53B0A 98631FAD1A292118 )', 'ec4505012bb183af5f22588179a53b0a98631fad1a292118'],
    ['CDS', '0 0 0 00', '0000000000'],
    ['CDNSKEY', '0 3 0 AA==', '0000030000'],
    ['URI', '10 1 "ftp://ftp1.example.com/public"', '000a00016674703a2f2f667470312e6578616d706c652e636f6d2f7075626c6963'],
    [
      'NSEC',
      'host.example.com. A MX RRSIG NSEC TYPE1234',
      '04686f7374076578616d706c6503636f6d000006400100000003041b000000000000000000000000000000000000000000000000000020',
    ],
    ['NSEC3PARAM', '1 0 12 aabbccdd', '0100000c04aabbccdd'],
    ['NSEC3PARAM', '1 0 0 -', '0100000000'],
    [
      'RRSIG',
      'A 5 3 86400 20030322173103 20030220173103 2642 example.com. AAAA',
      '00010503000151803e7c9dd73e5510d70a52076578616d706c6503636f6d00000000',
    ],
    ['CERT', 'PKIX 1 RSASHA256 AAAA', '0001000108000000'],
    [
      'SOA',
      'ns hostmaster 2026010101 1h 15m 1w 1h30m',
      '026e73076578616d706c6503636f6d000a686f73746d6173746572076578616d706c6503636f6d0078c275f500000e1000000384000 93a800000 1518'.replaceAll(
        ' ',
        '',
      ),
    ],
    ['TYPE62347', '\\# 5 0a000001ff', '0a000001ff'],
    ['A', '\\# 4 0A0000 01', '0a000001'],
  ]
  test.each(table)('%s %s', (type, text, hex) => {
    expect(hexOf(rdataOfText(type, text, 'example.com.'))).toBe(hex)
  })

  test('the regular expression of RFC 2915 keeps its backslashes', () => {
    const rdata = rdataOfText('NAPTR', '100 10 "" "" "!^urn:cid:.+@([^\\\\.]+\\\\.)(.*)$!\\\\2!i" .', null)
    expect(fieldsOf('NAPTR', rdata).regexp).toBe('!^urn:cid:.+@([^\\.]+\\.)(.*)$!\\2!i')
  })
})

describe('the test vectors of RFC 9460 D', () => {
  const foo = '03666f6f076578616d706c6503636f6d00'
  const vectors: [text: string, hex: string][] = [
    ['0 foo.example.com.', `0000${foo}`],
    ['1 .', '000100'],
    ['16 foo.example.com. port=53', `0010${foo}000300020035`],
    ['1 foo.example.com. key667=hello', `0001${foo}029b000568656c6c6f`],
    ['1 foo.example.com. key667="hello\\210qoo"', `0001${foo}029b000968656c6c6fd2716f6f`],
    [
      '1 foo.example.com. ipv6hint="2001:db8::1,2001:db8::53:1"',
      `0001${foo}0006002020010db800000000000000000000000120010db8000000000000000000530001`,
    ],
    [
      '1 example.com. ipv6hint="2001:db8:122:344::192.0.2.33"',
      '0001076578616d706c6503636f6d000006001020010db80122034400000000c0000221',
    ],
    [
      '16 foo.example.org. ( alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1 )',
      '001003666f6f076578616d706c65036f7267000000000400010004000100090268320568332d313900040004c0000201',
    ],
    [
      '16 foo.example.org. alpn="f\\\\\\\\oo\\\\,bar,h2"',
      '001003666f6f076578616d706c65036f7267000001000c08665c6f6f2c626172026832',
    ],
    [
      '16 foo.example.org. alpn=f\\\\\\092oo\\092,bar,h2',
      '001003666f6f076578616d706c65036f7267000001000c08665c6f6f2c626172026832',
    ],
  ]
  test.each(vectors)('%s', (text, hex) => {
    expect(hexOf(rdataOfText('SVCB', text, null))).toBe(hex)
    expect(hexOf(rdataOfText('HTTPS', textOf('HTTPS', Buffer.from(hex, 'hex')), null))).toBe(hex)
  })

  const failures: [params: string, reason: string][] = [
    ['key123=abc key123=def', 'svc_params must not contain the key key123 twice (RFC 9460 2.1)'],
    ['mandatory', 'svc_params mandatory must have a value (RFC 9460 7)'],
    ['alpn', 'svc_params alpn must have a value (RFC 9460 7)'],
    ['port', 'svc_params port must have a value (RFC 9460 7)'],
    ['ipv4hint', 'svc_params ipv4hint must have a value (RFC 9460 7)'],
    ['ipv6hint', 'svc_params ipv6hint must have a value (RFC 9460 7)'],
    ['no-default-alpn=abc alpn=h2', 'svc_params no-default-alpn must not have a value (RFC 9460 2)'],
    ['mandatory=key123', 'svc_params must contain key123, which is listed in mandatory (RFC 9460 8)'],
    ['mandatory=mandatory', 'svc_params mandatory must not list itself (RFC 9460 8)'],
    ['mandatory=key123,key123 key123=abc', 'svc_params mandatory must list each key once (RFC 9460 8)'],
    ['no-default-alpn', 'svc_params must contain alpn if no-default-alpn is present (RFC 9460 7.1.1)'],
    ['port=65536', 'svc_params port must be between 0 and 65535 (RFC 9460 2)'],
    ['key65535=x', 'svc_params has an unknown key "key65535" (RFC 9460 2.1)'],
    [
      'ipv4hint=192.0.2',
      'svc_params ipv4hint must be an IPv4 address such as 192.0.2.1, four decimal numbers without leading zeros, not "192.0.2" (RFC 9460 2)',
    ],
    ['ech=a', 'svc_params ech must be base64 with padding (RFC 4648 4)'],
    ['dohpath=/q', 'svc_params dohpath must be a path with the variable dns, such as /dns-query{?dns} (RFC 9461 5)'],
  ]
  test.each(failures)('%s is rejected', (params, reason) => {
    expect(refusal(() => rdataOfText('SVCB', `1 foo.example.com. ${params}`, null))).toBe(reason)
  })

  test('unordered keys in wire format are rejected', () => {
    const swapped = Buffer.from('00010000030002003500010003026832', 'hex')
    expect(refusal(() => fieldsOf('SVCB', swapped))).toBe('svc_params must have unique keys in ascending order (RFC 9460 2.2)')
  })
})

describe('errors name the field and section', () => {
  const table: [type: string, text: string, reason: string][] = [
    ['MX', '65536 a.', 'preference must be between 0 and 65535 (RFC 1035 3.3.9)'],
    ['MX', '-1 a.', 'preference must be between 0 and 65535 (RFC 1035 3.3.9)'],
    ['MX', '10', 'exchange is missing (RFC 1035 3.3.9)'],
    ['MX', '10 a. b.', 'Unexpected "b." after the value of MX (RFC 1035 3.3.9)'],
    ['MX', '10 a', 'exchange must be absolute: end it with a dot (RFC 1035 5.1)'],
    ['MX', '10 192.0.2.1', 'exchange must be a hostname, not an address (RFC 1035 3.3.9)'],
    ['SRV', '0 0 80 192.0.2.1.', 'target must be a hostname, not an address (RFC 2782)'],
    ['NS', '2001:db8::1', 'target must be a hostname, not an address (RFC 1035 3.3.11)'],
    ['MX', '10 .', 'preference must be 0 if exchange is ".", which means that the name accepts no mail (RFC 7505 3)'],
    ['CNAME', 'a..b.', 'target must not have an empty label (RFC 1035 3.1)'],
    ['CNAME', `${'a'.repeat(64)}.`, 'target must not contain labels longer than 63 octets (RFC 1035 2.3.4)'],
    ['CNAME', '"a."', 'target must not be in quotes (RFC 1035 3.3.1)'],
    ['ALIAS', '.', 'target must not be the root (PowerDNS, ALIAS records)'],
    ['TXT', '', 'strings is missing (RFC 1035 3.3.14)'],
    ['TXT', `"${'a'.repeat(256)}"`, 'strings must consist of strings of at most 255 octets, but one has 256 (RFC 1035 3.3)'],
    ['TXT', '"\\256"', 'strings must use numeric escapes of the form \\DDD, 000 to 255 (RFC 1035 5.1)'],
    ['TXT', '"a', 'A quoted string must end on the same line (RFC 1035 5.1)'],
    ['CAA', '1 issue "ca.example"', 'flags must be 0, or 128 for a critical property (RFC 8659 4.1)'],
    ['CAA', '0 is-sue "ca.example"', 'tag must be 1 to 255 ASCII letters and digits (RFC 8659 4.1)'],
    ['CAA', '0 issue "ca example"', 'value must be the domain of an issuer and its parameters, or ";" for none (RFC 8659 4.2)'],
    ['CAA', '0 iodef "me"', 'value must be a mailto:, http: or https: URL (RFC 8659 4.4)'],
    ['NAPTR', '1 1 "u" "" "!a!b!" c.', 'replacement must be "." if regexp is not empty (RFC 3403 4.1)'],
    ['NAPTR', '1 1 "u" "" "abc" .', 'regexp must be empty or like "!expression!replacement!" (RFC 3402 3.2)'],
    ['NAPTR', '1 1 "u" "" "!a!b" .', 'regexp must be empty or like "!expression!replacement!" (RFC 3402 3.2)'],
    ['NAPTR', '1 1 "u" "" "!a!b!x" .', 'regexp must be empty or like "!expression!replacement!" (RFC 3402 3.2)'],
    ['NAPTR', '1 1 "u" "" "!(a)!\\\\2!" .', 'regexp must be empty or like "!expression!replacement!" (RFC 3402 3.2)'],
    ['NAPTR', '1 1 "u" "" "1a1b1" .', 'regexp must be empty or like "!expression!replacement!" (RFC 3402 3.2)'],
    ['NAPTR', '1 1 "-" "" "" c.', 'flags must contain only letters and digits (RFC 3403 4.1)'],
    ['URI', '1 1 ""', 'target must not be empty (RFC 7553 4.4)'],
    ['SSHFP', '1 2 aabb', 'fingerprint must be 32 octets if fingerprint_type is 2, but has 2 (RFC 6594 4)'],
    ['TLSA', '3 1 1 aabb', 'certificate_data must be 32 octets if matching_type is 1, but has 2 (RFC 6698 2.1.3)'],
    ['DS', '1 8 2 abc', 'digest must be hexadecimal, two digits per octet (RFC 4034 5.1)'],
    ['DS', '1 8 2 abcd', 'digest must be 32 octets if digest_type is 2, but has 2 (RFC 4034 5.1.4)'],
    ['CDS', '1 0 0 00', 'algorithm must not be 0, except in "0 0 0 00", which deletes the DS records at the parent (RFC 8078 4)'],
    ['DNSKEY', '256 2 8 AAAA', 'protocol must be 3 (RFC 4034 2.1.2)'],
    ['DNSKEY', '256 3 8 AAA', 'public_key must be base64 with padding (RFC 4648 4)'],
    ['SVCB', '0 a. port=1', 'svc_params must be empty if svc_priority is 0 (alias mode) (RFC 9460 2.4.2)'],
    ['LOC', '91 N 0 E 0m', 'lat_degrees must be a whole number between 0 and 90 (RFC 1876 2)'],
    ['LOC', '90 1 N 0 E 0m', 'lat_degrees must be at most 90 degrees, including minutes and seconds (RFC 1876 2)'],
    ['LOC', '1 N 0 N 0m', 'long_degrees must be degrees, minutes, and seconds, then E or W (RFC 1876 2)'],
    ['LOC', '1 N 0 E -100001m', 'altitude must be a number with at most 2 decimals between -100000 and 42849672.95 (RFC 1876 2)'],
    [
      'A',
      '1.2.3',
      'address must be an IPv4 address such as 192.0.2.1, four decimal numbers without leading zeros, not "1.2.3" (RFC 1035 3.4.1)',
    ],
    ['AAAA', '::1%lo', 'address must be an IPv6 address such as 2001:db8::1, not "::1%lo" (RFC 3596 2.2)'],
    ['A', '\\# 3 010203', 'address ends too early (RFC 1035 3.4.1)'],
    ['A', '\\# 4 010203', 'A generic value must be \\#, the number of octets, and the octets in hexadecimal (RFC 3597 5)'],
    ['TYPE731', 'abc', 'The value of TYPE731 must be written as \\# length hexadecimal (RFC 3597 5)'],
    ['WKS', 'abc', 'WKS has no supported text format. Write it as TYPE11 (RFC 3597 5)'],
    ['OPT', '\\# 0', 'OPT is a query type or meta type, not a record type (RFC 6895 3.1)'],
    ['A', '1.2.3.4\n1.2.3.5', 'The value of A must be on one line, or in parentheses (RFC 1035 5.1)'],
  ]
  test.each(table)('%s %s', (type, text, reason) => {
    expect(refusal(() => rdataOfText(type, text, null))).toBe(reason)
  })

  test.each([
    ['MX', null, 'The fields of MX must be an object'],
    ['MX', { preference: '10', exchange: 'a.' }, 'preference must be between 0 and 65535 (RFC 1035 3.3.9)'],
    ['MX', { preference: 10 }, 'exchange is missing (RFC 1035 3.3.9)'],
    ['MX', { preference: 10, exchange: 'a.', priority: 1 }, 'priority is not a field of MX (fields: preference, exchange)'],
    ['TXT', { strings: [] }, 'strings must be a non-empty list of strings (RFC 1035 3.3.14)'],
    ['TXT', { strings: ['\ud800'] }, 'strings must be valid Unicode text (RFC 1035 3.3.14)'],
    ['LOC', { lat_degrees: 1.5 }, 'lat_degrees must be a whole number between 0 and 90 (RFC 1876 2)'],
    ['TYPE731', { rdata: 'abc' }, 'rdata must be hexadecimal, two digits per octet (RFC 3597 5)'],
  ])('the fields of %s: %j', (type, fields, reason) => {
    expect(refusal(() => rdataOfFields(type, fields, null))).toBe(reason)
  })
})

test('times outside 1970 to 2106 wrap around in 32 bits', () => {
  const inception = (text: string) => fieldsOf('RRSIG', rdataOfText('RRSIG', `A 8 1 1 1 ${text} 1 a. AAAA`, null)).inception
  expect(inception('21060207062816')).toBe(0)
  expect(inception('19691231235959')).toBe(0xffffffff)
  expect(inception('4294967295')).toBe(0xffffffff)
  expect(() => inception('20260230000000')).toThrow('inception must be a time in the form YYYYMMDDHHmmSS (RFC 4034 3.2)')
})

describe('record content', () => {
  test('TXT without quotes is one raw value', () => {
    const raw = 'v=DKIM1; k=rsa; p="\\x" ( é'
    expect(Buffer.from(txtValue(rdataOfContent('TXT', raw, null))).toString()).toBe(raw)
    expect(textOf('TXT', rdataOfContent('TXT', raw, null))).toBe('"v=DKIM1; k=rsa; p=\\"\\\\x\\" ( \\195\\169"')
  })

  test('any raw value is preserved, split at 255 octets', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 700 }).filter(text => text.isWellFormed() && !/^\s*"|^\\#\s/.test(text)),
        raw => {
          const rdata = rdataOfContent('TXT', raw, null)
          expect(Buffer.from(txtValue(rdata)).equals(Buffer.from(octetsOf(raw)))).toBe(true)
          expect((fieldsOf('TXT', rdata).strings as unknown[]).length).toBe(Math.max(1, Math.ceil(Buffer.byteLength(raw) / 255)))
          expect(hexOf(rdataOfContent('TXT', textOf('TXT', rdata), null))).toBe(hexOf(rdata))
        },
      ),
    )
  })

  test('TXT with quotes keeps its strings', () => {
    expect(fieldsOf('TXT', rdataOfContent('TXT', '"a; b" "c"', null))).toEqual({ strings: ['a; b', 'c'] })
  })

  test('a comment in any other value is rejected', () => {
    expect(refusal(() => rdataOfContent('A', '192.0.2.1 ; office', null))).toStartWith('A value must contain ";" only in quotes')
    expect(rdataOfContent('CAA', '0 issue ";"', null)).toHaveLength(8)
  })

  test('a value that does not fit into rdata is rejected', () => {
    expect(refusal(() => rdataOfTxt(new Uint8Array(65_536)))).toBe('A value must be at most 65535 octets (RFC 1035 3.2.1)')
  })
})

describe('canonical rdata', () => {
  test('names are lower case only for the listed types', () => {
    const canonical = (type: string, text: string) => textOf(type, canonicalRdata(type, rdataOfText(type, text, null)))
    expect(canonical('MX', '10 Mail.Example.COM.')).toBe('10 mail.example.com.')
    expect(canonical('NAPTR', '1 1 "S" "SIP" "" Next.Example.')).toBe('1 1 "S" "SIP" "" next.example.')
    expect(canonical('RRSIG', 'A 5 3 1 1 1 1 Example.COM. AAAA')).toBe(
      'A 5 3 1 19700101000001 19700101000001 1 example.com. AAAA',
    )
    expect(canonical('SVCB', '1 Foo.Example.')).toBe('1 Foo.Example.')
    expect(canonical('NSEC', 'Foo.Example. A')).toBe('Foo.Example. A')
    expect(canonical('TXT', '"Foo"')).toBe('"Foo"')
  })

  test('invalid rdata is unchanged', () => {
    expect(hexOf(canonicalRdata('MX', Buffer.from('00', 'hex')))).toBe('00')
  })
})
