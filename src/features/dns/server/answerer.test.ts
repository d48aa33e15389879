import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyFields, anyName } from '../../../../test/support/dns-values'
import { digOutput, queryOctets, servedZone } from '../../../../test/support/served-zone'
import { decodeMessage } from '../../../dns/message-decode'
import { encodeMessage } from '../../../dns/message-encode'
import { message, OPCODE } from '../../../dns/message'
import { lowerName, sameName, wireLength } from '../../../dns/name'
import { canonicalRdata } from '../../../dns/rdata-names'
import { rdataOfFields } from '../../../dns/rdata'
import { signTsig } from '../../../dns/tsig'
import { Answerer } from './answerer'
import type { ServedSet } from './served-zone'
import { ZoneIndex, ZoneSet } from './zone-index'

const soa = 'ns1.example.com. hostmaster.example.com. 7 7200 3600 1209600 300'
const example = servedZone(
  'example.com.',
  `@ 3600 SOA ${soa}
   @ 3600 NS ns1
   @ 3600 NS ns2.other.test.
   @ 3600 MX 10 mail
   @ 300 TXT "v=spf1 -all"
   ns1 3600 A 192.0.2.53
   www 300 A 192.0.2.1
   www 300 A 192.0.2.2
   www 300 AAAA 2001:db8::1
   a.b.deep 60 A 192.0.2.9
   alias 60 CNAME www
   twice 60 CNAME alias
   away 60 CNAME host.elsewhere.test.
   over 60 CNAME www.other.test.
   dangling 60 CNAME nothing
   loop 60 CNAME pool
   pool 60 CNAME loop
   tosub 60 CNAME host.sub
   *.wild 60 A 192.0.2.7
   *.wild 60 MX 10 mail
   known.wild 60 TXT "here"
   *.cw 60 CNAME www
   sub 3600 NS ns.sub
   sub 3600 NS ns1
   sub 3600 NS ns.far.test.
   sub 3600 DS 60485 8 1 2bb183af5f22588179a53b0a98631fad1a292118
   ns.sub 3600 A 192.0.2.54
   ns.sub 3600 AAAA 2001:db8::54
   old 600 DNAME new
   below.old 60 A 192.0.2.66
   x.new 60 A 192.0.2.77
   info 60 HINFO "PDP-11" "UNIX"
   ${Array.from({ length: 40 }, (_, n) => `big 60 A 198.51.100.${n}`).join('\n')}
   ${Array.from({ length: 90 }, (_, n) => `huge 60 A 198.51.100.${n}`).join('\n')}`,
)
const other = servedZone(
  'other.test.',
  `@ 60 SOA ns2 hostmaster 1 2 3 4 900
   @ 60 NS ns2
   ns2 60 A 192.0.2.99
   www 60 A 192.0.2.98`,
)
const zones = new ZoneSet()
for (const zone of [example, other]) zones.put(ZoneIndex.of(zone))
const server = new Answerer(zones)
const ask = (name: string, type = 'A', more = {}) => digOutput(server.answer(queryOctets(name, type, more), 'udp')!)
const negativeSoa = `example.com. 300 SOA ${soa}`

