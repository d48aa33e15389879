import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { batchesOf } from '../../src/features/dns/providers/power-dns-batches'
import { powerDns } from '../../src/features/dns/providers/power-dns'
import { parseZoneResponse } from '../../src/features/dns/providers/power-dns-zone'
import type { DnsProvider, ProviderZone } from '../../src/features/dns/providers/provider'
import { powerDnsDouble, type Trouble } from '../support/power-dns-double'
import { powerDnsDoubleUnderTest } from '../support/power-dns-double-under-test'
import { failureOf, listed, op, outcomes, providerContract, rrset } from '../support/provider-contract'
import { pluginContext } from '../support/plugin-context'

const double = powerDnsDouble()
afterAll(() => double.stop())
beforeEach(() => {
  double.trouble = () => null
})

const opened = (more: object = {}): DnsProvider =>
  powerDns.open({ url: double.url, api_key: double.apiKey, ...more }, pluginContext())
const provider = opened()
let zones = 0

providerContract('the double of PowerDNS', async () => {
  const server = powerDnsDoubleUnderTest(double)
  return { ...server, provider, unauthorized: opened({ api_key: 'another' }), unreachable: opened({ url: 'http://127.0.0.1:9' }) }
})

const www = rrset('www', 'A', 300, ['192.0.2.1'])

async function madeZone(): Promise<ProviderZone> {
  const name = `z${++zones}.example`
  return await provider.createZone!(name, ['ns1.example.net'])
}

describe('errors when reading from PowerDNS', () => {
  test.each([
    [{ status: 401 }, 'unauthorized'],
    [{ status: 403 }, 'unauthorized'],
    [{ status: 404 }, 'zone_not_found'],
    [{ status: 422, body: '{"error": "Could not find domain \'z.example.\'"}' }, 'zone_not_found'],
    [{ status: 429 }, 'throttled'],
    [{ status: 503, headers: { 'retry-after': '5' } }, 'throttled'],
    [{ status: 500 }, 'refused'],
    [{ status: 502, body: '<html>Bad Gateway</html>' }, 'refused'],
    [{ status: 302, headers: { location: '/elsewhere' } }, 'invalid_response'],
    [{ status: 200, body: '<html>hello</html>' }, 'invalid_response'],
    [{ status: 200, body: '' }, 'invalid_response'],
    [{ status: 200, body: '[]' }, 'invalid_response'],
    [{ status: 200, body: '{"name": "z.example."}' }, 'invalid_response'],
    [{ status: 200, body: '{"kind": "Native", "rrsets": []}' }, 'incomplete'],
    [{ status: 200, body: '{"kind": "Native", "rrse' }, 'incomplete'],
    ['cut body', 'incomplete'],
    ['cut connection', 'unreachable'],
    ['hang', 'timeout'],
    ['a gigabyte', 'incomplete'],
  ] as [Trouble, string][])('%j is reported as %s', async (trouble, failure) => {
    const zone = await madeZone()
    double.trouble = () => trouble
    // A gigabyte takes a while.
    const patient = powerDns.open(
      { url: double.url, api_key: double.apiKey },
      pluginContext(trouble === 'hang' ? { totalMs: 200 } : {}),
    )
    expect(await failureOf(patient.read(zone))).toBe(failure as never)
  })

  test('a response with Retry-After includes the delay', async () => {
    const zone = await madeZone()
    double.trouble = () => ({ status: 429, headers: { 'retry-after': '7' } })
    expect(provider.read(zone)).rejects.toMatchObject({ failure: 'throttled', retryAfterMs: 7000 })
  })

  test('the key is in no error, even if the server echoes it', async () => {
    const zone = await madeZone()
    double.trouble = () => ({ status: 500, body: `{"error": "bad key ${double.apiKey}"}` })
    expect(provider.read(zone)).rejects.toThrow('bad key [redacted]')
  })

  test('a wrong server_id, or a server that is not PowerDNS, is found by a check', async () => {
    expect(await failureOf(opened({ server_id: 'other' }).check())).toBe('refused')
    double.trouble = () => ({ status: 200, body: '{"daemon_type": "recursor", "version": "5.0.1"}' })
    expect(await failureOf(provider.check())).toBe('invalid_response')
    double.trouble = () => ({ status: 200, body: '{"daemon_type": "authoritative", "version": "4.1.14"}' })
    expect((await provider.check()).warnings).toHaveLength(1)
  })
})

describe('zones of PowerDNS', () => {
  const zonesOf = (...zones: object[]) => {
    double.trouble = () => ({ status: 200, body: JSON.stringify(zones) })
    return provider.listZones!()
  }

  test('are those with a valid name, normalized', async () => {
    const zones = await zonesOf(
      { id: '0=2F25.2.0.192.in-addr.arpa.', name: '0/25.2.0.192.in-addr.arpa.' },
      { id: 'a.example.', name: 'A.Example.' },
      { id: 'a.example..inside.', name: 'a.example..inside.' },
      { id: 'nul.example.', name: 'nul\0.example.' },
    )
    expect(zones.map(zone => zone.name)).toEqual(['0/25.2.0.192.in-addr.arpa', 'a.example'])
  })

  test.each(['', '\ud800', 'a\0', 'x'.repeat(1025)])('have valid ids, not %j', async id => {
    expect(await failureOf(zonesOf({ id, name: 'a.example.' }))).toBe('invalid_response')
  })
})

