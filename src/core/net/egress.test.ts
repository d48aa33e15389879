import { describe, expect, test } from 'bun:test'
import { createEgress, EgressRefused, isAllowRange, type NetworkPolicy, networkPolicy, type Resolve, vetUdpHost } from './egress'
import type { Listener } from './own-listeners'

const CUSTOMER: NetworkPolicy = { allowPrivate: false, allowRanges: [], requireHttps: false }
const OPERATOR: NetworkPolicy = { allowPrivate: true, allowRanges: [], requireHttps: false }
const listing = (...allowRanges: string[]): NetworkPolicy => ({ ...CUSTOMER, requireHttps: true, allowRanges })

const NAMES: Record<string, string[]> = {
  'public.test': ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  'mixed.test': ['93.184.215.14', '10.0.0.5'],
  'mixed6.test': ['93.184.215.14', '::1'],
  'lan.test': ['10.0.0.5'],
  'both-lan.test': ['10.0.0.5', 'fd00::5'],
  'zoned.test': ['fe80::1%eth0'],
  'metadata.test': ['169.254.169.254'],
  'nas.local': ['10.0.0.5'],
  localhost: ['127.0.0.1', '::1'],
  'hub.test': ['192.0.2.10'],
  'empty.test': [],
}

const resolve: Resolve = async name => {
  const answers = NAMES[name]
  if (!answers) throw new Error(`getaddrinfo ENOTFOUND ${name}`)
  return answers
}

const egressWith = (listeners: Listener[] = [], ownAddresses: string[] = []) =>
  createEgress({ resolve, ownListeners: () => listeners, ownAddresses: () => ownAddresses })

const egress = egressWith()

async function refusalOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (error === null) return 'allowed'
  if (!(error instanceof EgressRefused)) throw error
  return error.errorClass
}

const url = (text: string, policy: NetworkPolicy = CUSTOMER) => refusalOf(egress.vetUrl(text, policy))

describe('resolving', () => {
  test('returns the first of the checked addresses', async () => {
    expect(await egress.vetHost('Public.test.', 443, CUSTOMER)).toEqual({
      address: '93.184.215.14',
      family: 4,
      host: 'public.test',
      port: 443,
      listed: false,
    })
  })

  test.each(['mixed.test', 'mixed6.test', 'lan.test', 'zoned.test'])('one forbidden address refuses %s', async name => {
    expect(await refusalOf(egress.vetHost(name, 443, CUSTOMER))).toBe('blocked_address')
  })

  test('an IPv4-mapped address is connected to as IPv4', async () => {
    const mapped = createEgress({ ownListeners: () => [], resolve: async () => ['::ffff:93.184.215.14'] })
    expect(await mapped.vetHost('a.test', 443, CUSTOMER)).toMatchObject({ address: '93.184.215.14', family: 4 })
  })

  test('a name without addresses and a failing resolver are both dns errors', async () => {
    expect(await refusalOf(egress.vetHost('empty.test', 443, CUSTOMER))).toBe('dns')
    expect(await refusalOf(egress.vetHost('missing.test', 443, CUSTOMER))).toBe('dns')
  })

  test('a resolver that never responds times out', async () => {
    const stuck = createEgress({ ownListeners: () => [], resolve: () => new Promise(() => {}), resolveWithinMs: 10 })
    expect(await refusalOf(stuck.vetHost('a.test', 443, CUSTOMER))).toBe('dns')
  })

  test('a name that was public when saved is refused if it is private later', async () => {
    const answers = [['93.184.215.14'], ['127.0.0.1']]
    const rebinding = createEgress({ ownListeners: () => [], resolve: async () => answers.shift()! })
    await rebinding.vetUrl('https://a.test/', CUSTOMER)
    expect(await refusalOf(rebinding.vetUrl('https://a.test/', CUSTOMER))).toBe('blocked_address')
  })

  test('the system resolver is the default', async () => {
    const real = createEgress({ ownListeners: () => [] })
    expect((await real.vetHost('localhost', 9, OPERATOR)).address).toMatch(/^(127\.0\.0\.1|::1)$/)
  })

  test('a refusal never contains the resolved address', async () => {
    for (const name of ['lan.test', 'metadata.test', 'both-lan.test']) {
      const error = await egress.vetHost(name, 443, CUSTOMER).catch((thrown: EgressRefused) => thrown)
      expect(JSON.stringify([error, (error as Error).message])).not.toMatch(/10\.0\.0|169\.254|fd00/)
    }
  })
})