describe('a name of the zone', () => {
  test('is answered authoritatively, without additional records', () => {
    expect(ask('www.example.com.')).toEqual({
      rcode: 'NOERROR',
      flags: 'qr aa',
      answer: ['www.example.com. 300 A 192.0.2.1', 'www.example.com. 300 A 192.0.2.2'],
      authority: [],
      additional: [],
    })
    expect(ask('example.com.', 'MX').answer).toEqual(['example.com. 3600 MX 10 mail.example.com.'])
    expect(ask('example.com.', 'SOA').answer).toEqual([`example.com. 3600 SOA ${soa}`])
  })

  test('is returned in the case of the query, also from the cache', () => {
    for (const name of ['www.example.com.', 'wWw.eXample.COM.', 'WWW.EXAMPLE.com.']) {
      const answer = decodeMessage(server.answer(queryOctets(name, 'A'), 'udp')!)
      expect([answer.question[0]!.name, answer.answer[0]!.name]).toEqual([name, name])
    }
  })

  test('without the type gets the SOA with the smaller of its TTL and minimum (RFC 2308 section 5)', () => {
    const nodata = { rcode: 'NOERROR', flags: 'qr aa', answer: [], authority: [negativeSoa], additional: [] }
    expect(ask('www.example.com.', 'TXT')).toEqual(nodata)
    expect(ask('other.test.', 'MX').authority).toEqual(['other.test. 60 SOA ns2.other.test. hostmaster.other.test. 1 2 3 4 900'])
  })

  test('exists if there are names below it (RFC 8020)', () => {
    for (const name of ['deep', 'b.deep']) {
      expect(ask(`${name}.example.com.`)).toMatchObject({ rcode: 'NOERROR', authority: [negativeSoa] })
    }
    expect(ask('c.deep.example.com.').rcode).toBe('NXDOMAIN')
  })

  test('that does not exist is NXDOMAIN with the SOA', () => {
    expect(ask('nothing.example.com.')).toEqual({
      rcode: 'NXDOMAIN',
      flags: 'qr aa',
      answer: [],
      authority: [negativeSoa],
      additional: [],
    })
  })

  test('outside all zones is refused, also if its text has the same ending', () => {
    for (const name of ['www.notexample.com.', 'com.', '.', 'example.org.']) {
      expect(ask(name)).toEqual({ rcode: 'REFUSED', flags: 'qr', answer: [], authority: [], additional: [] })
    }
  })
})

describe('CNAME', () => {
  test('is followed step by step', () => {
    expect(ask('twice.example.com.').answer).toEqual([
      'twice.example.com. 60 CNAME alias.example.com.',
      'alias.example.com. 60 CNAME www.example.com.',
      'www.example.com. 300 A 192.0.2.1',
      'www.example.com. 300 A 192.0.2.2',
    ])
  })

  test('is the answer to a query for CNAME', () => {
    expect(ask('alias.example.com.', 'CNAME').answer).toEqual(['alias.example.com. 60 CNAME www.example.com.'])
  })

  test('is followed into other served zones, but not further', () => {
    expect(ask('over.example.com.').answer).toEqual([
      'over.example.com. 60 CNAME www.other.test.',
      'www.other.test. 60 A 192.0.2.98',
    ])
    expect(ask('away.example.com.')).toEqual({
      rcode: 'NOERROR',
      flags: 'qr aa',
      answer: ['away.example.com. 60 CNAME host.elsewhere.test.'],
      authority: [],
      additional: [],
    })
  })

  test('with a missing target is NXDOMAIN (RFC 6604 section 3)', () => {
    expect(ask('dangling.example.com.')).toMatchObject({ rcode: 'NXDOMAIN', flags: 'qr aa', authority: [negativeSoa] })
    expect(ask('alias.example.com.', 'MX')).toMatchObject({ rcode: 'NOERROR', authority: [negativeSoa] })
  })

  test('loops terminate', () => {
    expect(ask('loop.example.com.').answer).toEqual([
      'loop.example.com. 60 CNAME pool.example.com.',
      'pool.example.com. 60 CNAME loop.example.com.',
    ])
  })

  test('into a delegation returns the referral', () => {
    expect(ask('tosub.example.com.')).toMatchObject({
      flags: 'qr aa',
      answer: ['tosub.example.com. 60 CNAME host.sub.example.com.'],
      authority: expect.arrayContaining(['sub.example.com. 3600 NS ns.sub.example.com.']),
    })
  })
})

