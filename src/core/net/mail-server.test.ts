import { expect, test } from 'bun:test'
import { parseMailServer } from './mail-server'

test.each([
  [
    'smtps://ada%40example.com:p%2Fq@mail.example.com',
    { host: 'mail.example.com', port: 465, tls: 'implicit', user: 'ada@example.com', password: 'p/q' },
  ],
  ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, tls: 'starttls', user: null, password: null }],
  ['smtp://127.0.0.1:25?tls=opportunistic', { host: '127.0.0.1', port: 25, tls: 'opportunistic', user: null, password: null }],
  ['smtp://[::1]:2525?tls=none', { host: '::1', port: 2525, tls: 'none', user: null, password: null }],
] as const)('parses %s', (text, server) => {
  expect(parseMailServer(text)).toEqual(server)
})

test.each([
  ['http://mail.example.com', 'smtp://'],
  ['mail.example.com', 'smtp://'],
  ['smtp://a:b@mail.example.com?tls=none', 'requires TLS'],
  ['smtp://a@mail.example.com', 'only a user'],
  ['smtps://mail.example.com?tls=none', 'tls must be'],
  ['smtp://mail.example.com?starttls=1', "unknown parameter 'starttls'"],
])('rejects %s with a reason', (text, reason) => {
  expect(() => parseMailServer(text)).toThrow(reason)
})
