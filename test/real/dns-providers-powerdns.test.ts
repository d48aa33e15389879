import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { rdataOfFields } from '../../src/dns/rdata'
import { powerDns } from '../../src/features/dns/providers/power-dns'
import type { DnsProvider } from '../../src/features/dns/providers/provider'
import { absoluteOf } from '../../src/features/dns/zones/names'
import { anyFields } from '../support/dns-values'
import { powerDnsDouble } from '../support/power-dns-double'
import { driftContract } from '../support/drift-contract'
import { hubContract } from '../support/hub-contract'
import { powerDnsUnderTest } from '../support/power-dns-under-test'
import { startPowerDns, type PowerDnsServer } from '../support/power-dns-server'
import { listed, op, outcomes, providerContract, rrset } from '../support/provider-contract'
import { pluginContext } from '../support/plugin-context'
import { world } from '../support/world'

let server: PowerDnsServer
beforeAll(async () => {
  server = await startPowerDns()
})
afterAll(async () => {
  await server?.stop()
})

const opened = (more: object = {}): DnsProvider =>
  powerDns.open({ url: server.url, api_key: server.apiKey, ...more }, pluginContext())
let zones = 0
async function makeZone(): Promise<string> {
  const name = `z${++zones}.example`
  await server.util('create-zone', name, 'ns1.example.net')
  return name
}

providerContract('PowerDNS', async () => ({
  ...powerDnsUnderTest(server),
  provider: opened(),
  unauthorized: opened({ api_key: 'another' }),
  unreachable: opened({ url: 'http://127.0.0.1:9' }),
}))

for (const contract of [hubContract, driftContract]) contract('PowerDNS', async () => powerDnsUnderTest(server))

const a = (name: string, ...values: string[]) => ({
  name,
  type: 'A',
  ttl: 60,
  changetype: 'REPLACE',
  records: values.map(content => ({ content, disabled: false })),
})
const other = (type: string, content: string, name = 'x.z.test.') => ({ ...a(name, content), type })
/** Requests, most of them invalid, that the double must answer like the real server. Each changes the state for the next. */
const requests: [method: string, path: string, body?: object | string][] = [
  ['GET', '/zones/z.test.'],
  ['POST', '/zones', { name: 'z.test', kind: 'Native', nameservers: [] }],
  ['POST', '/zones', { name: 'z.test.', kind: 'Native', nameservers: ['ns1'] }],
  ['POST', '/zones', { name: 'z.test.', kind: 'Native', nameservers: ['ns1.z.test.'], soa_edit_api: 'DEFAULT' }],
  ['POST', '/zones', { name: 'z.test.', kind: 'Native', nameservers: [] }],
  ['GET', '/zones?zone=z.test.'],
  ['GET', '/zones?zone=y.test.'],
  ['PATCH', '/zones/y.test.', { rrsets: [] }],
  ['PATCH', '/zones/z.test.', 'garbage'],
  ['PATCH', '/zones/z.test.', { rrsets: [a('www.z.test.', '192.0.2.1', '192.0.2.2')] }],
  ['PATCH', '/zones/z.test.', { rrsets: [a('www.z.test', '192.0.2.1')] }],
  ['PATCH', '/zones/z.test.', { rrsets: [a('www.y.test.', '192.0.2.1')] }],
  ['PATCH', '/zones/z.test.', { rrsets: [a('w w.z.test.', '192.0.2.1')] }],
  ['PATCH', '/zones/z.test.', { rrsets: [{ ...a('www.z.test.', '192.0.2.1'), ttl: undefined }] }],
  ['PATCH', '/zones/z.test.', { rrsets: [{ ...a('www.z.test.', '192.0.2.1'), changetype: 'NOPE' }] }],
  ['PATCH', '/zones/z.test.', { rrsets: [a('d.z.test.', '192.0.2.1', '192.0.2.1')] }],
  ['PATCH', '/zones/z.test.', { rrsets: [a('d.z.test.', '192.0.2.1'), a('d.z.test.', '192.0.2.2')] }],
  ['PATCH', '/zones/z.test.', { rrsets: [other('FOO', 'x')] }],
  ['PATCH', '/zones/z.test.', { rrsets: [other('MX', '10 mail')] }],
  ['PATCH', '/zones/z.test.', { rrsets: [other('TYPE731', '\\# 0')] }],
  ['PATCH', '/zones/z.test.', { rrsets: [other('CNAME', 'a.test.', 'www.z.test.')] }],
  ['PATCH', '/zones/z.test.', { rrsets: [other('CNAME', 'a.test.'), a('x.z.test.', '192.0.2.1')] }],
  [
    'PATCH',
    '/zones/z.test.',
    { rrsets: [{ ...other('CNAME', 'a.test.'), records: [{ content: 'a.test.' }, { content: 'b.test.' }] }] },
  ],
  ['PATCH', '/zones/z.test.', { rrsets: [other('TXT', '"a;b\\\"c" "\\255"'), other('CAA', '0 issue "CA.test; x=1"')] }],
  ['PATCH', '/zones/z.test.', { rrsets: [{ name: 'none.z.test.', type: 'A', changetype: 'DELETE' }] }],
  [
    'PATCH',
    '/zones/z.test.',
    { rrsets: [{ name: 'www.z.test.', type: 'A', changetype: 'DELETE' }, other('CNAME', 'a.test.', 'www.z.test.')] },
  ],
  ['GET', '/zones/z.test.?rrsets=false'],
  ['GET', '/zones/z.test.'],
]