describe('a wildcard (RFC 4592)', () => {
  test('answers for names that do not exist, at any depth', () => {
    expect(ask('foo.wild.example.com.').answer).toEqual(['foo.wild.example.com. 60 A 192.0.2.7'])
    expect(ask('a.b.wild.example.com.').answer).toEqual(['a.b.wild.example.com. 60 A 192.0.2.7'])
    expect(ask('*.wild.example.com.').answer).toEqual(['*.wild.example.com. 60 A 192.0.2.7'])
    expect(ask('foo.wild.example.com.', 'TXT')).toMatchObject({ rcode: 'NOERROR', authority: [negativeSoa] })
    expect(ask('foo.cw.example.com.').answer[0]).toBe('foo.cw.example.com. 60 CNAME www.example.com.')
  })

  test('does not answer for existing names or names below them', () => {
    expect(ask('known.wild.example.com.')).toMatchObject({ rcode: 'NOERROR', answer: [], authority: [negativeSoa] })
    expect(ask('x.known.wild.example.com.').rcode).toBe('NXDOMAIN')
    expect(ask('x.*.wild.example.com.').rcode).toBe('NXDOMAIN')
    expect(ask('wild.example.com.')).toMatchObject({ rcode: 'NOERROR', answer: [] })
  })

  test('matches the examples of RFC 4592 section 2.2.1', () => {
    const rfc = new ZoneSet()
    const lines = `@ 3600 SOA ns hostmaster 1 2 3 4 5
      @ 3600 NS ns.example.com.
      @ 3600 NS ns.example.net.
      * 3600 TXT "this is a wildcard"
      * 3600 MX 10 host1
      sub.* 3600 TXT "this is not a wildcard"
      host1 3600 A 192.0.2.1
      _ssh._tcp.host1 3600 SRV 0 0 22 host1
      _ssh._tcp.host2 3600 SRV 0 0 22 host2
      subdel 3600 NS ns.example.com.
      subdel 3600 NS ns.example.net.`
    rfc.put(ZoneIndex.of(servedZone('example.', lines)))
    const one = new Answerer(rfc)
    const summary = (name: string, type: string) => {
      const { rcode, answer, authority } = digOutput(one.answer(queryOctets(name, type), 'udp')!)
      return [rcode, answer.length, authority.filter(text => text.includes(' NS ')).length]
    }
    expect(summary('host3.example.', 'MX')).toEqual(['NOERROR', 1, 0])
    expect(summary('host3.example.', 'A')).toEqual(['NOERROR', 0, 0])
    expect(summary('foo.bar.example.', 'TXT')).toEqual(['NOERROR', 1, 0])
    expect(summary('host1.example.', 'MX')).toEqual(['NOERROR', 0, 0])
    expect(summary('sub.*.example.', 'MX')).toEqual(['NOERROR', 0, 0])
    expect(summary('_telnet._tcp.host1.example.', 'SRV')).toEqual(['NXDOMAIN', 0, 0])
    expect(summary('host.subdel.example.', 'A')).toEqual(['NOERROR', 0, 2])
    expect(summary('ghost.*.example.', 'MX')).toEqual(['NXDOMAIN', 0, 0])
  })
})

