import { describe, expect, test } from 'bun:test'
import { digOutput, queryOctets, servedZone } from '../../../../test/support/served-zone'
import { Answerer } from './answerer'
import { ZoneIndex, ZoneSet } from './zone-index'

const soa = 'ns1 hostmaster 7 7200 3600 1209600 300'
const example = `@ 3600 SOA ${soa}
  @ 3600 NS ns1
  ns1 3600 A 192.0.2.53
  @ 600 ALIAS www
  @ 600 MX 10 mail
  www 300 A 192.0.2.1
  www 300 A 192.0.2.2
  www 900 AAAA 2001:db8::1
  hop 60 CNAME www
  over 600 ALIAS hop
  twice 40 ALIAS over
  cross 600 ALIAS web.other.test.
  nothing 600 ALIAS not-there
  four 600 ALIAS ns1
  *.any 600 ALIAS www
  towild 600 ALIAS x.any
  old 30 DNAME new
  www.new 600 A 192.0.2.9
  named 600 ALIAS www.old
  sub 600 NS ns.sub
  below 600 ALIAS host.sub
  below 600 A 203.0.113.5
  away 60 ALIAS host.far.test.
  away 600 A 203.0.113.1
  away 20 AAAA 2001:db8::9
  leaves 600 CNAME host.far.test.
  through 600 ALIAS leaves
  through 300 A 203.0.113.2
  unknown 600 ALIAS host.far.test.
  self 600 ALIAS self
  ping 600 ALIAS pong
  pong 600 CNAME ping`
const zones = new ZoneSet()
zones.put(ZoneIndex.of(servedZone('example.com.', example)))
zones.put(
  ZoneIndex.of(
    servedZone('other.test.', '@ 60 SOA ns2 hostmaster 1 2 3 4 900\n@ 60 NS ns2\nweb 120 A 192.0.2.77\nns2 60 A 192.0.2.99'),
  ),
)
const server = new Answerer(zones)
const ask = (name: string, type = 'A') => digOutput(server.answer(queryOctets(name, type), 'udp')!)
const negative = { answer: [], authority: [`example.com. 300 SOA ns1.example.com. hostmaster.example.com. ${soa.slice(15)}`] }

describe('an ALIAS', () => {
  test('is answered with the addresses of its target, also at the apex and next to other types', () => {
    expect(ask('example.com.')).toMatchObject({
      rcode: 'NOERROR',
      flags: 'qr aa',
      answer: ['example.com. 300 A 192.0.2.1', 'example.com. 300 A 192.0.2.2'],
      authority: [],
    })
    expect(ask('example.com.', 'AAAA').answer).toEqual(['example.com. 600 AAAA 2001:db8::1'])
    expect(ask('example.com.', 'MX').answer).toEqual(['example.com. 600 MX 10 mail.example.com.'])
    expect(ask('eXample.com.').answer[0]).toBe('eXample.com. 300 A 192.0.2.1')
  })

  test.each([
    ['over.example.com.', 60, '192.0.2.1'],
    ['twice.example.com.', 40, '192.0.2.1'],
    ['cross.example.com.', 120, '192.0.2.77'],
    ['a.any.example.com.', 300, '192.0.2.1'],
    ['towild.example.com.', 300, '192.0.2.1'],
    ['named.example.com.', 30, '192.0.2.9'],
  ])('follows other aliases with the smallest TTL: %s', (name, ttl, address) => {
    expect(ask(name).answer[0]).toBe(`${name} ${ttl} A ${address}`)
  })

  test('that leaves the served zones uses the addresses that the hub resolved', () => {
    expect(ask('away.example.com.').answer).toEqual(['away.example.com. 60 A 203.0.113.1'])
    expect(ask('away.example.com.', 'AAAA').answer).toEqual(['away.example.com. 20 AAAA 2001:db8::9'])
    expect(ask('through.example.com.').answer).toEqual(['through.example.com. 300 A 203.0.113.2'])
    expect(ask('below.example.com.').answer).toEqual(['below.example.com. 600 A 203.0.113.5'])
    expect(ask('unknown.example.com.')).toMatchObject({ rcode: 'NOERROR', ...negative })
  })

  test.each([['nothing.example.com.'], ['self.example.com.'], ['ping.example.com.']])(
    'without addresses is not an error: %s',
    name => expect(ask(name)).toMatchObject({ rcode: 'NOERROR', flags: 'qr aa', ...negative }),
  )

  test('has only the address families of its target, and is never returned itself', () => {
    expect(ask('four.example.com.', 'AAAA')).toMatchObject({ rcode: 'NOERROR', ...negative })
    expect(ask('example.com.', 'ALIAS')).toMatchObject({ rcode: 'NOERROR', ...negative })
    expect(ask('cross.example.com.', 'TXT')).toMatchObject({ rcode: 'NOERROR', ...negative })
  })

  test('follows changes of its target', () => {
    const own = new ZoneSet()
    own.put(ZoneIndex.of(servedZone('example.com.', `@ 60 SOA ${soa}\n@ 60 ALIAS www\nwww 60 A 192.0.2.1`)))
    const answerer = new Answerer(own)
    const queried = () => digOutput(answerer.answer(queryOctets('example.com.', 'A'), 'udp')!).answer
    expect(queried()).toEqual(['example.com. 60 A 192.0.2.1'])
    for (const set of servedZone('example.com.', 'www 60 A 192.0.2.3').rrsets) own.get('example.com.')!.put(set)
    answerer.forget()
    expect(queried()).toEqual(['example.com. 60 A 192.0.2.3'])
  })

  test('and CNAME are followed only into zones of the same owner', () => {
    const both = (owner: string) => {
      const set = new ZoneSet()
      const lines = `@ 60 SOA ${soa}\n@ 60 ALIAS www.bank.test.\n@ 60 A 203.0.113.1\ncname 60 CNAME no.bank.test.\ndname 60 DNAME bank.test.`
      set.put(ZoneIndex.of({ ...servedZone('example.com.', lines), owner: 'us' }))
      set.put(ZoneIndex.of({ ...servedZone('bank.test.', `@ 60 SOA ${soa}\nwww 60 A 192.0.2.66`), owner }))
      const answerer = new Answerer(set)
      return ['example.com.', 'cname.example.com.', 'www.dname.example.com.'].map(name => {
        const { rcode, answer } = digOutput(answerer.answer(queryOctets(name, 'A'), 'udp')!)
        return [rcode, answer.at(-1)]
      })
    }
    expect(both('us')).toEqual([
      ['NOERROR', 'example.com. 60 A 192.0.2.66'],
      ['NXDOMAIN', 'cname.example.com. 60 CNAME no.bank.test.'],
      ['NOERROR', 'www.bank.test. 60 A 192.0.2.66'],
    ])
    expect(both('them')).toEqual([
      ['NOERROR', 'example.com. 60 A 203.0.113.1'],
      ['NOERROR', 'cname.example.com. 60 CNAME no.bank.test.'],
      ['NOERROR', 'www.dname.example.com. 60 CNAME www.bank.test.'],
    ])
  })
})
