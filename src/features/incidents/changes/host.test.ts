import { expect, test } from 'bun:test'
import { affectsHost, hostOf } from './host'

test('hostOf returns the hostname of a target', () => {
  const targets = {
    'https://Shop.Example.com:8443/a?b=c:80': 'shop.example.com',
    'wss://shop.example.com/': 'shop.example.com',
    'shop.example.com:443': 'shop.example.com',
    'shop.example.com.': 'shop.example.com',
    localhost: 'localhost',
    '192.0.2.1': null,
    '192.0.2.1:80': null,
    '2001:db8::1': null,
    '[2001:db8::1]:80': null,
    'https://[2001:db8::1]/': null,
    '': null,
  }
  expect(Object.fromEntries(Object.keys(targets).map(one => [one, hostOf(one)]))).toEqual(targets)
})

test('records at the name, wildcards covering it and delegations above it affect a host', () => {
  const host = 'a.shop.example.com'
  const affects = (fqdn: string, type = 'A') => affectsHost(host, { fqdn, type })
  expect([affects('a.shop.example.com'), affects('A.Shop.Example.com.', 'CNAME')]).toEqual([true, true])
  expect([affects('*.shop.example.com'), affects('*.example.com'), affects('*.a.shop.example.com')]).toEqual([true, true, false])
  expect([affects('example.com', 'NS'), affects('shop.example.com', 'DNAME'), affects('example.com', 'A')]).toEqual([
    true,
    true,
    false,
  ])
  expect([affects('ashop.example.com'), affects('p.example.com', 'NS')]).toEqual([false, false])
})
