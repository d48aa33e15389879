import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rdataOfContent, textOf } from '../../src/dns/rdata'
import type { DnsProvider, Op, ProviderRrset } from '../../src/features/dns/providers/provider'
import { rfc2136 } from '../../src/features/dns/providers/rfc2136'
import { sameRrset } from '../../src/features/dns/providers/same-rrset'
import { driftContract } from '../support/drift-contract'
import { hubContract } from '../support/hub-contract'
import { freePort } from '../support/free-port'
import { type OtherServer } from '../support/name-servers'
import { op, providerContract } from '../support/provider-contract'
import { pluginContext } from '../support/plugin-context'
import { digOutput, nsupdate, updateKey, updateServers, updateServerUnderTest } from '../support/update-server-under-test'
import { rrsetsOfText } from '../support/zone-rrsets'

const key = updateKey
const zone = { name: 'z.test', ref: null }
const file = `$TTL 3600
@ SOA ns1 hostmaster 1 3600 600 86400 300
@ NS ns1
ns1 A 192.0.2.53
www 300 A 192.0.2.1
www 300 A 192.0.2.2
txt TXT "a;b\\"c\\\\d"
`
const starts = updateServers
const every = Object.keys(starts) as (keyof typeof starts)[]

const providerAt = (port: number, more: object = {}): DnsProvider =>
  rfc2136.open({ host: '127.0.0.1', port, key_name: key.name, key_secret: key.secret, ...more }, pluginContext())
const rrsetOf = (name: string, type: string, ttl: number, ...contents: string[]): ProviderRrset => ({
  name,
  type,
  ttl,
  values: contents.map(one => rdataOfContent(type, one, 'z.test.')),
})
const text = ({ name, type, ttl, values }: ProviderRrset) =>
  `${name} ${ttl} ${type} ${values
    .map(one => textOf(type, one))
    .sort()
    .join(', ')}`

for (const which of every) {
  providerContract(which, async () => {
    const server = await updateServerUnderTest(which)
    const { port, names } = server
    return {
      ...server,
      provider: providerAt(port, { zones: names }),
      unauthorized: providerAt(port, { zones: names.slice(0, 1), key_secret: Buffer.alloc(32).toString('base64') }),
      unreachable: providerAt(await freePort()),
    }
  })
  for (const contract of [hubContract, driftContract]) contract(which, () => updateServerUnderTest(which))
}

