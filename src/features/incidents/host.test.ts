import { expect, test } from 'bun:test'
import { bearsOn, hostOf } from './host'

test('the name that a target asks for', () => {
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

test('records at the name, wildcards over it and delegations above it have a say', () => {
  const host = 'a.shop.example.com'
  const says = (fqdn: string, type = 'A') => bearsOn(host, { fqdn, type })
  expect([says('a.shop.example.com'), says('A.Shop.Example.com.', 'CNAME')]).toEqual([true, true])
  expect([says('*.shop.example.com'), says('*.example.com'), says('*.a.shop.example.com')]).toEqual([true, true, false])
  expect([says('example.com', 'NS'), says('shop.example.com', 'DNAME'), says('example.com', 'A')]).toEqual([true, true, false])
  expect([says('ashop.example.com'), says('p.example.com', 'NS')]).toEqual([false, false])
})