describe('a delegation', () => {
  const referral = {
    rcode: 'NOERROR',
    flags: 'qr',
    answer: [],
    authority: [
      'sub.example.com. 3600 NS ns.sub.example.com.',
      'sub.example.com. 3600 NS ns1.example.com.',
      'sub.example.com. 3600 NS ns.far.test.',
    ],
    additional: [
      'ns.sub.example.com. 3600 A 192.0.2.54',
      'ns.sub.example.com. 3600 AAAA 2001:db8::54',
      'ns1.example.com. 3600 A 192.0.2.53',
    ],
  }

  test('is a non-authoritative referral with the known addresses', () => {
    for (const name of ['sub', 'host.sub', 'a.b.sub', 'ns.sub']) expect(ask(`${name}.example.com.`)).toEqual(referral)
    expect(ask('sub.example.com.', 'NS')).toEqual(referral)
    expect(ask('sub.example.com.', 'ANY')).toEqual(referral)
  })

  test('leaves DS to the parent zone (RFC 4035 section 3.1.4.1)', () => {
    expect(ask('sub.example.com.', 'DS')).toMatchObject({
      flags: 'qr aa',
      answer: ['sub.example.com. 3600 DS 60485 8 1 2bb183af5f22588179a53b0a98631fad1a292118'],
    })
    expect(ask('x.sub.example.com.', 'DS')).toEqual(referral)
  })

  test('is replaced by the child zone if that is served too, except for DS', () => {
    const both = new ZoneSet()
    both.put(ZoneIndex.of(example))
    both.put(ZoneIndex.of(servedZone('sub.example.com.', '@ 60 SOA ns.sub.example.com. h 1 2 3 4 5\n host 60 A 192.0.2.44')))
    const one = new Answerer(both)
    const summary = (name: string, type: string) => digOutput(one.answer(queryOctets(name, type), 'udp')!)
    expect(summary('host.sub.example.com.', 'A')).toMatchObject({
      flags: 'qr aa',
      answer: ['host.sub.example.com. 60 A 192.0.2.44'],
    })
    expect(summary('sub.example.com.', 'DS').answer).toHaveLength(1)
    expect(summary('sub.example.com.', 'TXT').authority[0]).toStartWith('sub.example.com. 5 SOA')
  })

  test('is truncated if required glue does not fit (RFC 9471)', () => {
    const many = new ZoneSet()
    const servers = Array.from(
      { length: 30 },
      (_, n) => `far 60 NS a-name-server-${n}.far\na-name-server-${n}.far 60 AAAA 2001:db8::${n}`,
    )
    many.put(ZoneIndex.of(servedZone('z.test.', `@ 60 SOA a b 1 2 3 4 5\n${servers.join('\n')}`)))
    const one = new Answerer(many)
    const cut = digOutput(one.answer(queryOctets('x.far.z.test.', 'A'), 'udp')!)
    expect(cut).toMatchObject({ flags: 'qr tc', authority: { length: 30 } })
    expect(cut.additional.length).toBeWithin(1, 30)
    expect(digOutput(one.answer(queryOctets('x.far.z.test.', 'A'), 'tcp')!)).toMatchObject({
      flags: 'qr',
      additional: { length: 30 },
    })
  })
})

describe('DNAME (RFC 6672)', () => {
  test('renames names below it, but not itself', () => {
    expect(ask('x.old.example.com.')).toMatchObject({
      rcode: 'NOERROR',
      flags: 'qr aa',
      answer: [
        'old.example.com. 600 DNAME new.example.com.',
        'x.old.example.com. 600 CNAME x.new.example.com.',
        'x.new.example.com. 60 A 192.0.2.77',
      ],
    })
    expect(ask('old.example.com.')).toMatchObject({ rcode: 'NOERROR', answer: [], authority: [negativeSoa] })
    expect(ask('old.example.com.', 'DNAME').answer).toHaveLength(1)
  })

  test('hides existing names below it', () => {
    expect(ask('below.old.example.com.')).toMatchObject({ rcode: 'NXDOMAIN', answer: { length: 2 } })
  })

  test('that makes a name too long is YXDOMAIN', () => {
    const long = Array.from({ length: 59 }, () => 'abc').join('.')
    const name = `${long}.old.example.com.`
    const deep = servedZone('example.com.', `@ 1 SOA a b 1 2 3 4 5\nold 1 DNAME ${'x'.repeat(60)}.new`)
    const set = new ZoneSet()
    set.put(ZoneIndex.of(deep))
    expect(digOutput(new Answerer(set).answer(queryOctets(name, 'A'), 'udp')!)).toMatchObject({
      rcode: 'YXDOMAIN',
      flags: 'qr aa',
      answer: { length: 1 },
    })
  })
})

