import { expect, test } from 'bun:test'
import { pastedTarget } from './pasted-target'

test('hosts and ports are read from URLs, addresses, and names', () => {
  const of = (text: string) => pastedTarget(text, 'tls')
  expect(of(' shop.example.com ')).toEqual({ host: 'shop.example.com', protocol: 'tls' })
  expect(of('https://shop.example.com/cart?x=1')).toEqual({ host: 'shop.example.com', protocol: 'tls' })
  expect(of('https://shop.example.com:8443/')).toEqual({ host: 'shop.example.com', port: 8443, protocol: 'tls' })
  expect(of('mail.example.com:993')).toEqual({ host: 'mail.example.com', port: 993, protocol: 'tls' })
  expect(of('[2001:db8::1]:8443')).toEqual({ host: '2001:db8::1', port: 8443, protocol: 'tls' })
  expect(of('2001:db8::1')).toEqual({ host: '2001:db8::1', protocol: 'tls' })
  expect(of('')).toEqual({ host: '', protocol: 'tls' })
})
