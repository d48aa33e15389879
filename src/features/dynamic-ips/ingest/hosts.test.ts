import { expect, test } from 'bun:test'
import { resolveHosts } from './hosts'

const hosts = ['home.example.com', 'vpn.example.com', '*.home.example.com', 'vpn.example.net', 'example.org']
const resolve = (name: string, dialect: 'dyndns2' | 'duckdns' = 'dyndns2') => {
  const [{ host, problem } = { host: null, problem: null }] = resolveHosts([name], hosts, dialect)
  return host ?? problem
}

test('full names in any case', () => {
  expect(resolve('Home.Example.COM.')).toBe('home.example.com')
  expect(resolve('*.home.example.com')).toBe('*.home.example.com')
  expect(resolve('example.org')).toBe('example.org')
  expect(resolve('other.example.com')).toBe('nohost')
})

test('UniFi’s doubled name', () => {
  expect(resolve('home.example.comhome.example.com')).toBe('home.example.com')
  expect(resolve('HOME.example.comhome.example.com')).toBe('home.example.com')
  expect(resolve('home.example.comvpn.example.com')).toBe('nohost')
})

test('first labels, where they are unique, for DuckDNS and dynv6', () => {
  expect(resolve('home', 'duckdns')).toBe('home.example.com')
  expect(resolve('vpn', 'duckdns')).toBe('nohost')
  expect(resolve('other', 'duckdns')).toBe('nohost')
  expect(resolve('vpn.example.net', 'duckdns')).toBe('vpn.example.net')
  expect(resolve('home')).toBe('notfqdn')
})

test('placeholders that were not replaced, and other texts', () => {
  for (const name of ['<domain>', '%h', 'home.%h', 'a b.example.com', 'a..example.com', '\0', 'x'.repeat(10_000)])
    expect(resolve(name)).toBe('notfqdn')
  expect(resolve('<domain>', 'duckdns')).toBe('notfqdn')
  expect(resolve('hömé.example.com')).toBe('nohost')
})

test('each name has its own result, in order', () => {
  expect(resolveHosts(['vpn.example.com', '%h', 'x.example.com'], hosts, 'dyndns2')).toEqual([
    { asked: 'vpn.example.com', host: 'vpn.example.com', problem: null },
    { asked: '%h', host: null, problem: 'notfqdn' },
    { asked: 'x.example.com', host: null, problem: 'nohost' },
  ])
})