describe('limited answers', () => {
  test('ANY gets HINFO or the CNAME (RFC 8482)', () => {
    expect(ask('www.example.com.', 'ANY').answer).toEqual(['www.example.com. 3600 HINFO "RFC8482" ""'])
    expect(ask('info.example.com.', 'ANY').answer).toEqual(['info.example.com. 60 HINFO "PDP-11" "UNIX"'])
    expect(ask('alias.example.com.', 'ANY').answer).toEqual(['alias.example.com. 60 CNAME www.example.com.'])
    expect(ask('nothing.example.com.', 'ANY').rcode).toBe('NXDOMAIN')
    expect(ask('deep.example.com.', 'ANY')).toMatchObject({ rcode: 'NOERROR', answer: [], authority: [negativeSoa] })
  })

  test('transfers, other classes and the server version are refused', () => {
    expect(ask('example.com.', 'AXFR').rcode).toBe('REFUSED')
    expect(ask('example.com.', 'IXFR').rcode).toBe('REFUSED')
    const chaos = { question: [{ name: 'version.bind.', type: 'TXT', class: 3 }] }
    expect(ask('', '', chaos)).toEqual({ rcode: 'REFUSED', flags: 'qr', answer: [], authority: [], additional: [] })
    expect(ask('', '', { question: [{ name: 'example.com.', type: 'A', class: 255 }] }).rcode).toBe('REFUSED')
    expect(ask('', '', { question: [{ name: 'example.com.', type: 'A', class: 254 }] }).rcode).toBe('FORMERR')
  })

  test('meta types are refused', () => {
    for (const type of ['TYPE0', 'OPT', 'TSIG']) expect([type, ask('www.example.com.', type).rcode]).toEqual([type, 'FORMERR'])
    for (const type of ['TYPE253', 'TYPE249', 'TYPE128']) expect(ask('www.example.com.', type).rcode).toBe('NOTIMP')
  })
})

describe('EDNS (RFC 6891)', () => {
  const edns = { udpSize: 1232, version: 0, dnssec: false, options: [] }
  const raw = (more: object) => decodeMessage(server.answer(queryOctets('www.example.com.', 'A', more), 'udp')!)

  test('is included if the query has it, with the same DO bit', () => {
    expect(raw({ edns: null }).edns).toBe(null)
    expect(raw({ edns }).edns).toEqual(edns)
    expect(raw({ edns: { ...edns, dnssec: true } }).edns).toEqual({ ...edns, dnssec: true })
  })

  test('of another version is BADVERS, and options are ignored', () => {
    const strange = raw({ edns: { ...edns, version: 1 } })
    expect(strange).toMatchObject({ rcode: 16, answer: [], edns: { version: 0 } })
    const options = [
      { code: 10, value: Buffer.alloc(8) },
      { code: 65001, value: Buffer.from('hello') },
    ]
    expect(raw({ edns: { ...edns, options } })).toMatchObject({ rcode: 0, edns: { options: [] } })
    expect(raw({ edns: { ...edns, options } }).answer).toHaveLength(2)
  })

  test('limits UDP responses: 512 octets without, up to 1232 with it', () => {
    const summary = (name: string, udpSize: number | null) => {
      const octets = server.answer(queryOctets(name, 'A', { edns: udpSize === null ? null : { ...edns, udpSize } }), 'udp')!
      const { flags, answer } = digOutput(octets)
      return { flags, records: answer.length, fits: octets.length <= Math.min(1232, Math.max(512, udpSize ?? 512)) }
    }
    expect(summary('big.example.com.', 1232)).toEqual({ flags: 'qr aa', records: 40, fits: true })
    for (const size of [null, 0, 512, 600]) {
      expect(summary('big.example.com.', size)).toEqual({ flags: 'qr aa tc', records: 0, fits: true })
    }
    expect(summary('huge.example.com.', 4096)).toEqual({ flags: 'qr aa tc', records: 0, fits: true })
    const byTcp = digOutput(server.answer(queryOctets('huge.example.com.', 'A', { edns: null }), 'tcp')!)
    expect(byTcp).toMatchObject({ flags: 'qr aa', answer: { length: 90 } })
  })

  test('must occur only once', () => {
    const twice = Buffer.concat([queryOctets('www.example.com.', 'A'), Buffer.from('0000290200000000000000', 'hex')])
    twice[11] = 2
    expect(digOutput(server.answer(twice, 'udp')!)).toMatchObject({ rcode: 'FORMERR' })
  })
})

