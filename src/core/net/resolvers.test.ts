import { expect, test } from 'bun:test'
import { resolverOf, resolversIn } from './resolvers'

test('parses resolvers with and without a port', () => {
  expect(resolverOf('192.0.2.1')).toEqual({ address: '192.0.2.1', port: 53 })
  expect(resolverOf('192.0.2.1:5353')).toEqual({ address: '192.0.2.1', port: 5353 })
  expect(resolverOf('2001:db8::1')).toEqual({ address: '2001:db8::1', port: 53 })
  expect(resolverOf('[2001:db8::1]:5353')).toEqual({ address: '2001:db8::1', port: 5353 })
  for (const wrong of ['', 'dns.example', '192.0.2.1:0', '192.0.2.1:65536', '[192.0.2.1', '1.2.3', ':53'])
    expect(resolverOf(wrong)).toBeNull()
})

test('reads the resolvers from resolv.conf', () => {
  const text =
    '# edited manually\nsearch example.net\nnameserver 192.0.2.1\n  nameserver\t2001:db8::1 \nnameserver fe80::1%eth0\noptions rotate\n'
  expect(resolversIn(text)).toEqual([
    { address: '192.0.2.1', port: 53 },
    { address: '2001:db8::1', port: 53 },
  ])
})