describe('a zone of PowerDNS', () => {
  const zoneJson = (...rrsets: object[]) => ({
    kind: 'Native',
    edited_serial: 7,
    rrsets: [{ name: 'z.example.', type: 'SOA', ttl: 3600, records: [{ content: 'not looked at' }] }, ...rrsets],
  })
  const read = async (...rrsets: object[]) =>
    listed([...(await parseZoneResponse(zoneJson(...rrsets), 'z.example')).rrsets.values()])

  test('has no records created by signing, no disabled records, and no internal types', async () => {
    const record = (content: string, disabled = false) => ({ content, disabled })
    expect(
      await read(
        { name: 'A.Z.example.', type: 'A', ttl: 60, records: [record('192.0.2.1'), record('192.0.2.2', true)] },
        { name: 'off.z.example.', type: 'A', ttl: 60, records: [record('192.0.2.3', true)] },
        { name: 'a.z.example.', type: 'NSEC', ttl: 60, records: [record('b.z.example. A')] },
        { name: 'l.z.example.', type: 'LUA', ttl: 60, records: [record('A "ifportup(443)"')] },
      ),
    ).toEqual(['a 60 A 192.0.2.1'])
  })

  test.each([
    ['a name that is not within it', { name: 'a.y.example.', type: 'A', ttl: 60, records: [{ content: '192.0.2.1' }] }],
    ['a value that is none', { name: 'a.z.example.', type: 'A', ttl: 60, records: [{ content: '192.0.2.256' }] }],
    ['a record without content', { name: 'a.z.example.', type: 'A', ttl: 60, records: [{}] }],
    ['an rrset without records', { name: 'a.z.example.', type: 'A', ttl: 60 }],
    ['nothing where an rrset is', null],
    ['half a second', { name: 'a.z.example.', type: 'A', ttl: 0.5, records: [{ content: '192.0.2.1' }] }],
    ['a TTL below 0', { name: 'a.z.example.', type: 'A', ttl: -1, records: [{ content: '192.0.2.1' }] }],
    ['a TTL of more than 32 bits', { name: 'a.z.example.', type: 'A', ttl: 1e300, records: [{ content: '192.0.2.1' }] }],
  ])('is rejected with %s', async (_, wrong) => {
    expect(await failureOf(read(wrong as object))).toBe('invalid_response')
  })

  test('has a TTL of 0 for values that resolvers treat as 0', async () => {
    const rrset = { name: 'a.z.example.', type: 'A', ttl: 4_294_967_295, records: [{ content: '192.0.2.1' }] }
    expect(await read(rrset)).toEqual(['a 0 A 192.0.2.1'])
  })

  test('yields to other work while a large one is parsed', async () => {
    const many = Array.from({ length: 5000 }, (_, n) => ({
      name: `h${n}.z.example.`,
      type: 'A',
      ttl: 60,
      records: [{ content: '192.0.2.1' }],
    }))
    let turns = 0
    const timer = setInterval(() => turns++, 0)
    expect(await read(...many)).toHaveLength(5000)
    clearInterval(timer)
    expect(turns).toBeGreaterThan(1)
  })

  test('keeps comments and disabled records when an rrset is changed or deleted', async () => {
    const zone = await madeZone()
    const fqdn = `www.${zone.name}.`
    const comments = [{ content: 'mine', account: 'me', modified_at: 1 }]
    const records = [
      { content: '192.0.2.1', disabled: false },
      { content: '192.0.2.9', disabled: true },
    ]
    double.put(`${zone.name}.`, fqdn, 'A', 300, [], { records, comments })
    const other = rrset('www', 'A', 600, ['192.0.2.2'])
    expect(outcomes(await provider.apply(zone, [op(www, other)]))).toEqual(['done'])
    const kept = () => double.zones.get(`${zone.name}.`)!.rrsets.get(`${fqdn} A`)
    expect(kept()).toMatchObject({ ttl: 600, comments, records: [{ content: '192.0.2.2' }, records[1]!] })
    expect(outcomes(await provider.apply(zone, [op(other, null)]))).toEqual(['done'])
    expect(kept()?.records).toEqual([records[1]!])
  })

  test('that is a secondary is not changed', async () => {
    const zone = await madeZone()
    double.zones.get(`${zone.name}.`)!.kind = 'Slave'
    expect(outcomes(await provider.apply(zone, [op(null, www)]))).toEqual(['refused'])
    expect(double.requests.at(-1)).toStartWith('GET')
  })

  test('may have a slash in its name, as in classless reverse delegation', async () => {
    const zone = await provider.createZone!('0/26.2.0.192.in-addr.arpa', ['ns1.example.net'])
    expect(zone).toEqual({ name: '0/26.2.0.192.in-addr.arpa', ref: '0=2F26.2.0.192.in-addr.arpa.' })
    expect(outcomes(await provider.apply({ ...zone, ref: null }, [op(null, www)]))).toEqual(['done'])
  })
})