describe('messages', () => {
  test('with other opcodes get NOTIMP', () => {
    for (const opcode of [1, OPCODE.STATUS, 3, OPCODE.NOTIFY, OPCODE.UPDATE, 6, 15]) {
      expect(ask('example.com.', 'SOA', { opcode })).toMatchObject({ rcode: 'NOTIMP', flags: 'qr' })
    }
  })

  test('that are responses, or shorter than a header, get no response', () => {
    expect(server.answer(encodeMessage(message({ id: 1, flags: { qr: true } })), 'udp')).toBe(null)
    expect(server.answer(new Uint8Array(11), 'udp')).toBe(null)
  })

  test('with a valid header but a malformed body are FORMERR', () => {
    const query = queryOctets('www.example.com.', 'A', { edns: null })
    const broken: Uint8Array[] = [
      query.slice(0, 12),
      query.slice(0, query.length - 1),
      Buffer.concat([query, Buffer.from([0])]),
      Buffer.concat([query.slice(0, 12), Buffer.from([0xc0, 12, 0, 1, 0, 1])]),
      Buffer.concat([query.slice(0, 12), Buffer.from([0x40, 0, 0, 1, 0, 1])]),
      Buffer.concat([
        query.slice(0, 12),
        ...Array.from({ length: 8 }, () => Buffer.from(`\x1f${'a'.repeat(31)}`)),
        Buffer.alloc(5),
      ]),
      Object.assign(query.slice(), { 5: 0 }),
      Object.assign(query.slice(), { 5: 2 }),
      Object.assign(query.slice(), { 7: 1 }),
    ]
    for (const one of broken) {
      const answer = server.answer(one, 'udp')!
      expect(answer).toHaveLength(12)
      expect(digOutput(answer)).toMatchObject({ rcode: 'FORMERR', flags: 'qr' })
      expect(answer.slice(0, 2)).toEqual(query.slice(0, 2))
    }
  })

  test('keep only the RD flag', () => {
    const flags = { rd: true, ra: true, ad: true, cd: true, tc: true, aa: true }
    expect(ask('www.example.com.', 'A', { flags }).flags).toBe('qr aa rd')
  })

  test('signed with an unknown key get BADKEY (RFC 8945 section 5.2.1)', () => {
    const key = { name: 'k.', algorithm: 'hmac-sha256', secret: Buffer.alloc(32) } as const
    const { message: signed } = signTsig(queryOctets('example.com.', 'AXFR'), key, { time: 1_700_000_000 })
    const answer = decodeMessage(server.answer(signed, 'tcp')!)
    expect(answer).toMatchObject({ rcode: 9, tsig: { key: 'k.', error: 17, mac: { length: 0 } } })
  })

  test('can be answered with a truncated response', () => {
    const query = queryOctets('www.example.com.', 'A')
    expect(digOutput(server.truncated(query))).toEqual({
      rcode: 'NOERROR',
      flags: 'qr tc',
      answer: [],
      authority: [],
      additional: [],
    })
    expect(decodeMessage(server.truncated(query)).question).toHaveLength(1)
    const notify = queryOctets('example.com.', 'SOA', { opcode: OPCODE.NOTIFY })
    expect(decodeMessage(server.truncated(notify))).toMatchObject({ opcode: OPCODE.NOTIFY, rcode: 4 })
  })

  test('with random octets never cause an exception', () => {
    const start = queryOctets('a.old.example.com.', 'A')
    const altered = fc
      .tuple(fc.array(fc.tuple(fc.nat(start.length - 1), fc.nat(255)), { maxLength: 6 }), fc.nat(start.length), fc.uint8Array())
      .map(([changes, cut, more]) => {
        const octets = Buffer.concat([start.slice(0, cut), more])
        for (const [at, octet] of changes) if (at < octets.length) octets[at] = octet
        return octets
      })
    fc.assert(
      fc.property(fc.oneof(altered, fc.uint8Array({ maxLength: 700 })), fc.constantFrom('udp', 'tcp'), (octets, transport) => {
        const answer = server.answer(octets, transport as 'udp')
        if (answer === null) return
        const read = decodeMessage(answer)
        expect(read.flags.qr).toBe(true)
        expect(read.id).toBe((octets[0]! << 8) | octets[1]!)
        if (transport === 'udp') expect(answer.length).toBeLessThanOrEqual(1400)
      }),
      { numRuns: 3000 },
    )
  })
})

