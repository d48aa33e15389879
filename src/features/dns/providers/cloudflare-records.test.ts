import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { canonicalRdata } from '../../../dns/rdata-names'
import { rdataOfContent, rdataOfFields, textOf, txtValue } from '../../../dns/rdata'
import { anyFields } from '../../../../test/support/dns-values'
import { cloudflareTypes, foreignOfRows, membersOf, recordsOfRows, rrsetsOfRecords } from './cloudflare-records'
import { unsupportedAtCloudflare } from './cloudflare-rules'

const row = (type: string, members: object, more: object = {}) => ({
  id: 'r1',
  name: 'www.example.com',
  type,
  ttl: 300,
  ...JSON.parse(JSON.stringify(members)),
  ...more,
})
const read = (type: string, members: object, more: object = {}) => recordsOfRows([row(type, members, more)], 'example.com')
const textRead = (type: string, members: object) => textOf(type, read(type, members)[0]!.rdata)
const value = (type: string, content: string) => rdataOfContent(type, content, '.')

describe('a value sent to Cloudflare', () => {
  for (const type of cloudflareTypes)
    test(`of ${type} is read back as it was`, () => {
      fc.assert(
        fc.property(anyFields[type]!, fields => {
          const rdata = rdataOfFields(type, fields, null)
          if (
            unsupportedAtCloudflare({ name: 'www', type, ttl: 300, values: [rdata] }).some(one => /UTF-8|empty/.test(one.detail))
          )
            return
          const [record] = read(type === 'ALIAS' ? 'CNAME' : type, membersOf(type, rdata))
          const [actual, expected] = [record!.rdata, rdata].map(one =>
            type === 'TXT' ? txtValue(one) : canonicalRdata(type, one),
          )
          expect(actual).toEqual(expected!)
        }),
        { numRuns: 60 },
      )
    })

  test('has the fields that the API documents', () => {
    expect(membersOf('A', value('A', '192.0.2.1'))).toEqual({ content: '192.0.2.1' })
    expect(membersOf('CNAME', value('CNAME', 'a.example.net.'))).toEqual({ content: 'a.example.net' })
    expect(membersOf('MX', value('MX', '10 mail.example.net.'))).toEqual({ priority: 10, content: 'mail.example.net' })
    expect(membersOf('MX', value('MX', '0 .'))).toEqual({ priority: 0, content: '.' })
    expect(membersOf('TXT', value('TXT', 'a "b" \\ ;é'))).toEqual({ content: '"a \\"b\\" \\\\ ;\\195\\169"' })
    expect(membersOf('SRV', value('SRV', '1 2 443 sip.example.net.'))).toEqual({
      data: { priority: 1, weight: 2, port: 443, target: 'sip.example.net' },
    })
    // A value that ends with a dot but is not a name keeps it.
    expect(membersOf('CAA', value('CAA', '0 iodef "mailto:x@example."'))).toEqual({
      data: { flags: 0, tag: 'iodef', value: 'mailto:x@example.' },
    })
    expect(membersOf('URI', value('URI', '1 2 "https://example.com/"'))).toEqual({
      priority: 1,
      data: { weight: 2, target: 'https://example.com/' },
    })
    expect(membersOf('SSHFP', value('SSHFP', `1 2 ${'ab'.repeat(32)}`))).toEqual({
      data: { algorithm: 1, type: 2, fingerprint: 'ab'.repeat(32) },
    })
    expect(membersOf('TLSA', value('TLSA', `3 1 1 ${'ab'.repeat(32)}`))).toEqual({
      data: { usage: 3, selector: 1, matching_type: 1, certificate: 'ab'.repeat(32) },
    })
    expect(membersOf('NAPTR', value('NAPTR', '10 20 "s" "SIP+D2T" "" _sip._tcp.example.net.'))).toEqual({
      data: { order: 10, preference: 20, flags: 's', service: 'SIP+D2T', regex: '', replacement: '_sip._tcp.example.net' },
    })
    expect(membersOf('HTTPS', value('HTTPS', '1 . alpn=h2,h3 port=8443'))).toEqual({
      data: { priority: 1, target: '.', value: 'alpn=h2,h3 port=8443' },
    })
  })
})

