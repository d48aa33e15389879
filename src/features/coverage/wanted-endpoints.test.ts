import { expect, test } from 'bun:test'
import type { ExpectedName } from './names'
import { wantedEndpoints } from './wanted-endpoints'

const tls = { port: 443, protocol: 'tls' } as const
const smtp = { port: 25, protocol: 'smtp' } as const
const named = (...names: [name: string, ...places: ExpectedName['places']][]) =>
  new Map(names.map(([name, ...places]) => [name, { name, zoneId: null, because: ['record'], places } as const]))

function wanted(...args: Parameters<typeof wantedEndpoints>): string[] {
  const steps = wantedEndpoints(...args)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value.map(one => `${one.host}:${one.port}/${one.protocol}`)
  }
}

test('all ports of expected names are wanted that no other endpoint and no monitor covers', () => {
  const expected = named(['www.example.com', tls, { ...tls, port: 8443 }], ['mail.example.com', tls, smtp])
  const all = ['www.example.com:443/tls', 'www.example.com:8443/tls', 'mail.example.com:443/tls', 'mail.example.com:25/smtp']
  expect(wanted(expected, [], [])).toEqual(all)
  const own = { host: 'www.example.com', ...tls, servername: null, origin: 'coverage' } as const
  expect(wanted(expected, [own], [])).toEqual(all)
  expect(wanted(expected, [{ ...own, origin: 'manual' }], [])).toEqual(all.slice(1))
  expect(wanted(expected, [{ ...own, origin: 'manual', servername: 'shop.example.com' }], [])).toEqual(all)
  const watched = { host: '192.0.2.1', servername: 'mail.example.com', ...smtp }
  expect(wanted(expected, [], [watched])).toEqual(all.slice(0, 3))
})

test('at most 10,000 endpoints are wanted', () => {
  const expected = named(...Array.from({ length: 10_001 }, (_, at) => [`n${at}.example.com`, tls] as [string, typeof tls]))
  expect(wanted(expected, [], [])).toHaveLength(10_000)
})
