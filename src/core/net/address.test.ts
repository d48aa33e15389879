import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type AddressClass,
  classOf,
  effectiveAddress,
  formatAddress,
  inRanges,
  parseAddress,
  parseRange,
  rateLimitKey,
} from './address'

const classAt = (text: string): AddressClass | null => {
  const address = parseAddress(text)
  return address && classOf(address)
}

// First and last address of each special IPv4 network, its class, and the adjacent addresses with their classes.
type Neighbour = [string, AddressClass] | null
const IPV4: [first: string, last: string, AddressClass, before: Neighbour, after: Neighbour][] = [
  ['0.0.0.0', '0.255.255.255', 'unspecified', null, ['1.0.0.0', 'public']],
  ['10.0.0.0', '10.255.255.255', 'private', ['9.255.255.255', 'public'], ['11.0.0.0', 'public']],
  ['100.64.0.0', '100.127.255.255', 'private', ['100.63.255.255', 'public'], ['100.128.0.0', 'public']],
  ['127.0.0.0', '127.255.255.255', 'loopback', ['126.255.255.255', 'public'], ['128.0.0.0', 'public']],
  ['169.254.0.0', '169.254.255.255', 'link_local', ['169.253.255.255', 'public'], ['169.255.0.0', 'public']],
  ['172.16.0.0', '172.31.255.255', 'private', ['172.15.255.255', 'public'], ['172.32.0.0', 'public']],
  ['192.0.0.0', '192.0.0.255', 'reserved', ['191.255.255.255', 'public'], ['192.0.1.0', 'public']],
  ['192.0.2.0', '192.0.2.255', 'reserved', ['192.0.1.255', 'public'], ['192.0.3.0', 'public']],
  ['192.88.99.0', '192.88.99.255', 'reserved', ['192.88.98.255', 'public'], ['192.88.100.0', 'public']],
  ['192.168.0.0', '192.168.255.255', 'private', ['192.167.255.255', 'public'], ['192.169.0.0', 'public']],
  ['198.18.0.0', '198.19.255.255', 'reserved', ['198.17.255.255', 'public'], ['198.20.0.0', 'public']],
  ['198.51.100.0', '198.51.100.255', 'reserved', ['198.51.99.255', 'public'], ['198.51.101.0', 'public']],
  ['203.0.113.0', '203.0.113.255', 'reserved', ['203.0.112.255', 'public'], ['203.0.114.0', 'public']],
  ['224.0.0.0', '239.255.255.255', 'multicast', ['223.255.255.255', 'public'], ['240.0.0.0', 'reserved']],
  ['240.0.0.0', '255.255.255.255', 'reserved', ['239.255.255.255', 'multicast'], null],
]

const ones = (groups: number) => ':ffff'.repeat(groups)

const IPV6: typeof IPV4 = [
  ['::', '::', 'unspecified', null, ['::1', 'loopback']],
  ['::1', '::1', 'loopback', ['::', 'unspecified'], ['::2', 'reserved']],
  ['::2', `1fff${ones(7)}`, 'reserved', ['::1', 'loopback'], ['2000::', 'public']],
  ['2001::', `2001:1ff${ones(6)}`, 'reserved', [`2000${ones(7)}`, 'public'], ['2001:200::', 'public']],
  ['2001:db8::', `2001:db8${ones(6)}`, 'reserved', [`2001:db7${ones(6)}`, 'public'], ['2001:db9::', 'public']],
  ['2002::', `2002${ones(7)}`, 'reserved', [`2001${ones(7)}`, 'public'], ['2003::', 'public']],
  ['3fff::', `3fff:fff${ones(6)}`, 'reserved', [`3ffe${ones(7)}`, 'public'], ['3fff:1000::', 'public']],
  ['4000::', `fbff${ones(7)}`, 'reserved', [`3fff${ones(7)}`, 'public'], ['fc00::', 'private']],
  ['fc00::', `fdff${ones(7)}`, 'private', [`fbff${ones(7)}`, 'reserved'], ['fe00::', 'reserved']],
  ['fe80::', `febf${ones(7)}`, 'link_local', [`fe7f${ones(7)}`, 'reserved'], ['fec0::', 'reserved']],
  ['ff00::', `ffff${ones(7)}`, 'multicast', [`feff${ones(7)}`, 'reserved'], null],
]

