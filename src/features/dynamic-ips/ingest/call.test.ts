import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { newIngestToken } from '../../../access/token-format'
import { readCall, type Call, type CallOptions, type Dialect, type Values } from './call'
import { basicUser, presentedToken } from './presented'
import { parsePairs } from './raw-query'

const caller = '198.51.100.9'
const call = (query: string, options: Partial<CallOptions> = {}): Call =>
  readCall(parsePairs(query), { dialect: 'dyndns2', caller, ...options })

/** What the values of a call become, in short: the address, the prefix, or the reason of a refusal. */
function short(values: Values): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === null ? null : shortReading(value.read)]),
  )
}
const shortReading = (read: NonNullable<Values['ipv4']>['read']): string =>
  read.kind === 'address' ? read.address : read.kind === 'prefix' ? read.prefix : `refused: ${read.reason}`
const values = (query: string, options: Partial<CallOptions> = {}) => short(call(query, options).values)

describe('values', () => {
  test.each([
    ['myip=203.0.113.7', { ipv4: '203.0.113.7' }],
    ['myip=2001%3adb8%3a%3a7', { ipv6: '2001:db8::7' }],
    ['myip=203.0.113.7,2001:db8::7', { ipv4: '203.0.113.7', ipv6: '2001:db8::7' }],
    ['ipaddr=203.0.113.7&ip6addr=2001:db8::7', { ipv4: '203.0.113.7', ipv6: '2001:db8::7' }],
    ['myipv6=203.0.113.7', { ipv4: '203.0.113.7' }],
    ['ip=203.0.113.7&ip=203.0.113.8&myip=203.0.113.9', { ipv4: '203.0.113.7' }],
    ['myipv6=2001:db8:1:100::1&ip6lanprefix=2001:db8:1:100::/56', { ipv6: '2001:db8:1:100::1', prefix6: '2001:db8:1:100::/56' }],
    ['ipv6=2001:db8:1:100::1/56', { prefix6: '2001:db8:1:100::/56' }],
    ['praefix=2001:db8:1::/48&prefix=2001:db8:2::/48', { prefix6: '2001:db8:1::/48' }],
    ['', { ipv4: caller }],
    ['myip=&hostname=a.example', { ipv4: caller }],
    ['ip=&ip4=&ipaddr=&ip6=&ip6lanprefix=', { ipv4: caller }],
    ['myip=auto', { ipv4: caller }],
    ['ipv4=auto&ipv6=auto', { ipv4: caller }],
    ['myip=auto,2001:db8::7', { ipv4: caller, ipv6: '2001:db8::7' }],
    ['myip=preserve', {}],
    ['myipv4=no&myipv6=2001:db8::7', { ipv6: '2001:db8::7' }],
    ['myip=NOCHG', {}],
    ['myipv6=', { ipv6: null }],
    ['myipv4=&ipv6=2001:db8::7', { ipv4: null, ipv6: '2001:db8::7' }],
    ['ip6addr=-', { ipv6: null }],
    ['myip=-', { ipv4: null }],
    ['ip6lanprefix=-', { prefix6: null }],
    ['myip=203.0.113.7&offline=YES', { ipv4: null, ipv6: null }],
    ['offline=NO', { ipv4: caller }],
    ['myip=fe80::1%25eth0', { ipv4: 'refused: zone_id' }],
    ['myipv6=nonsense', { ipv6: 'refused: unreadable' }],
    ['ip6lanprefix=2001:db8::', { prefix6: 'refused: prefix_missing_length' }],
    ['wildcard=ON&mx=mail.example&backmx=YES&system=dyndns&url=http://a&myip=203.0.113.7', { ipv4: '203.0.113.7' }],
    ['MYIP=203.0.113.7', { ipv4: caller }],
  ])('%s', (query, expected) => {
    expect(values(query)).toEqual(expected)
  })

  test('`auto` for one family is ignored if the connection has the other', () => {
    expect(values('ipv4=auto', { caller: '2001:db8::9' })).toEqual({})
    expect(values('ipv4=auto&ipv6=auto', { caller: '2001:db8::9' })).toEqual({ ipv6: '2001:db8::9' })
    expect(values('myip=auto', { caller: '2001:db8::9' })).toEqual({ ipv6: '2001:db8::9' })
  })

  test('DuckDNS: `clear` removes both, and empty parameters are absent', () => {
    expect(values('clear=true&ip=203.0.113.7', { dialect: 'duckdns' })).toEqual({ ipv4: null, ipv6: null })
    expect(values('ip=&ipv6=', { dialect: 'duckdns' })).toEqual({ ipv4: caller })
    expect(values('clear=true&ip=203.0.113.7')).toEqual({ ipv4: '203.0.113.7' })
    expect(call('txt=abc&verbose=true', { dialect: 'duckdns' })).toMatchObject({ wantsTxt: true, verbose: true })
  })

  test('addresses for single hosts keep the others', () => {
    const { perHost, values: own, usesCaller } = call('myipv4:VPN.example.com=203.0.113.9&myipv6%3avpn.example.com=2001:db8::9')
    expect([...perHost].map(([name, one]) => [name, short(one)])).toEqual([
      ['vpn.example.com', { ipv4: '203.0.113.9', ipv6: '2001:db8::9' }],
    ])
    expect([own, usesCaller]).toEqual([{}, false])
  })

  test('a list of a thousand addresses is not used', () => {
    expect(call(`myip=${Array(1000).fill('203.0.113.7').join(',')}`).tooLong).toBe(true)
    expect(call('myip=203.0.113.7,2001:db8::7').tooLong).toBe(false)
  })
})

