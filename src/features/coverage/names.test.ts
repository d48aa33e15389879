import { expect, test } from 'bun:test'
import { coverOf, expectedNames, type NamedRecord, type NameSources } from './names'

const zones = new Map([
  ['example.com', { id: 'zone_1' }],
  ['dev.example.com', { id: 'zone_2' }],
])
const record = (name: string, more: Partial<NamedRecord> = {}): NamedRecord => ({
  ...{ name, zoneId: 'zone_1', type: 'A', target: null, isProxied: false },
  ...more,
})
function namesOf(more: Partial<NameSources>) {
  const steps = expectedNames({
    ...{ coverage: 'all', ignore: [], ports: [443], zones, records: [], monitors: [], agents: [] },
    ...more,
  })
  for (;;) {
    const step = steps.next()
    if (step.done) return [...step.value.values()]
  }
}

test('names come from records, mail servers, monitors, and agents, with the zone that contains them', () => {
  expect(
    namesOf({
      records: [
        record('example.com'),
        record('example.com', { type: 'MX', target: 'mail.example.com' }),
        record('api.dev.example.com', { zoneId: 'zone_2', type: 'CNAME' }),
        record('api.dev.example.com', { zoneId: 'zone_2', type: 'HTTPS' }),
      ],
      monitors: [
        { name: 'example.com', port: 8443, protocol: 'tls' },
        { name: 'partner.test', port: 443, protocol: 'tls' },
      ],
      agents: ['mail.example.com'],
      ports: [443, 9443],
    }),
  ).toEqual([
    {
      name: 'example.com',
      zoneId: 'zone_1',
      because: ['record', 'monitor'],
      places: [443, 9443, 8443].map(port => ({ port, protocol: 'tls' })),
    },
    {
      name: 'mail.example.com',
      zoneId: 'zone_1',
      because: ['mail', 'agent'],
      places: [
        { port: 25, protocol: 'smtp' },
        { port: 443, protocol: 'tls' },
        { port: 9443, protocol: 'tls' },
      ],
    },
    {
      name: 'api.dev.example.com',
      zoneId: 'zone_2',
      because: ['record'],
      places: [443, 9443].map(port => ({ port, protocol: 'tls' })),
    },
    { name: 'partner.test', zoneId: null, because: ['monitor'], places: [{ port: 443, protocol: 'tls' }] },
  ])
})

test('names that need no certificate are left out', () => {
  const names = [
    record('*.example.com'),
    record('_dmarc.example.com'),
    record('x._tcp.example.com'),
    record('shop.example.com', { isProxied: true }),
    record('shop.example.com', { type: 'HTTPS' }),
    record('example.com', { type: 'MX', target: 'aspmx.l.google.com' }),
    record('a.internal.example.com'),
    record('db-1.example.com'),
    record('www.example.com'),
  ]
  const monitors = ['192.0.2.1', 'localhost', '2001:db8::1'].map(name => ({ name, port: 443, protocol: 'tls' as const }))
  expect(
    namesOf({ records: names, monitors, agents: ['_', '~^www'], ignore: ['*.internal.example.com', 'db-*.EXAMPLE.com'] }).map(
      one => one.name,
    ),
  ).toEqual(['www.example.com'])
})

test('the setting decides whether records count', () => {
  const sources = {
    records: [record('example.com')],
    monitors: [{ name: 'www.example.com', port: 443, protocol: 'tls' as const }],
    agents: ['shop.example.com'],
  }
  const names = (coverage: NameSources['coverage']) => namesOf({ ...sources, coverage }).map(one => one.name)
  expect(names('all')).toEqual(['example.com', 'www.example.com', 'shop.example.com'])
  expect(names('watched')).toEqual(['www.example.com', 'shop.example.com'])
  expect(names('off')).toEqual([])
})

test('a wildcard covers one label', () => {
  const names = new Set(['*.example.com', 'shop.example.com'])
  expect(['shop.example.com', 'www.example.com', 'a.www.example.com', 'example.com'].map(name => coverOf(name, names))).toEqual([
    'full',
    'wildcard',
    'none',
    'none',
  ])
})
