import { expect, test } from 'bun:test'
import { bundledBootstrap, parseBootstrap, RefusedBootstrap, refuseWorse, serverOf } from './bootstrap'

const file = (services: unknown, more: object = {}) =>
  JSON.stringify({ version: '1.0', publication: '2026-11-20T00:00:00Z', services, ...more })

test('the bundled file knows more than a thousand top-level domains', () => {
  const bundled = bundledBootstrap()
  expect(bundled.servers.size).toBeGreaterThan(1100)
  expect(serverOf(bundled, 'example.com')).toBe('https://rdap.verisign.com/com/v1/')
  expect(serverOf(bundled, 'example.test')).toBeNull()
})

test('the longest suffix counts, and https is preferred', () => {
  const bootstrap = parseBootstrap(
    file([
      [['uk'], ['http://rdap.example/uk', 'https://rdap.example/uk']],
      [['CO.UK'], ['http://rdap.example/co.uk/']],
      [['bad'], ['ftp://rdap.example/', 'nonsense', 7]],
      'nonsense',
    ]),
  )
  expect(serverOf(bootstrap, 'example.uk')).toBe('https://rdap.example/uk/')
  expect(serverOf(bootstrap, 'example.co.uk')).toBe('http://rdap.example/co.uk/')
  expect(serverOf(bootstrap, 'x.bad')).toBeNull()
})

test.each([
  '',
  '[]',
  'null',
  '<html>',
  file([]),
  file({}),
  file([[['com'], ['https://x.example/']]], { version: '2.0' }),
  file([[['com'], ['https://x.example/']]], { publication: 'today' }),
])('refuses %p', text => {
  expect(() => parseBootstrap(text)).toThrow(RefusedBootstrap)
})

test('refuses a file that is older, or has less than 80% of the top-level domains', () => {
  const names = (count: number) => Array.from({ length: count }, (_, n) => `t${n}`)
  const of = (count: number, publication = '2026-11-20T00:00:00Z') =>
    parseBootstrap(file([[names(count), ['https://rdap.example/']]], { publication }))
  const current = of(100)
  expect(() => refuseWorse(of(80), current)).not.toThrow()
  expect(() => refuseWorse(of(79), current)).toThrow('only 79 top-level domains')
  expect(() => refuseWorse(of(200, '2026-11-19T00:00:00Z'), current)).toThrow('older')
})
