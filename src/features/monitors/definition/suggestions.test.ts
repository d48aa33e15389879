import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { suggestMonitors } from './suggestions'

const suggested = (text: string) => suggestMonitors(text).map(one => `${one.type} ${one.target}`)

test('for a URL, suggests the site first, then its certificate, its name, and its host', () => {
  expect(suggested('https://shop.example.com/health')).toEqual([
    'http https://shop.example.com/health',
    'tls shop.example.com:443',
    'dns shop.example.com',
    'icmp shop.example.com',
  ])
  expect(suggested(' http://192.0.2.7:8080/ ')).toEqual(['http http://192.0.2.7:8080/', 'icmp 192.0.2.7'])
  expect(suggested('https://[2001:db8::1]:8443/')[1]).toBe('tls [2001:db8::1]:8443')
  expect(suggested('shop.example.com/health')[0]).toBe('http https://shop.example.com/health')
})

test('for a port, suggests the well-known protocol first', () => {
  expect(suggested('mail.example.com:993')).toEqual([
    'imap mail.example.com:993',
    'tcp mail.example.com:993',
    'tls mail.example.com:993',
    'icmp mail.example.com',
  ])
  expect(suggested('db.example.com:5432')).toEqual(['tcp db.example.com:5432', 'icmp db.example.com'])
  expect(suggested('www.example.com:443')[0]).toBe('http https://www.example.com/')
})

test('for a name or an address, suggests several types', () => {
  expect(suggested('example.com').map(one => one.split(' ')[0])).toEqual(['http', 'icmp', 'dns', 'tls'])
  expect(suggested('192.0.2.7').map(one => one.split(' ')[0])).toEqual(['icmp', 'http', 'tls'])
  expect(suggestMonitors('https://shop.example.com:8443/').map(one => [one.type, one.name])).toContainEqual([
    'icmp',
    'shop.example.com',
  ])
  expect(suggestMonitors('ssh://bastion.example.com:2222')).toMatchObject([{ type: 'ssh', name: 'bastion.example.com:2222' }])
})

test('suggests nothing for anything else, and never throws', () => {
  expect(suggested('what is this')).toEqual([])
  expect(suggested('gopher://example.com')).toEqual([])
  fc.assert(fc.property(fc.oneof(fc.string(), fc.webUrl(), fc.domain()), text => void suggestMonitors(text)))
})
