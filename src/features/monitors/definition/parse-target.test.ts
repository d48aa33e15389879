import { expect, test } from 'bun:test'
import { Problem } from '../../../core/problem'
import { parseTarget } from './parse-target'

const read = (target: string) => Object.values(parseTarget({ target }))

test('the scheme decides the type, and is removed for types without URLs', () => {
  expect(read('https://shop.example.com:8443/a?b=c')).toEqual([
    'http',
    'https://shop.example.com:8443/a?b=c',
    'shop.example.com:8443',
  ])
  expect(read('HTTPS://Shop.example.com')).toEqual(['http', 'HTTPS://Shop.example.com', 'Shop.example.com'])
  expect(read('tls://mail.example.com:993/')).toEqual(['tls', 'mail.example.com:993', 'mail.example.com:993'])
  expect(read('\tshop.example.com ')).toEqual(['http', 'https://shop.example.com/', 'shop.example.com'])
})

test.each([
  ['tcp', 'db.example.com:5432', 'db.example.com:5432'],
  ['icmp', '192.0.2.10', '192.0.2.10'],
  ['icmp', '2001:db8::10', '2001:db8::10'],
  ['icmp', 'ping://router.example.com', 'router.example.com'],
  ['dns', 'dns://www.example.com', 'www.example.com'],
  ['smtp', 'smtp://mail.example.com:587', 'mail.example.com:587'],
  ['imap', 'imap://mail.example.com/', 'mail.example.com'],
  ['pop3', 'pop3://mail.example.com', 'mail.example.com'],
  ['ssh', 'ssh://bastion.example.com', 'bastion.example.com'],
  ['websocket', 'wss://www.example.com/socket', 'wss://www.example.com/socket'],
])('detects the type %s from %s', (type, text, target) => {
  expect(read(text).slice(0, 2)).toEqual([type, target])
})

test('keeps the target as entered if a type is given, and a given name', () => {
  expect(parseTarget({ type: 'tls', target: 'mail.example.com:993', name: 'Mail' })).toEqual({
    type: 'tls',
    target: 'mail.example.com:993',
    name: 'Mail',
  })
})

test('rejects a target whose type cannot be detected', () => {
  for (const target of [
    '',
    ' ',
    '//',
    'gopher://example.com/',
    'a b',
    'host:port',
    '[::1',
    'https//example.com',
    'x'.repeat(300),
  ])
    expect(() => parseTarget({ target }), target).toThrow(Problem)
})