describe('zones', () => {
  test('change RRset by RRset, and clear the cache', () => {
    const set = new ZoneSet()
    const index = ZoneIndex.of(servedZone('z.test.', '@ 60 SOA a b 1 2 3 4 5\na.b 60 A 192.0.2.1'))
    set.put(index)
    const one = new Answerer(set)
    const summary = (name: string) => {
      const { rcode, answer } = digOutput(one.answer(queryOctets(name, 'A'), 'udp')!)
      return [rcode, ...answer]
    }
    expect(summary('a.b.z.test.')).toEqual(['NOERROR', 'a.b.z.test. 60 A 192.0.2.1'])
    index.put({ name: 'a.b.z.test.', type: 'A', ttl: 61, rdata: [Buffer.from([192, 0, 2, 2])] })
    one.forget()
    expect(summary('a.b.z.test.')).toEqual(['NOERROR', 'a.b.z.test. 61 A 192.0.2.2'])
    index.put({ name: 'a.b.z.test.', type: 'A', ttl: 0, rdata: [] })
    one.forget()
    for (const name of ['a.b.z.test.', 'b.z.test.']) expect(summary(name)).toEqual(['NXDOMAIN'])
    set.remove('Z.test.')
    one.forget()
    expect(summary('z.test.')).toEqual(['REFUSED'])
  })

  test('need an SOA, and ignore names outside', () => {
    const set = new ZoneSet()
    expect(() => set.put(ZoneIndex.of(servedZone('z.test.', 'a 60 A 192.0.2.1')))).toThrow('SOA')
    set.put(ZoneIndex.of(servedZone('z.test.', '@ 60 SOA a b 1 2 3 4 5\nx.y.test. 60 A 192.0.2.1\nxz.test. 60 A 192.0.2.1')))
    expect(digOutput(new Answerer(set).answer(queryOctets('xz.test.', 'A'), 'udp')!).rcode).toBe('REFUSED')
  })

  test('return each of their RRsets exactly', () => {
    const apex = 'zone.test.'
    const owner = anyName.map(name => (name === '.' ? `x.${apex}` : `${name}${apex}`)).filter(name => wireLength(name) <= 255)
    const kinds = Object.keys(anyFields).filter(type => !['SOA', 'CNAME', 'DNAME', 'NS', 'ALIAS'].includes(type))
    const anySet: fc.Arbitrary<ServedSet> = fc
      .tuple(owner, fc.constantFrom(...kinds), fc.nat(2 ** 31 - 1))
      .chain(([name, type, ttl]) =>
        fc
          .array(
            anyFields[type]!.map(fields => rdataOfFields(type, fields, apex)),
            { minLength: 1, maxLength: 3 },
          )
          .map(rdata => ({ name, type, ttl, rdata: unique(rdata) })),
      )
    fc.assert(
      fc.property(fc.array(anySet, { minLength: 1, maxLength: 8 }), sets => {
        const last = [...new Map(sets.map(set => [`${lowerName(set.name)} ${set.type}`, set])).values()]
        const set = new ZoneSet()
        const start = servedZone(apex, '@ 60 SOA a b 1 2 3 4 5')
        // RRsets that replace others are changes.
        const isFirst = (set: ServedSet) => sets.find(one => one.type === set.type && sameName(one.name, set.name)) === set
        const index = ZoneIndex.of({ ...start, rrsets: [...start.rrsets, ...sets.filter(isFirst)] })
        for (const change of sets.filter(one => !isFirst(one))) index.put(change)
        set.put(index)
        const one = new Answerer(set)
        for (const { name, type, ttl, rdata } of [...last, ...last]) {
          const { rcode, flags, answer } = decodeMessage(one.answer(queryOctets(name, type), 'tcp')!)
          expect({ rcode, aa: flags.aa }).toEqual({ rcode: 0, aa: true })
          const summary = answer.map(record => ({ ...record, name: record.name, rdata: hex(canonicalRdata(type, record.rdata)) }))
          expect(summary).toEqual(rdata.map(one => ({ name, type, class: 1, ttl, rdata: hex(canonicalRdata(type, one)) })))
        }
      }),
      { numRuns: 150 },
    )
  })
})

const hex = (octets: Uint8Array) => Buffer.from(octets).toString('hex')
const unique = (all: Uint8Array[]) => [...new Map(all.map(one => [hex(one), one])).values()]