describe('a record read from Cloudflare', () => {
  test('can have data in the formats of older records', () => {
    const srv = { service: '_sip', proto: '_tcp', name: 'example.com', priority: '1', weight: '2', port: '443', target: '.' }
    expect(textRead('SRV', { data: srv })).toBe('1 2 443 .')
    const naptr = { flags: 'S', order: 30, preference: 100, regex: '', replacement: '_sip._tls.unit.tests.', service: 'SIP+D2T' }
    expect(textRead('NAPTR', { data: naptr })).toBe('30 100 "S" "SIP+D2T" "" _sip._tls.unit.tests.')
    expect(textRead('HTTPS', { data: { priority: 1, target: '.', value: 'alpn="h3,h2" ipv4hint="192.0.2.1"' } })).toBe(
      textOf('HTTPS', value('HTTPS', '1 . alpn=h3,h2 ipv4hint=192.0.2.1')),
    )
  })

  test('of type TXT is the quoted strings, or the raw text', () => {
    expect(textRead('TXT', { content: '"a" "b"' })).toBe('"a" "b"')
    expect(textRead('TXT', { content: 'v=DKIM1;k=rsa \\ "x"' })).toBe('"v=DKIM1;k=rsa \\\\ \\"x\\""')
    expect(textRead('TXT', { content: '"this' })).toBe('"\\"this"')
    expect(textRead('TXT', { content: '"these" ones"' })).toBe('"\\"these\\" ones\\""')
    expect(textRead('TXT', { content: `"${'x'.repeat(300)}"` })).toBe(`"${'x'.repeat(255)}" "${'x'.repeat(45)}"`)
  })

  test('is skipped if Cloudflare manages it: SOA and NS at the apex', () => {
    const apex = { name: 'example.com' }
    expect(read('SOA', { content: 'ignored' }, apex)).toEqual([])
    expect(read('NS', { content: 'ada.ns.cloudflare.com' }, apex)).toEqual([])
    expect(read('NS', { content: 'ns1.example.net' })).toHaveLength(1)
  })

  test('is an ALIAS if it is a CNAME at the apex', () => {
    expect(read('CNAME', { content: 'example.net', proxied: true }, { name: 'example.com' })).toMatchObject([
      { name: '@', type: 'ALIAS', proxied: true },
    ])
    expect(read('CNAME', { content: 'example.net' })).toMatchObject([{ name: 'www', type: 'CNAME', proxied: false }])
  })

  test('has its name in lower case A-labels', () => {
    expect(read('A', { content: '192.0.2.1' }, { name: 'BÜCHER.Example.com' })).toMatchObject([{ name: 'xn--bcher-kva' }])
    expect(read('A', { content: '192.0.2.1' }, { name: '*.example.com' })).toMatchObject([{ name: '*' }])
  })

  test('that is invalid causes an error with its name', () => {
    expect(() => read('A', { content: '1.2.3' })).toThrow(/www\.example\.com A, which is invalid/)
    expect(() => read('SRV', { content: '1 2 3 x' })).toThrow(/www\.example\.com SRV/)
    expect(() => read('A', { content: '192.0.2.1' }, { name: 'www.example.net' })).toThrow(/not within the zone/)
    for (const ttl of ['auto', 0.5, -1, 1e300])
      expect(() => read('A', { content: '192.0.2.1' }, { ttl })).toThrow(/without an id, name, type, or TTL/)
    for (const type of ['NOTHING', 'constructor', '__proto__']) expect(read(type, { content: 'x' })).toEqual([])
  })

  test('gives its rrset the lowest TTL, which is proxied if one of them is', () => {
    const rows = [
      row('A', { content: '192.0.2.1', proxied: false }, { id: 'a' }),
      row('A', { content: '192.0.2.2', proxied: true }, { id: 'b', ttl: 1 }),
      row('TXT', { content: '"x"' }, { id: 'c' }),
    ]
    const rrsets = [...rrsetsOfRecords(recordsOfRows(rows, 'example.com')).values()]
    expect(rrsets).toMatchObject([
      { name: 'www', type: 'A', ttl: 1, options: { proxied: true } },
      { name: 'www', type: 'TXT', ttl: 300 },
    ])
    expect(rrsets[1]!.options).toBeUndefined()
  })
})

describe('what Cloudflare does not support', () => {
  const details = (type: string, name: string, ...contents: string[]) =>
    unsupportedAtCloudflare({ name, type, ttl: 300, values: contents.map(one => value(type, one)) }).map(one => one.detail)

  test('is found before anything is sent', () => {
    expect(details('A', 'www', '192.0.2.1')).toEqual([])
    expect(details('DNAME', 'www', 'example.net.')).toEqual([expect.stringContaining('support DNAME records')])
    expect(details('NS', '@', 'ns1.example.net.')).toEqual([expect.stringContaining('manages the NS records')])
    expect(details('NS', 'sub', 'ns1.example.net.')).toEqual([])
    expect(details('ALIAS', '@', 'example.net.')).toEqual([])
    expect(details('ALIAS', 'www', 'example.net.')).toEqual([expect.stringContaining('ALIAS only at the apex')])
    expect(details('TXT', 'www', '""')).toEqual([expect.stringContaining('support empty TXT')])
    expect(details('TXT', 'www', 'x'.repeat(2048))).toEqual([])
    expect(details('TXT', 'www', 'x'.repeat(2049))).toEqual([expect.stringContaining('limits TXT records to 2048')])
    expect(details('TXT', 'www', ...['a', 'b', 'c', 'd', 'e'].map(one => one.repeat(2000)))).toEqual([
      expect.stringContaining('to 8192 characters'),
    ])
    expect(details('CAA', 'www', '0 issue "ca.example" ')).toEqual([])
    expect(details('URI', 'www', '1 1 "\\255"')).toEqual([expect.stringContaining('UTF-8')])
    expect(details('A', 'a\\.b', '192.0.2.1')).toEqual([expect.stringContaining('letters, digits')])
  })
})

test('records of types that only Cloudflare has are listed, and other records are read', () => {
  const rows = [row('A', { content: '192.0.2.1' }), row('R2', { content: 'public' }, { name: 'files.example.com' })]
  expect(recordsOfRows(rows, 'example.com').map(one => one.type)).toEqual(['A'])
  expect(foreignOfRows(rows, 'example.com')).toEqual([{ name: 'files', type: 'R2', detail: 'Cloudflare record: public' }])
})