describe('URLs of a customer', () => {
  test.each(['https://public.test/', 'http://public.test/hook?x=1', 'https://public.test:1024/', 'https://[2606:4700::1]:8443/'])(
    '%s is allowed',
    async text => {
      expect(await url(text)).toBe('allowed')
    },
  )

  test.each([
    'ftp://public.test/',
    'file:///etc/passwd',
    'public.test',
    'https:public.test',
    '//public.test/',
    'https://',
    'https://user@public.test/',
    'https://user:secret@public.test/',
    'https://:secret@public.test/',
    'https://public.test/#part',
    'https://public.test/#',
    ' https://public.test/',
    'https://public.test/a b',
    'https:\\\\public.test\\',
    'https://pub\tlic.test/',
    'https://a..b/',
    'https://public.test:0/',
    'https://public.test:65536/',
    'https://public.test:22/',
    'https://public.test:25/',
    'https://public.test:81/',
    'https://public.test:1023/',
    'https://[fe80::1%25eth0]/',
  ])('rejects the URL %s', async text => {
    expect(await url(text)).toBe('invalid_url')
  })

  test.each([
    'https://localhost/',
    'https://LOCALHOST./',
    'https://a.localhost/',
    'https://nas.local/',
    'https://db.internal/',
    'https://x.home.arpa/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://2130706433/',
    'https://①②⑦.0.0.1/',
    'https://127.0.0.1./',
    'https://0/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[64:ff9b::127.0.0.1]/',
    'https://[fd00::1]/',
    'https://[fe80::1]/',
    'https://10.0.0.5/',
    'https://192.168.1.1/',
    'https://169.254.1.1/',
    'https://255.255.255.255/',
  ])('%s is blocked', async text => {
    expect(await url(text)).toBe('blocked_address')
  })

  test('a private name is refused even if it resolves to a public address', async () => {
    const public_ = createEgress({ ownListeners: () => [], resolve: async () => ['93.184.215.14'] })
    expect(await refusalOf(public_.vetHost('db.internal', 443, CUSTOMER))).toBe('blocked_address')
    expect(await refusalOf(public_.vetHost('db.internal', 443, listing('10.0.0.0/8')))).toBe('blocked_address')
  })

  test('secrets are only sent over https', async () => {
    const carrying = networkPolicy({ allow_private: false, allow_ranges: [] }, { carriesSecret: true })
    expect(await url('http://public.test/', carrying)).toBe('invalid_url')
    expect(await url('https://public.test/', carrying)).toBe('allowed')
    const bare = networkPolicy({ allow_private: false, allow_ranges: [] }, { carriesSecret: false })
    expect(await url('http://public.test/', bare)).toBe('allowed')
  })

  test('hosts that are not URLs may use any port', async () => {
    expect(await refusalOf(egress.vetHost('public.test', 25, CUSTOMER))).toBe('allowed')
    for (const port of [0, -1, 65536, 1.5, NaN]) {
      expect(await refusalOf(egress.vetHost('public.test', port, CUSTOMER))).toBe('invalid_url')
    }
  })
})

describe('allowed ranges of the operator', () => {
  test('a range allows its addresses, over http and on any port', async () => {
    const policy = listing('10.0.0.0/24')
    expect(await url('http://lan.test:81/', policy)).toBe('allowed')
    expect(await url('http://nas.local/', policy)).toBe('allowed')
    expect(await url('http://10.0.0.255/', policy)).toBe('allowed')
    expect(await url('https://[64:ff9b::10.0.0.5]/', policy)).toBe('allowed')
    expect(await url('http://10.0.1.0/', policy)).not.toBe('allowed')
  })

  test('a range allows nothing else', async () => {
    const policy = listing('10.0.0.0/24')
    expect(await url('http://public.test/', policy)).toBe('invalid_url')
    expect(await url('https://public.test:25/', policy)).toBe('invalid_url')
    expect(await url('http://mixed.test/', policy)).toBe('invalid_url')
    expect(await url('https://both-lan.test/', policy)).toBe('blocked_address')
    expect(await url('https://both-lan.test/', listing('10.0.0.0/24', 'fd00::/8'))).toBe('allowed')
  })

  test('a name allows what it resolves to, and a wildcard all names under it', async () => {
    expect(await url('http://lan.test:81/', listing('LAN.test.'))).toBe('allowed')
    expect(await url('http://nas.local/', listing('*.local'))).toBe('allowed')
    expect(await url('https://lan.test/', listing('*.lan.test'))).toBe('blocked_address')
    expect(await url('https://lan.test/', listing('an.test'))).toBe('blocked_address')
  })

  test('only ranges, addresses and names are valid', () => {
    for (const text of ['10.0.0.0/8', 'fd00::/8', '10.0.0.1', '::1', 'nas.local', '*.lan.test']) {
      expect(isAllowRange(text)).toBe(true)
    }
    for (const text of ['', '*', '*.*', 'a.*', '10.0.0.0/33', '127.1', '*.10.0.0.1', 'http://a.test', 'a b', 'a.test:80']) {
      expect(isAllowRange(text)).toBe(false)
    }
  })
})