describe.each(every)('%s', which => {
  let server: OtherServer
  let provider: DnsProvider
  beforeAll(async () => {
    server = await starts[which](['z.test'], file, { key })
    provider = providerAt(server.port)
  }, 180_000)
  afterAll(() => server?.stop())

  const all = async () => (await provider.read(zone)).rrsets
  const at = async (name: string, type: string) => (await all()).find(one => one.name === name && one.type === type) ?? null
  const outcomes = async (...ops: Op[]) => (await provider.apply(zone, ops)).map(one => `${one.name} ${one.type} ${one.outcome}`)

  test('is checked with its configured zones', async () => {
    const { warnings } = await providerAt(server.port, { zones: ['z.test', 'none.test'] }).check()
    expect(warnings).toEqual(['none.test: the server is not authoritative for this zone.'])
    expect(await provider.findZone('z.test')).toEqual(zone)
    expect(await provider.findZone('none.test')).toBeNull()
    const missing = { name: 'none.test', ref: null }
    await expect(provider.read(missing)).rejects.toMatchObject({ failure: 'zone_not_found' })
    await expect(provider.readSerial!(missing)).rejects.toMatchObject({ failure: 'zone_not_found' })
    const created = op(null, rrsetOf('a', 'A', 60, '192.0.2.1'))
    expect(await provider.apply(missing, [created])).toMatchObject([{ outcome: 'refused' }])
  })

  test('is read as in its zone file', async () => {
    expect((await all()).map(text).sort()).toEqual([
      '@ 3600 NS ns1.z.test.',
      'ns1 3600 A 192.0.2.53',
      'txt 3600 TXT "a;b\\"c\\\\d"',
      'www 300 A 192.0.2.1, 192.0.2.2',
    ])
  })

  test('increases its serial with each change, and not with an empty update', async () => {
    const serial = () => provider.readSerial!(zone)
    const before = await serial()
    await providerAt(server.port, { zones: ['z.test'] }).check()
    expect(await serial()).toBe(before)
    expect(await outcomes(op(null, rrsetOf('s', 'A', 60, '192.0.2.1')))).toEqual(['s A done'])
    expect(await serial()).toBeGreaterThan(before)
  })

  test('changes a TTL, and replaces a CNAME and back', async () => {
    const www = (await at('www', 'A'))!
    expect(await outcomes(op(www, { ...www, ttl: 77 }))).toEqual(['www A done'])
    expect(await at('www', 'A')).toMatchObject({ ttl: 77 })
    const cname = rrsetOf('www', 'CNAME', 60, 'ns1')
    expect(await outcomes(op(null, cname), op(www, null))).toEqual(['www CNAME done', 'www A done'])
    expect([await at('www', 'A'), sameRrset(await at('www', 'CNAME'), cname)]).toEqual([null, true])
    expect(await outcomes(op(cname, null), op(null, www))).toEqual(['www CNAME done', 'www A done'])
    expect([sameRrset(await at('www', 'A'), www), await at('www', 'CNAME')]).toEqual([true, null])
  })

  test('replaces the apex NS records, and keeps at least one', async () => {
    const ns = (await at('@', 'NS'))!
    const others = rrsetOf('@', 'NS', 60, 'ns2', 'ns3')
    const glue = ['ns2', 'ns3'].map(name => op(null, rrsetOf(name, 'A', 60, '192.0.2.54')))
    expect(await outcomes(op(ns, others), ...glue)).toEqual(['@ NS done', 'ns2 A done', 'ns3 A done'])
    expect(text((await at('@', 'NS'))!)).toBe('@ 60 NS ns2.z.test., ns3.z.test.')
    expect(await outcomes(op(others, null))).toEqual(['@ NS refused'])
    expect(await outcomes(op(others, ns))).toEqual(['@ NS done'])
    expect(sameRrset(await at('@', 'NS'), ns)).toBe(true)
  })

  test('does not overwrite external changes', async () => {
    const read = rrsetOf('drift', 'A', 60, '192.0.2.1')
    await outcomes(op(null, read))
    const serial = await provider.readSerial!(zone)
    await nsupdate(server.port, 'z.test', 'update delete drift.z.test. A', 'update add drift.z.test. 60 A 203.0.113.9')
    expect(await provider.readSerial!(zone)).not.toBe(serial)
    const elsewhere = op(null, rrsetOf('elsewhere', 'A', 60, '192.0.2.1'))
    expect(await outcomes(op(read, rrsetOf('drift', 'A', 60, '192.0.2.2')), elsewhere)).toEqual([
      'drift A stale',
      'elsewhere A skipped',
    ])
    expect(await outcomes(op(read, null))).toEqual(['drift A stale'])
    expect(await outcomes(op(null, read))).toEqual(['drift A stale'])
    expect([text((await at('drift', 'A'))!), await at('elsewhere', 'A')]).toEqual(['drift 60 A 203.0.113.9', null])
  })

  test('never silently ignores records that conflict with a CNAME', async () => {
    await nsupdate(
      server.port,
      'z.test',
      'update add alias.z.test. 60 CNAME www.z.test.',
      'update add taken.z.test. 60 A 192.0.2.1',
    )
    expect(await outcomes(op(null, rrsetOf('alias', 'A', 60, '192.0.2.1')))).toEqual(['alias A stale'])
    expect(await outcomes(op(null, rrsetOf('taken', 'CNAME', 60, 'www')))).toEqual(['taken CNAME stale'])
  })

  test('refuses changes that its checks don’t allow, and applies nothing', async () => {
    const before = await provider.readSerial!(zone)
    const outside = op(null, { ...rrsetOf('a', 'A', 60, '192.0.2.1'), name: 'a.b.c' })
    const wrong = { ...outside, after: { ...outside.after!, values: [new Uint8Array(3)] } }
    expect(await provider.apply(zone, [wrong])).toMatchObject([{ outcome: 'refused' }])
    expect(await provider.readSerial!(zone)).toBe(before)
  })

  test('accepts more than one message, and returns everything', async () => {
    const many = Array.from({ length: 1500 }, (_, n) => op(null, rrsetOf(`many${n}`, 'TXT', 60, `${n} `.repeat(20))))
    expect(new Set((await provider.apply(zone, many)).map(one => one.outcome))).toEqual(new Set(['done']))
    const there = new Map((await all()).map(one => [one.name, one]))
    expect(many.filter(one => !sameRrset(there.get(one.name) ?? null, one.after))).toEqual([])
    expect(
      new Set(
        (
          await provider.apply(
            zone,
            many.map(one => op(one.after, null)),
          )
        ).map(one => one.outcome),
      ),
    ).toEqual(new Set(['done']))
    expect((await all()).some(one => one.name.startsWith('many'))).toBe(false)
  })

  test('rejects another key', async () => {
    const wrong = providerAt(server.port, { key_secret: Buffer.alloc(32).toString('base64') })
    const unknown = providerAt(server.port, { key_name: 'unknown' })
    for (const other of [wrong, unknown]) {
      await expect(other.read(zone)).rejects.toMatchObject({ failure: 'unauthorized' })
      const created = op(null, rrsetOf('a', 'A', 60, '192.0.2.1'))
      expect(await other.apply(zone, [created])).toMatchObject([{ outcome: 'refused', detail: expect.stringContaining('BAD') }])
    }
  })
})

describe.each(every)('%s with DNSSEC signing', which => {
  let server: OtherServer
  let provider: DnsProvider
  beforeAll(async () => {
    server = await starts[which](['z.test'], file, { key, signed: true })
    provider = providerAt(server.port)
  }, 180_000)
  afterAll(() => server?.stop())

  test('returns its records, without those created by signing', async () => {
    const types = async () => rrsetsOfText(await digOutput(server.port, 'z.test'), 'z.test').map(one => one.type)
    for (let tries = 0; tries < 200 && !(await types()).includes('RRSIG'); tries++) await Bun.sleep(50)
    expect(await types()).toContain('DNSKEY')
    const shown = async () => (await provider.read(zone)).rrsets.map(one => `${one.name} ${one.type}`).sort()
    expect(await shown()).toEqual(['@ NS', 'ns1 A', 'txt TXT', 'www A'])
    const [done] = await provider.apply(zone, [op(null, rrsetOf('new', 'A', 60, '192.0.2.9'))])
    expect(done!.outcome).toBe('done')
    expect(await shown()).toEqual(['@ NS', 'new A', 'ns1 A', 'txt TXT', 'www A'])
  }, 180_000)
})