test('the double responds like PowerDNS', async () => {
  const double = powerDnsDouble(server.apiKey)
  const send = async (url: string, [method, path, body]: (typeof requests)[number]) => {
    const answer = await fetch(`${url}/api/v1/servers/localhost${path}`, {
      method,
      headers: { 'x-api-key': server.apiKey, 'content-type': 'application/json' },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return [method, path, body, answer.status, relevantPart(await answer.text())]
  }
  try {
    for (const request of requests) expect(await send(double.url, request)).toEqual(await send(server.url, request))
  } finally {
    double.stop()
  }
})

/** The part of a response that the adapter uses, sorted. */
function relevantPart(text: string): unknown {
  if (!/^[[{]/.test(text)) return text
  const answer = JSON.parse(text)
  return Array.isArray(answer) ? answer.map(zoneTold) : zoneTold(answer)
}

const zoneTold = ({ error, id, name, kind, serial, edited_serial, rrsets }: any) => ({
  error,
  id,
  name,
  kind,
  serial,
  edited_serial,
  rrsets: rrsets
    ?.map((one: any) => ({ ...one, records: one.records.toSorted((x: any, y: any) => (x.content < y.content ? -1 : 1)) }))
    .sort((x: any, y: any) => (`${x.name} ${x.type}` < `${y.name} ${y.type}` ? -1 : 1)),
})

describe('PowerDNS', () => {
  test('creates a zone over the API with its name servers, and increases its serial with each change', async () => {
    const provider = opened()
    const name = `made${++zones}.example`
    const zone = await provider.createZone!(name, ['ns1.example.net', 'ns2.example.net.'])
    expect(zone).toEqual((await provider.findZone(name))!)
    const { rrsets, serial } = await provider.read(zone)
    expect(listed(rrsets)).toEqual(['@ 3600 NS ns1.example.net. | ns2.example.net.'])
    expect(outcomes(await provider.apply(zone, [op(null, rrset('a', 'A', 60, ['192.0.2.1']))]))).toEqual(['done'])
    expect((await provider.read(zone)).serial).toBeGreaterThan(serial!)
    expect(provider.createZone!(name, [])).rejects.toMatchObject({ failure: 'refused' })
  })

  test('keeps comments and disabled records', async () => {
    const name = await makeZone()
    const fqdn = `www.${name}.`
    const records = [
      { content: '192.0.2.1', disabled: false },
      { content: '192.0.2.9', disabled: true },
    ]
    const comments = [{ content: 'mine', account: 'me' }]
    const url = `${server.url}/api/v1/servers/localhost/zones/${name}.`
    const headers = { 'x-api-key': server.apiKey, 'content-type': 'application/json' }
    const set = { name: fqdn, type: 'A', ttl: 300, changetype: 'REPLACE', records, comments }
    expect((await fetch(url, { method: 'PATCH', headers, body: JSON.stringify({ rrsets: [set] }) })).status).toBe(204)
    const provider = opened()
    const zone = (await provider.findZone(name))!
    const was = rrset('www', 'A', 300, ['192.0.2.1'])
    const is = rrset('www', 'A', 600, ['192.0.2.2'])
    expect(outcomes(await provider.apply(zone, [op(was, is)]))).toEqual(['done'])
    const kept = async () => ((await (await fetch(url, { headers })).json()) as any).rrsets.find((one: any) => one.name === fqdn)
    expect(await kept()).toMatchObject({ ttl: 600, comments: [{ content: 'mine', account: 'me' }] })
    expect((await kept()).records).toEqual(expect.arrayContaining([{ content: '192.0.2.2', disabled: false }, records[1]!]))
    expect(outcomes(await provider.apply(zone, [op(is, null)]))).toEqual(['done'])
    expect((await kept()).records).toEqual([records[1]!])
    expect(listed((await provider.read(zone)).rrsets)).toEqual(['@ 3600 NS ns1.example.net.'])
  })

  test('rejects changes of a secondary zone', async () => {
    const name = await makeZone()
    await server.util('change-secondary-zone-primary', name, '192.0.2.1').catch(() => {})
    await server.util('set-kind', name, 'slave')
    const provider = opened()
    const zone = (await provider.findZone(name))!
    expect(outcomes(await provider.apply(zone, [op(null, rrset('a', 'A', 60, ['192.0.2.1']))]))).toEqual(['refused'])
  })

  test('keeps internal types unchanged', async () => {
    const name = await makeZone()
    await server.util('add-record', name, 'lua', 'LUA', '60', `A "ifportup(443, {'192.0.2.1'})"`)
    const provider = opened()
    const zone = (await provider.findZone(name))!
    expect(listed((await provider.read(zone)).rrsets)).toEqual(['@ 3600 NS ns1.example.net.'])
    expect(outcomes(await provider.apply(zone, [op(null, rrset('lua', 'TXT', 60, ['"next to it"']))]))).toEqual(['done'])
    expect(await server.util('list-zone', name)).toContain('ifportup')
  })

  // Values that it accepts are read back unchanged; others are rejected.
  test.each(Object.keys(anyFields).filter(type => !['SOA', 'RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM'].includes(type)))(
    'gives back any %s that it took',
    async type => {
      const name = await makeZone()
      const provider = opened()
      const zone = (await provider.findZone(name))!
      const below = type === 'DNSKEY' || type === 'ZONEMD' ? '@' : 'x'
      const apex = await provider.read(zone)
      let taken = 0
      await fc.assert(
        fc.asyncProperty(anyFields[type]!, async fields => {
          const one = { name: below, type, ttl: 300, values: [rdataOfFields(type, fields, absoluteOf('@', name))] }
          const [result] = await provider.apply(zone, [op(null, one)])
          expect(result!.outcome).toBeOneOf(['done', 'refused'])
          const { rrsets } = await provider.read(zone)
          if (result!.outcome === 'refused') return expect(listed(rrsets)).toEqual(listed(apex.rrsets))
          taken++
          expect(listed(rrsets)).toEqual(listed([...apex.rrsets, one]))
          expect(outcomes(await provider.apply(zone, [op(one, null)]))).toEqual(['done'])
        }),
        { numRuns: 20 },
      )
      // It only accepts hostnames as targets, which few sample values are.
      if (!['NS', 'MX', 'SRV'].includes(type)) expect(taken).toBeGreaterThan(0)
    },
    180_000,
  )

  test('is an account of a workspace, checked and listed', async () => {
    const { acme, settle } = await world()
    const name = await makeZone()
    const settings = { url: server.url, api_key: server.apiKey }
    const { id } = (await acme.call('POST', '/v1/dns/providers', { kind: 'powerdns', name: 'real', settings })).body
    await settle()
    const found = (await acme.call('GET', `/v1/dns/providers/${id}`)).body
    expect([found.state, found.detail]).toEqual(['ok', expect.stringMatching(/^PowerDNS \d+\.\d+/)])
    const { data } = (await acme.call('GET', `/v1/dns/providers/${id}/zones?q=${name}`)).body
    expect(data).toEqual([{ name, unicode_name: name, ref: `${name}.`, zone_id: null }])
  })

  test('hosts a zone of a workspace: changes are applied there, and external changes are drift', async () => {
    const { acme, settle } = await world()
    const settings = { url: server.url, api_key: server.apiKey }
    const provider = (await acme.call('POST', '/v1/dns/providers', { kind: 'powerdns', name: 'real', settings })).body
    const name = `kept${++zones}.example`
    const nameservers = ['ns1.example.net']
    const zone = (await acme.call('POST', '/v1/dns/zones', { name, provider_id: provider.id, nameservers })).body
    await settle()
    const written = { type: 'A', name: 'www', content: '192.0.2.1', ttl: 300 }
    expect((await acme.call('POST', `/v1/dns/zones/${zone.id}/records`, written)).status).toBe(201)
    await settle()
    expect((await acme.call('GET', `/v1/dns/zones/${zone.id}`)).body.synced).toBe(true)
    expect(listed(await server.transferred(name))).toContain('www 300 A 192.0.2.1')
    await server.util('replace-rrset', name, 'www', 'A', '300', '192.0.2.66')
    await acme.call('POST', `/v1/dns/zones/${zone.id}/refresh`)
    await settle()
    const { rrsets } = (await acme.call('GET', `/v1/dns/zones/${zone.id}/drift`)).body
    expect(rrsets.map((one: any) => [one.name, one.type, one.state, one.kind])).toEqual([['www', 'A', 'drifted', 'changed']])
    expect(listed(await server.transferred(name))).toContain('www 300 A 192.0.2.66')
    const inUse = await acme.call('DELETE', `/v1/dns/providers/${provider.id}`)
    expect([inUse.status, inUse.body.code]).toEqual([409, 'conflict'])
  })
})