describe('hosts', () => {
  test.each([
    ['hostname=a.example,b.example&Hostname=c.example', ['a.example', 'b.example', 'c.example']],
    ['domains=%20a,%20b%20', ['a', 'b']],
    ['hostname=', null],
    ['hostname=YES&host=yes', null],
    ['myip=203.0.113.7', null],
  ])('%s', (query, expected) => {
    expect(call(query).hosts).toEqual(expected)
  })

  test('more than 20 are recognized, and not all read', () => {
    expect(call(`hostname=${Array(21).fill('a').join(',')}`).hosts).toHaveLength(21)
    expect(call(`hostname=${Array(5000).fill('a').join(',')}`).hosts!.length).toBeLessThan(30)
    expect(call(Array(90).fill('hostname=a,b').join('&')).hosts!.length).toBeLessThan(30)
  })
})

// The rules again, in another form: what the parameters say, one after the other.
const spoken: Record<string, { family?: 'ipv4' | 'ipv6'; prefix?: string }> = {
  '203.0.113.7': { family: 'ipv4' },
  '203.0.113.8': { family: 'ipv4' },
  '2001:db8::7': { family: 'ipv6' },
  '2001:db8::8': { family: 'ipv6' },
  '2001:db8:1:100::/56': { prefix: '2001:db8:1:100::/56' },
  '2001:db8:2:2ff::1/56': { prefix: '2001:db8:2:200::/56' },
}
function model(pairs: [string, string][], dialect: Dialect): { values: Record<string, string | null>; hosts: string[] | null } {
  const said: ['ipv4' | 'ipv6' | 'prefix6', string | null | undefined][] = []
  let mentioned = false
  let offline = false
  const hosts: string[] = []
  for (const [name, value] of pairs) {
    if (/^(hostname|domains?|host|host_id|zone|Hostname)$/.test(name))
      hosts.push(...value.split(',').filter(one => one !== '' && one !== 'YES'))
    if (name === 'offline' && value === 'YES') offline = true
    if (name === 'clear' && value === 'true' && dialect === 'duckdns') offline = true
    const isPrefix = /^(ip6lanprefix|ipv6prefix|praefix|prefix)$/.test(name)
    const isV6 = /^(myipv6|ipv6|ip6|myip6|ip6addr)$/.test(name)
    const isNeutral = /^(myip|ip)$/.test(name)
    const isV4 = /^(myipv4|ipv4|ip4|ipaddr)$/.test(name)
    if (!isPrefix && !isV6 && !isNeutral && !isV4) continue
    const own = isPrefix ? 'prefix6' : isV6 ? 'ipv6' : 'ipv4'
    const parts = value.split(',')
    for (const part of parts) {
      if (part === '') {
        const removes = /^(my)?ipv[46]$/.test(name) && dialect !== 'duckdns' && parts.length === 1
        if (!removes) continue
        said.push([own, null])
      } else if (part === '-') said.push([own, null])
      else if (/^(preserve|no|nochg)$/i.test(part)) said.push([own, undefined])
      else if (part === 'auto') {
        if (isNeutral || isV4) said.push(['ipv4', caller])
      } else if (spoken[part]!.family) {
        if (isPrefix) said.push(['prefix6', 'refused'])
        else said.push([spoken[part]!.family!, part])
      } else said.push(['prefix6', spoken[part]!.prefix!])
      mentioned = true
    }
  }
  const values: Record<string, string | null> = {}
  for (const member of ['ipv4', 'ipv6', 'prefix6'] as const) {
    const first = said.find(([about]) => about === member)
    if (first && first[1] !== undefined) values[member] = first[1]
  }
  if (offline) return { values: { ipv4: null, ipv6: null }, hosts: hosts.length > 0 ? hosts : null }
  return { values: mentioned ? values : { ipv4: caller }, hosts: hosts.length > 0 ? hosts : null }
}

