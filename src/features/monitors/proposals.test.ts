import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { proposalsFor } from './proposals'

const told = (text: string) => proposalsFor(text).map(one => `${one.type} ${one.target}`)

test('of a URL the site comes first, then its certificate, its name and its host', () => {
  expect(told('https://shop.example.com/health')).toEqual([
    'http https://shop.example.com/health',
    'tls shop.example.com:443',
    'dns shop.example.com',
    'icmp shop.example.com',
  ])
  expect(told(' http://192.0.2.7:8080/ ')).toEqual(['http http://192.0.2.7:8080/', 'icmp 192.0.2.7'])
  expect(told('https://[2001:db8::1]:8443/')[1]).toBe('tls [2001:db8::1]:8443')
  expect(told('shop.example.com/health')[0]).toBe('http https://shop.example.com/health')
})

test('of a port comes first what it is known for', () => {
  expect(told('mail.example.com:993')).toEqual([
    'imap mail.example.com:993',
    'tcp mail.example.com:993',
    'tls mail.example.com:993',
    'icmp mail.example.com',
  ])
  expect(told('db.example.com:5432')).toEqual(['tcp db.example.com:5432', 'icmp db.example.com'])
  expect(told('www.example.com:443')[0]).toBe('http https://www.example.com/')
})

test('of a name or an address one may choose', () => {
  expect(told('example.com').map(one => one.split(' ')[0])).toEqual(['http', 'icmp', 'dns', 'tls'])
  expect(told('192.0.2.7').map(one => one.split(' ')[0])).toEqual(['icmp', 'http', 'tls'])
  expect(proposalsFor('ssh://bastion.example.com:2222')).toMatchObject([{ type: 'ssh', name: 'bastion.example.com:2222' }])
})

test('of what is neither nothing is proposed, and nothing throws', () => {
  expect(told('what is this')).toEqual([])
  expect(told('gopher://example.com')).toEqual([])
  fc.assert(fc.property(fc.oneof(fc.string(), fc.webUrl(), fc.domain()), text => void proposalsFor(text)))
})