describe('a policy that allows private addresses', () => {
  test.each([
    'http://localhost:3000/',
    'http://127.0.0.1:81/',
    'http://[::1]/',
    'http://nas.local/',
    'http://10.0.0.5:22/',
    'http://[fd00::5]/',
    'http://169.254.1.1/',
  ])('allows %s', async text => {
    expect(await url(text, OPERATOR)).toBe('allowed')
  })

  const always = { ...OPERATOR, allowRanges: ['0.0.0.0/0', '::/0', 'metadata.test', '*.test'] }
  test.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://2852039166/',
    'http://[::ffff:169.254.169.254]/',
    'http://[64:ff9b::169.254.169.254]/',
    'http://169.254.170.2/',
    'http://100.100.100.200/',
    'http://[fd00:ec2::254]/',
    'http://[fe80::1]/',
    'http://metadata.test/',
    'http://0.0.0.0/',
    'http://[::]/',
    'http://224.0.0.1/',
    'http://[ff02::1]/',
  ])('refuses %s, whatever is listed', async text => {
    expect(await url(text, OPERATOR)).toBe('blocked_address')
    expect(await url(text, always)).toBe('blocked_address')
  })
})

describe('the hub’s own listeners', () => {
  const everything = { ...OPERATOR, allowRanges: ['0.0.0.0/0', '::/0', 'localhost'] }
  const to = (text: string, listener: Listener) =>
    refusalOf(egressWith([listener], ['192.0.2.10', '2001:db8::10']).vetUrl(text, everything))

  test.each([
    'http://127.0.0.1:8484/',
    'http://127.9.9.9:8484/',
    'http://127.1:8484/',
    'http://0x7f000001:8484/',
    'http://localhost:8484/',
    'http://[::1]:8484/',
    'http://[::ffff:127.0.0.1]:8484/',
    'http://[64:ff9b::127.0.0.1]:8484/',
    'http://192.0.2.10:8484/',
    'http://hub.test:8484/',
    'http://[::ffff:192.0.2.10]:8484/',
    'http://[2001:db8::10]:8484/',
  ])('on a wildcard block every address of the machine: %s', async text => {
    for (const address of ['::', '0.0.0.0', '[::]', '']) expect(await to(text, { address, port: 8484 })).toBe('blocked_address')
  })

  test('don’t block other ports and machines', async () => {
    expect(await to('http://127.0.0.1:8485/', { address: '::', port: 8484 })).toBe('allowed')
    expect(await to('http://192.0.2.11:8484/', { address: '::', port: 8484 })).toBe('allowed')
  })

  test('on one address block only that address', async () => {
    const listener = { address: '127.0.0.1', port: 5300 }
    expect(await to('http://127.0.0.1:5300/', listener)).toBe('blocked_address')
    expect(await to('http://[::ffff:7f00:1]:5300/', listener)).toBe('blocked_address')
    expect(await to('http://127.0.0.2:5300/', listener)).toBe('allowed')
    expect(await to('http://192.0.2.10:5300/', listener)).toBe('allowed')
  })

  test('are only named in the message if the policy allows the address otherwise', async () => {
    const egress = egressWith([{ address: '127.0.0.1', port: 5300 }])
    const refusal = (policy: NetworkPolicy) =>
      egress.vetUrl('http://127.0.0.1:5300/', policy).catch((thrown: EgressRefused) => thrown.message)
    expect(await refusal(everything)).toContain('this hub itself')
    expect(await refusal({ ...everything, allowPrivate: false, allowRanges: [] })).not.toContain('hub')
  })

  test('of its name server are open only to DNS queries', async () => {
    const egress = egressWith([
      { address: '::', port: 5300, isNameServer: true },
      { address: '::', port: 8484 },
    ])
    expect((await egress.vetHost('127.0.0.1', 5300, everything, 'dns_query')).address).toBe('127.0.0.1')
    expect(await refusalOf(egress.vetHost('127.0.0.1', 5300, everything))).toBe('blocked_address')
    expect(await refusalOf(egress.vetHost('127.0.0.1', 8484, everything, 'dns_query'))).toBe('blocked_address')
    expect(await refusalOf(egress.vetHost('127.0.0.1', 5300, CUSTOMER, 'dns_query'))).toBe('blocked_address')
  })

  test('on localhost block all loopback addresses', async () => {
    expect(await to('http://[::1]:5300/', { address: 'localhost', port: 5300 })).toBe('blocked_address')
    expect(await to('http://192.0.2.10:5300/', { address: 'localhost', port: 5300 })).toBe('allowed')
  })

  test('are recognized on the default ports of https and http', async () => {
    expect(await to('https://hub.test/', { address: '::', port: 443 })).toBe('blocked_address')
    expect(await to('http://hub.test/', { address: '::', port: 80 })).toBe('blocked_address')
  })
})

test('UDP packets to devices need private addresses, or a listed host', async () => {
  const egress = egressWith([])
  const vetted = (host: string, policy: NetworkPolicy) => refusalOf(vetUdpHost(egress, host, 623, policy))
  expect(await vetted('8.8.8.8', OPERATOR)).toBe('allowed')
  expect(await vetted('8.8.8.8', CUSTOMER)).toBe('blocked_address')
  expect(await vetted('8.8.8.8', listing('8.8.8.0/24'))).toBe('allowed')
  expect(await vetted('192.168.1.5', CUSTOMER)).toBe('blocked_address')
})
