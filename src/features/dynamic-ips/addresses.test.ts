import { describe, expect, test } from 'bun:test'
import { addressInPrefix, networkOf, readAddress, readPrefix, readSuffix } from './addresses'

describe('an address', () => {
  test.each([
    ['203.0.113.7', { kind: 'address', family: 'ipv4', address: '203.0.113.7', class: 'public' }],
    ['203.0.113.7/32', { kind: 'address', family: 'ipv4', address: '203.0.113.7', class: 'public' }],
    ['2001:DB8:0::7', { kind: 'address', family: 'ipv6', address: '2001:db8::7', class: 'public' }],
    ['2001:db8::7/128', { kind: 'address', family: 'ipv6', address: '2001:db8::7', class: 'public' }],
    ['::ffff:203.0.113.7', { kind: 'address', family: 'ipv4', address: '203.0.113.7', class: 'public' }],
    ['192.168.1.1', { kind: 'address', family: 'ipv4', address: '192.168.1.1', class: 'private' }],
    ['100.65.3.2', { kind: 'address', family: 'ipv4', address: '100.65.3.2', class: 'carrier_nat' }],
    ['100.128.0.1', { kind: 'address', family: 'ipv4', address: '100.128.0.1', class: 'public' }],
    ['fd00::1', { kind: 'address', family: 'ipv6', address: 'fd00::1', class: 'unique_local' }],
    ['2001:db8:1:1ff::1/56', { kind: 'prefix', prefix: '2001:db8:1:100::/56', class: 'public' }],
    ['2001:db8:1::/48', { kind: 'prefix', prefix: '2001:db8:1::/48', class: 'public' }],
    ['fd00:1:2:3::/64', { kind: 'prefix', prefix: 'fd00:1:2:3::/64', class: 'unique_local' }],
  ] as const)('%s is read', (text, reading) => {
    expect(readAddress(text)).toEqual(reading)
  })

  test.each([
    ['0.0.0.0', 'unspecified'],
    ['::', 'unspecified'],
    ['127.0.0.53', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::1', 'loopback'],
    ['239.1.1.1', 'multicast'],
    ['ff02::1', 'multicast'],
    ['169.254.1.1', 'link_local'],
    ['fe80::1', 'link_local'],
    ['fe80::1%eth0', 'zone_id'],
    ['2001:db8::1%25wan', 'zone_id'],
    ['2001:db8::/65', 'prefix_length'],
    ['2001:db8::/47', 'prefix_length'],
    ['203.0.113.0/24', 'prefix_length'],
    ['2001:db8::/129', 'unreadable'],
    ['2001:db8::/', 'unreadable'],
    ['2001:db8::/56/1', 'unreadable'],
    ['203.0.113', 'unreadable'],
    ['203.0.113.07', 'unreadable'],
    ['<ipaddr>', 'unreadable'],
    ['%i', 'unreadable'],
    ['', 'unreadable'],
    ['203.0.113.7\0', 'unreadable'],
  ])('%j is refused as %s', (text, reason) => {
    expect(readAddress(text)).toEqual({ kind: 'refused', reason: reason as never })
  })
})

test('a prefix needs its length', () => {
  expect(readPrefix('2001:db8:1:100::/56')).toEqual({ kind: 'prefix', prefix: '2001:db8:1:100::/56', class: 'public' })
  expect(readPrefix('2001:db8:1:100::')).toEqual({ kind: 'refused', reason: 'prefix_missing_length' })
  expect(readPrefix('2001:db8:1:100::/128')).toEqual({ kind: 'refused', reason: 'prefix_length' })
  expect(readPrefix('203.0.113.7/32')).toEqual({ kind: 'refused', reason: 'prefix_length' })
  expect(networkOf('2001:db8:1:1ff:a:b:c:d', 64)).toBe('2001:db8:1:1ff::/64')
})

test('the address of a host is the prefix and the suffix', () => {
  expect(addressInPrefix('2001:db8:1:100::/56', '::10')).toBe('2001:db8:1:100::10')
  expect(addressInPrefix('2001:db8:1:100::/56', '0:0:0:1::10')).toBe('2001:db8:1:101::10')
  expect(addressInPrefix('2001:db8:1:100::/56', '02:00:5e:10:00:01')).toBe('2001:db8:1:100:0:5eff:fe10:1')
  expect(addressInPrefix('2001:db8:1:100::/64', '00-1B-21-3c-9d-F8')).toBe('2001:db8:1:100:21b:21ff:fe3c:9df8')
  expect(addressInPrefix('2001:db8:1:100::/64', '0:0:0:1::10')).toBeNull()
  expect(addressInPrefix('2001:db8:1:100::/56', '0:0:0:100::10')).toBeNull()
})

test('a suffix leaves the bits of the shortest prefix free', () => {
  expect(readSuffix('::ffff:ffff:ffff:ffff:ffff')).toBe((1n << 80n) - 1n)
  for (const text of ['0:0:1::', '2001:db8::10', '203.0.113.7', '02:00:5e:10:00', '02:00-5e:10:00:01', '', 'host'])
    expect(readSuffix(text)).toBeNull()
})