describe('classes', () => {
  test.each([...IPV4, ...IPV6])('%s to %s is %s and adjacent addresses are not', (first, last, kind, before, after) => {
    expect([classAt(first), classAt(last)]).toEqual([kind, kind])
    if (before) expect(classAt(before[0])).toBe(before[1])
    if (after) expect(classAt(after[0])).toBe(after[1])
  })

  test.each(IPV4)('%s to %s have the same class as IPv4-mapped and NAT64 addresses', (first, last, kind, before, after) => {
    const pairs = [[first, kind], [last, kind], before, after].filter(pair => pair !== null)
    for (const [text, expected] of pairs) {
      expect(classAt(`::ffff:${text}`)).toBe(expected as AddressClass)
      expect(classAt(`64:ff9b::${text}`)).toBe(expected as AddressClass)
    }
  })

  test.each([
    '169.254.169.254',
    '169.254.170.2',
    '169.254.170.23',
    '100.100.100.200',
    '168.63.129.16',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd20:ce::254',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '64:ff9b::169.254.169.254',
    '64:ff9b:1::169.254.169.254',
    '::169.254.169.254',
    '::ffff:0:169.254.169.254',
    '2002:a9fe:a9fe::1',
  ])('%s is a metadata address', text => {
    expect(classAt(text)).toBe('metadata')
  })

  test('the NAT64 prefix is 96 bits long', () => {
    expect(classAt('64:ff9b::1:8.8.8.8')).toBe('reserved')
    expect(classAt('64:ff9b:1::8.8.8.8')).toBe('reserved')
    expect(classAt('64:ff9b::8.8.8.8')).toBe('public')
  })

  test('an IPv4-compatible address is not treated as its embedded IPv4 address', () => {
    expect(classAt('::8.8.8.8')).toBe('reserved')
    expect(classAt('2001:4860::8.8.8.8')).toBe('public')
  })
})

describe('parseAddress', () => {
  const spellings = ['', '127.1', '0x7f.0.0.1', '010.0.0.1', '2130706433', ' 1.2.3.4']
  test.each([...spellings, 'fe80::1%eth0', '[::1]', '1.2.3.4:80', '::1/128', 'a.test'])('rejects %p', text => {
    expect(parseAddress(text)).toBeNull()
  })

  test('every IPv4 address is the same plain and IPv4-mapped', () => {
    fc.assert(
      fc.property(fc.ipV4(), text => {
        const [plain, mapped] = [parseAddress(text)!, parseAddress(`::ffff:${text}`)!]
        expect(formatAddress(mapped)).toBe(formatAddress(plain))
        expect(classOf(mapped)).toBe(classOf(plain))
      }),
    )
  })

  test('every IPv6 address can be formatted and parsed again', () => {
    fc.assert(
      fc.property(fc.ipV6(), text => {
        const written = formatAddress(parseAddress(text)!)
        expect(formatAddress(parseAddress(written)!)).toBe(written)
      }),
    )
  })

  test('the effective address of a NAT64 address is its IPv4 address, but the address itself is kept', () => {
    const address = parseAddress('64:ff9b::10.1.2.3')!
    expect(formatAddress(effectiveAddress(address))).toBe('10.1.2.3')
    expect(formatAddress(address)).toBe('64:ff9b::a01:203')
  })
})

describe('ranges', () => {
  const holds = (range: string, address: string) => inRanges(parseAddress(address)!, [parseRange(range)!])

  test('only contain their own address family, and a single address is a range of one', () => {
    expect(holds('10.0.0.0/8', '10.255.255.255')).toBe(true)
    expect(holds('10.0.0.0/8', '11.0.0.0')).toBe(false)
    expect(holds('::/0', '10.0.0.1')).toBe(false)
    expect(holds('0.0.0.0/0', '::1')).toBe(false)
    expect(holds('fd00::5', 'fd00::5')).toBe(true)
    expect(holds('fd00::5', 'fd00::6')).toBe(false)
  })

  test('in IPv4-mapped notation are IPv4 ranges', () => {
    expect(holds('::ffff:10.0.0.0/104', '10.9.9.9')).toBe(true)
    expect(holds('::ffff:10.0.0.0/104', '11.0.0.0')).toBe(false)
  })

  const prefixes = ['10.0.0.0/33', '::/129', '10.0.0.0/08', '10.0.0.0/', '10.0.0.0/8/8', '1.2.3.4/-1']
  test.each([...prefixes, '', '10/8', 'a.test/8', 'fe80::%1/64'])('rejects the range %p', text => {
    expect(parseRange(text)).toBeNull()
  })
})

describe('rate limit keys', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::', '2001:db8:1:3::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['unknown', 'unknown'],
  ])('%s is counted under %s', (address, key) => {
    expect(rateLimitKey(address)).toBe(key)
  })
})