describe('steps at PowerDNS', () => {
  const patches = () => double.requests.filter(one => one.startsWith('PATCH')).length

  test('are skipped if one is refused, which is identified', async () => {
    const zone = await madeZone()
    expect(outcomes(await provider.apply(zone, [op(null, www)]))).toEqual(['done'])
    // Records that we don't see still conflict.
    double.put(`${zone.name}.`, `www.${zone.name}.`, 'LUA', 60, ['A "1"'])
    const next = [
      op(null, rrset('x', 'A', 60, ['192.0.2.1'])),
      op(www, null),
      op(null, rrset('www', 'CNAME', 60, ['a.example.net.'])),
    ]
    const again = await provider.apply(zone, next)
    expect(outcomes(again)).toEqual(['skipped', 'skipped', 'refused'])
    expect(again[2]!.detail).toContain('Conflicts with pre-existing RRset')
    expect(double.zones.get(`${zone.name}.`)!.rrsets.has(`x.${zone.name}. A`)).toBe(false)
  })

  test('are skipped if one is stale', async () => {
    const zone = await madeZone()
    const before = patches()
    const results = await provider.apply(zone, [op(null, rrset('x', 'A', 60, ['192.0.2.1'])), op(www, null)])
    expect(outcomes(results)).toEqual(['skipped', 'stale'])
    expect(patches()).toBe(before)
  })

  test('with a name or TTL that PowerDNS misinterprets are not sent', async () => {
    const zone = await madeZone()
    const odd = { ...rrset('x', 'A', 2 ** 31, ['192.0.2.1']) }
    expect(provider.findUnsupported(odd)).toHaveLength(1)
    expect(provider.findUnsupported(rrset('a\\032b', 'A', 60, ['192.0.2.1']))).toHaveLength(1)
    expect(provider.findUnsupported(www)).toEqual([])
    expect(outcomes(await provider.apply(zone, [op(null, www), op(null, odd)]))).toEqual(['skipped', 'refused'])
  })

  test('are retried in the spelling that the server expects', async () => {
    const zone = await madeZone()
    const odd = rrset('x', 'TYPE731', 60, ['\\# 0', '\\# 1 ab'])
    expect(outcomes(await provider.apply(zone, [op(null, odd), op(null, www)]))).toEqual(['done', 'done'])
    expect(double.zones.get(`${zone.name}.`)!.rrsets.get(`x.${zone.name}. TYPE731`)!.records[0]!.content).toBe('\\# 0 ')
  })

  test('are refused if another spelling does not help', async () => {
    const zone = await madeZone()
    double.trouble = request =>
      request.startsWith('PATCH')
        ? {
            status: 422,
            body: `{"error": "Record www.${zone.name}./A '192.0.2.1': Not in expected format (parsed as '192.0.2.2')"}`,
          }
        : null
    expect(outcomes(await provider.apply(zone, [op(null, www)]))).toEqual(['refused'])
  })

  test('stop at the first failed batch', async () => {
    const zone = await madeZone()
    const many = Array.from({ length: 2500 }, (_, n) => op(null, rrset(`h${n}`, 'A', 60, ['192.0.2.1'])))
    for (const [trouble, wanted] of [
      [{ status: 500 }, 'unknown'],
      ['cut connection', 'unknown'],
      [{ status: 429 }, 'skipped'],
    ] as [Trouble, string][]) {
      let sent = 0
      double.trouble = request => (request.startsWith('PATCH') && ++sent === 2 ? trouble : null)
      const zoneNow = zone.ref === null ? zone : await madeZone()
      const results = outcomes(await provider.apply(zoneNow, many))
      expect([results[0], results[999], results[1000], results[1999], results[2000]] as string[]).toEqual([
        'done',
        'done',
        wanted,
        wanted,
        'skipped',
      ])
    }
  })

  test('at one name are in one batch, up to the size limit of the server', () => {
    const here = { disabled: new Map() }
    const swap = [op(www, null), op(null, rrset('www', 'CNAME', 60, ['a.example.net.']))]
    const other = op(null, rrset('x', 'A', 60, ['192.0.2.1']))
    expect(batchesOf([other, ...swap, other], 'z.example', here, 2).map(one => one.length)).toEqual([1, 2, 1])
    const long = rrset('t', 'TXT', 60, [`"${'x'.repeat(200)}"`])
    const texts = Array.from({ length: 10 }, (_, n) => op(null, { ...long, name: `t${n}` }))
    expect(batchesOf(texts, 'z.example', here, 1000, 1000).map(one => one.length)).toEqual([3, 3, 3, 1])
  })
})