const part = fc.constantFrom(...Object.keys(spoken), '', '-', 'preserve', 'no', 'NOCHG', 'auto')
const addressPair = fc.tuple(
  fc.constantFrom(
    ...'myip myipv4 ipv4 ip ip4 ipaddr myipv6 ipv6 ip6 myip6 ip6addr ip6lanprefix ipv6prefix praefix prefix'.split(' '),
  ),
  fc.array(part, { minLength: 1, maxLength: 3 }).map(parts => parts.join(',')),
)
const hostPair = fc.tuple(
  fc.constantFrom('hostname', 'domain', 'domains', 'host', 'host_id', 'zone', 'Hostname'),
  fc.array(fc.constantFrom('a.example', 'b.example', '', 'YES'), { minLength: 1, maxLength: 3 }).map(parts => parts.join(',')),
)
const otherPair = fc.constantFrom<[string, string]>(
  ['wildcard', 'ON'],
  ['mx', 'NOCHG'],
  ['offline', 'YES'],
  ['offline', 'NOCHG'],
  ['clear', 'true'],
  ['system', 'dyndns'],
  ['url', '203.0.113.9'],
)
const request = fc.array(
  fc.oneof({ weight: 6, arbitrary: addressPair }, { weight: 2, arbitrary: hostPair }, { weight: 1, arbitrary: otherPair }),
  { maxLength: 8 },
) as fc.Arbitrary<[string, string][]>

test('any order and repetition of parameters gives what the rules say', () => {
  fc.assert(
    fc.property(request, fc.constantFrom<Dialect>('dyndns2', 'duckdns', 'dynv6'), (pairs, dialect) => {
      const query = pairs.map(one => one.map(encodeURIComponent).join('=')).join('&')
      const read = call(query, { dialect })
      const plain = Object.fromEntries(
        Object.entries(short(read.values)).map(([name, value]) => [name, value?.startsWith('refused') ? 'refused' : value]),
      )
      expect({ values: plain, hosts: read.hosts }).toEqual(model(pairs, dialect))
    }),
    { numRuns: 2000 },
  )
})

