import { expect, test } from 'bun:test'
import { networkOf, ResponseRateLimit } from './rate-limit'

test('a network gets a number of responses per second, then every second one truncated', () => {
  const limit = new ResponseRateLimit(3)
  const verdicts = (now: number, n: number) => Array.from({ length: n }, () => limit.take(7, now))
  expect(verdicts(1000, 7)).toEqual(['send', 'send', 'send', 'drop', 'truncate', 'drop', 'truncate'])
  expect(limit.take(8, 1000)).toBe('send')
  expect(verdicts(1334, 2)).toEqual(['send', 'drop'])
  expect(verdicts(60_000, 4)).toEqual(['send', 'send', 'send', 'truncate'])
})

test('a clock that goes back has no effect', () => {
  const limit = new ResponseRateLimit(2)
  expect([5000, 4000, 3000].map(now => limit.take(7, now))).toEqual(['send', 'send', 'drop'])
})

test('networks that share a slot do not limit each other', () => {
  const limit = new ResponseRateLimit(1)
  for (let network = 1; network < 300_000; network++) expect(limit.take(network, 0)).toBe('send')
})

test('a network is a /24 or a /56, and loopback is none', () => {
  expect(networkOf('192.0.2.1')).toBe(networkOf('192.0.2.254'))
  expect(networkOf('192.0.2.1')).toBe(networkOf('::ffff:192.0.2.77'))
  expect(networkOf('192.0.2.1')).not.toBe(networkOf('192.0.3.1'))
  expect(networkOf('2001:db8:0:1200::1')).toBe(networkOf('2001:db8:0:12ff::1'))
  expect(networkOf('2001:db8:0:1200::1')).not.toBe(networkOf('2001:db8:1:1300::1'))
  expect(networkOf('fe80::1%eth0')).toBeNumber()
  for (const own of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) expect([own, networkOf(own)]).toEqual([own, null])
})
