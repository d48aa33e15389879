import { describe, expect, test } from 'bun:test'
import { canonicalHost, isPrivateName } from './host-name'

describe('hosts', () => {
  test.each([
    ['Example.COM', 'example.com'],
    ['example.com.', 'example.com'],
    ['例え.jp', 'xn--r8jz45g.jp'],
    ['_acme.example.com', '_acme.example.com'],
    ['127.1', '127.0.0.1'],
    ['0x7f.1', '127.0.0.1'],
    ['0177.0.0.1', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['127.0.0.1.', '127.0.0.1'],
    ['①②⑦.0.0.1', '127.0.0.1'],
    ['0', '0.0.0.0'],
    ['::1', '::1'],
    ['[::1]', '::1'],
    ['FD00::A', 'fd00::a'],
    ['::ffff:127.0.0.1', '::ffff:127.0.0.1'],
  ])('parses %s as %s', (text, host) => {
    expect(canonicalHost(text)).toBe(host)
  })

  test.each([
    '',
    '.',
    'a..b',
    'a..',
    '-a.test',
    'a-.test',
    'a b',
    'a,b',
    'user@host',
    'host:80',
    'host/path',
    'host#x',
    'exa%6dple.com',
    'fe80::1%eth0',
    '[fe80::1%25eth0]',
    '[127.0.0.1]',
    '256.1.1.1',
    '1.2.3.08',
    'a\u0000b',
    `${'a'.repeat(64)}.test`,
    `${'a.'.repeat(127)}aa`,
  ])('%j is no host', text => {
    expect(canonicalHost(text)).toBeNull()
  })

  test('recognizes names of the local network by their suffix', () => {
    for (const name of ['localhost', 'a.localhost', 'local', 'nas.local', 'db.internal', 'home.arpa', 'tv.home.arpa']) {
      expect(isPrivateName(name)).toBe(true)
    }
    for (const name of ['mylocalhost', 'localhost.test', 'local.test', 'arpa', 'example.com']) {
      expect(isPrivateName(name)).toBe(false)
    }
  })
})