test('parameters of one family never touch the other', () => {
  const ofFamily = (names: string[], texts: string[]) =>
    fc.array(fc.tuple(fc.constantFrom(...names), fc.constantFrom(...texts)), { minLength: 1, maxLength: 4 })
  const v4 = ofFamily(['myipv4', 'ipv4', 'ip4', 'ipaddr'], ['203.0.113.7', '203.0.113.8', '-', 'no', 'auto'])
  const v6 = ofFamily(['myipv6', 'ipv6', 'ip6', 'myip6', 'ip6addr'], ['2001:db8::7', '2001:db8::8', '-', 'no', 'auto'])
  const read = (pairs: [string, string][]) => values(pairs.map(one => one.join('=')).join('&'))
  fc.assert(
    fc.property(v4, v6, fc.boolean(), (a, b, swapped) => {
      expect(read(a)).not.toHaveProperty('ipv6')
      expect(read(b)).not.toHaveProperty('ipv4')
      expect(read(swapped ? [...b, ...a] : [...a, ...b])).toEqual({ ...read(a), ...read(b) })
    }),
  )
})

test('any text is read', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), text => void call(text)))
})

describe('the token', () => {
  const token = newIngestToken('ddns')
  const other = newIngestToken('ddns')
  const basic = (user: string, password: string) => `Basic ${btoa(`${user}:${password}`)}`
  const present = (authorization: string | null, query = '', form = '', path = '') =>
    presentedToken({ authorization, query: parsePairs(query).pairs, form: parsePairs(form).pairs, path: parsePairs(path).pairs })

  test('is found in each place, in this order', () => {
    expect(present(basic('any', token), `token=${other}`)).toEqual({ token, presentedBy: 'basic' })
    expect(present(basic(token, ''))).toEqual({ token, presentedBy: 'basic' })
    expect(present(basic(token, 'x'))).toEqual({ token, presentedBy: 'basic' })
    expect(present(`Bearer ${token}`, `token=${other}`)).toEqual({ token, presentedBy: 'bearer' })
    expect(present(`token ${token}`)).toEqual({ token, presentedBy: 'bearer' })
    for (const name of ['token', 'key', 'password', 'pass', 'apikey'])
      expect(present(null, `${name}=${token}`, `token=${other}`)).toEqual({ token, presentedBy: 'query' })
    expect(present(null, '', `password=${token}`, `token=${other}`)).toEqual({ token, presentedBy: 'form' })
    expect(present(null, '', '', `token=${token}`)).toEqual({ token, presentedBy: 'path' })
  })

  test('other passwords are ignored', () => {
    expect(present(basic('me', 'hunter2'), `pass=nonsense&key=${token}`)).toEqual({ token, presentedBy: 'query' })
    expect(present(basic('me', 'hunter2'), '', '', 'token=nonsense')).toBeNull()
    expect(present(`Basic ${'A'.repeat(10_000)}`, `token=${'b'.repeat(10_000)}`)).toBeNull()
    expect(present('Basic !!!')).toBeNull()
    expect(present(`Bearer ${newIngestToken('hook')}`)).toBeNull()
  })

  test('is not in the history', () => {
    const { given } = call(`hostname=a.example&token=${token}&password=hunter2&x=${token}&${token}=1&myip=1&myip=2&n=%00%0A`)
    expect(given).toEqual({ hostname: 'a.example', token: '***', password: '***', x: '***', '***': '1', myip: '1,2', n: '' })
    expect(call(Array.from({ length: 90 }, (_, at) => `p${at}=${'v'.repeat(100)}`).join('&')).given).toMatchObject({
      p0: 'v'.repeat(100),
    })
  })

  test('the user of Basic authentication may be a host', () => {
    expect(basicUser(basic('home.example.com', token))).toBe('home.example.com')
    expect(basicUser(basic(token, ''))).toBeNull()
    expect(basicUser(null)).toBeNull()
  })
})
