import { expect, test } from 'bun:test'
import { profileOf } from './profiles'
import { registrableName } from './registrable-name'
import { endOf, type RegistryFacts } from './reading'
import { registryDate } from './registry-date'
import { rdapStatuses } from './statuses'

test.each([
  ['www.example.co.uk', 'example.co.uk', 'uk'],
  ['WWW.Example.COM', 'example.com', 'com'],
  ['example.com.', 'example.com', 'com'],
  ['*.shop.example.com', 'example.com', 'com'],
  ['_dmarc.example.com', 'example.com', 'com'],
  ['例子.中国', 'xn--fsqu00a.xn--fiqs8s', 'xn--fiqs8s'],
  ['bücher.example.de', 'example.de', 'de'],
  // The private section of the list is about cookies, not about registries.
  ['foo.github.io', 'github.io', 'io'],
  ['a.b.kawasaki.jp', 'a.b.kawasaki.jp', 'jp'],
  ['x.city.kawasaki.jp', 'city.kawasaki.jp', 'jp'],
])('%s was registered as %s', (host, name, tld) => {
  expect(registrableName(host)).toEqual({ name, tld })
})

test.each([
  '192.0.2.1',
  '[2001:db8::1]',
  '2001:db8::1',
  'co.uk',
  'com',
  'nas.lan',
  'localhost',
  '',
  '.',
  'a..com',
  'exa mple.com',
])('%p was not registered', host => {
  expect(registrableName(host)).toBeNull()
})

test.each([
  ['2027-01-31T10:00:00Z', '2027-01-31T10:00:00.000Z'],
  ['2027-01-31T10:00:00.123456+02:00', '2027-01-31T08:00:00.000Z'],
  ['2027-01-31T10:00:00', '2027-01-31T10:00:00.000Z'],
  ['2027-01-31', '2027-01-31T00:00:00.000Z'],
  ['2027.01.31', '2027-01-31T00:00:00.000Z'],
  ['2027. 01. 31.', '2027-01-31T00:00:00.000Z'],
  ['2027/01/31', '2027-01-31T00:00:00.000Z'],
  ['31/01/2027 23:59:00', '2027-01-31T23:59:00.000Z'],
  ['31-01-2027', '2027-01-31T00:00:00.000Z'],
  ['31-January-2027', '2027-01-31T00:00:00.000Z'],
  ['13-Jun-2027 17:17:40 UTC', '2027-06-13T17:17:40.000Z'],
  ['2027-Aug-22.', '2027-08-22T00:00:00.000Z'],
])('%s is a date', (text, at) => {
  expect(new Date(registryDate(text)!).toISOString()).toBe(at)
})

test.each([
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  '2027-02-30',
  '2027-13-01',
  'never',
  '',
  '31-Foo-2027',
  'not 2027-01-31',
])('%p is no date of a registration', text => {
  expect(registryDate(text)).toBeNull()
})

test('times without a zone have the one of the registry, dates without a time have none', () => {
  expect(new Date(registryDate('2027-03-17 12:48:36', 480)!).toISOString()).toBe('2027-03-17T04:48:36.000Z')
  expect(new Date(registryDate('2027-03-17', 480)!).toISOString()).toBe('2027-03-17T00:00:00.000Z')
})

test('statuses of EPP, RDAP, and WHOIS have one spelling', () => {
  expect(rdapStatuses(['clientTransferProhibited https://icann.org/epp#clientTransferProhibited'])).toEqual([
    'client transfer prohibited',
  ])
  expect(rdapStatuses(['ok', 'linked', 'ACTIVE', 'auto renew period', 'CLIENT HOLD', 'pendingdelete'])).toEqual([
    'active',
    'associated',
    'auto renew period',
    'client hold',
    'pending delete',
  ])
  expect(rdapStatuses(['ok / autoRenewPeriod', 'ok (paid and in zone)'])).toEqual(['active', 'auto renew period'])
  expect(rdapStatuses(['NOT AVAILABLE', 'connect', '', 'x'.repeat(10_000)])).toEqual([])
})

const facts = (more: Partial<RegistryFacts>): RegistryFacts => ({
  statuses: [],
  registered_at: null,
  expires_at: null,
  registrar_expires_at: null,
  changed_at: null,
  registrar: null,
  nameservers: [],
  ...more,
})

test('a year that the registry added by itself does not count yet', () => {
  const end = (statuses: string[], expires: string | null, registrar: string | null = null) => {
    const at = (text: string | null) => (text === null ? null : Date.parse(text))
    const ends = endOf(facts({ statuses, expires_at: at(expires), registrar_expires_at: at(registrar) }))
    return ends === null ? null : new Date(ends).toISOString().slice(0, 10)
  }
  expect(end(['active'], '2027-05-28')).toBe('2027-05-28')
  expect(end(['auto renew period'], '2028-05-28')).toBe('2027-05-28')
  expect(end(['auto renew period'], '2028-02-29')).toBe('2027-02-28')
  expect(end(['auto renew period'], '2028-05-28', '2028-05-28')).toBe('2028-05-28')
  expect(end(['auto renew period'], '2028-05-28', '2027-05-28')).toBe('2027-05-28')
  expect(end(['auto renew period'], null)).toBeNull()
})

test('profiles are known for generic domains and some countries', () => {
  expect(profileOf('com')).toMatchObject({ renewal_grace_days: 45, redemption_days: 30, pending_delete_days: 5 })
  expect(profileOf('photography')?.source).toContain('RFC 3915')
  expect(profileOf('uk')?.redemption_days).toBe(60)
  for (const tld of ['zz', 'gov', 'xn--p1ai']) expect(profileOf(tld)).toBeNull()
})
