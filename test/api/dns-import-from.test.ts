import { afterEach, describe, expect, test } from 'bun:test'
import { workspaces } from '../../src/access/tables'
import { record } from '../../src/core/change'
import type { ResourceRecord } from '../../src/dns/message'
import { parseName } from '../../src/dns/name'
import { rdataOfContent } from '../../src/dns/rdata'
import type { TsigKey } from '../../src/dns/tsig'
import { primaryScript, recordOf, scriptedServer, type Script, type ScriptedServer } from '../support/scripted-server'
import { world, type Caller, type World } from '../support/world'
import { createZone } from '../support/zones'

const secret = Buffer.from('a secret that both of them know!')
const key: TsigKey = { name: 'key.', algorithm: 'hmac-sha512', secret }
const keyInput = { name: 'key', algorithm: 'hmac-sha512', secret: secret.toString('base64') }
const origin = 'example.com.'
const of = (name: string, type: string, content: string, ttl = 600): ResourceRecord =>
  recordOf(parseName(name, origin), ttl, type, rdataOfContent(type, content, origin))
const soa = of('@', 'SOA', 'ns1 dns\\.admin 2026112101 7200 900 1209600 600', 3600)
const zoneRecords = [
  of('@', 'NS', 'ns1.example.net.'),
  of('@', 'TXT', '"v=spf1 -all"'),
  of('www', 'A', '192.0.2.1'),
  of('www', 'A', '192.0.2.2'),
  of('WWW2', 'CNAME', 'www'),
]

const servers: ScriptedServer[] = []
afterEach(() => servers.splice(0).forEach(server => server.stop()))
async function serverOf(script: Script): Promise<{ host: string; port: number }> {
  const server = await scriptedServer(script)
  servers.push(server)
  return { host: '127.0.0.1', port: server.port }
}
const primary = ({ clock }: World, records = zoneRecords, signed: TsigKey | null = key) =>
  serverOf(primaryScript(() => [soa, ...records], { key: signed, now: () => clock.now() }))

const importFrom = (caller: Caller, id: string, body: object, headers: Record<string, string> = {}) =>
  caller.call('POST', `/v1/dns/zones/${id}/import-from`, body, headers)
const recordsOf = async (caller: Caller, id: string) => {
  const { data } = (await caller.call('GET', `/v1/dns/zones/${id}/records?limit=100`)).body
  return data.map((one: any) => `${one.name} ${one.ttl} ${one.type} ${one.content}`).sort()
}
const pointers = (answer: { body: any }) => answer.body.errors?.map((one: any) => one.pointer)

describe('a transfer', () => {
  test('fills a new zone, including SOA and serial', async () => {
    const here = await world()
    const { acme, audited, emitted } = here
    const { id } = await createZone(acme)
    await Promise.all([audited(), emitted()])
    const answer = await importFrom(acme, id, { server: await primary(here), key: keyInput })
    expect(answer.body).toMatchObject({ zone_id: id, serial: 2026112101, mode: 'replace', skipped: 0 })
    expect(await audited()).toEqual(['dns.zone.import_from'])
    expect(await emitted()).toEqual(['dns.records_changed'])
    expect((await acme.call('GET', `/v1/dns/zones/${id}`)).body.soa).toMatchObject({
      rname: 'dns\\.admin.example.com.',
      ttl: 3600,
      refresh: 7200,
    })
    expect(await recordsOf(acme, id)).toEqual([
      '@ 600 NS ns1.example.net.',
      '@ 600 TXT "v=spf1 -all"',
      'www 600 A 192.0.2.1',
      'www 600 A 192.0.2.2',
      'www2 600 CNAME www.example.com.',
    ])
    const entry = (await acme.call('GET', '/v1/audit-events?action=dns.zone.import_from')).body.data[0]
    expect(entry.changes.after).toMatchObject({ mode: 'replace', from: expect.stringMatching(/^127\.0\.0\.1 \d+$/) })
    expect(JSON.stringify(entry)).not.toContain(keyInput.secret)
  })

  test('is merged into a changed zone', async () => {
    const here = await world()
    const { id } = await createZone(here.acme)
    await here.acme.call('POST', `/v1/dns/zones/${id}/records`, { type: 'A', name: 'own', content: '198.51.100.1', ttl: 60 })
    const answer = await importFrom(here.acme, id, { server: await primary(here), key: keyInput })
    expect(answer.body).toMatchObject({ mode: 'merge' })
    expect(await recordsOf(here.acme, id)).toContain('own 60 A 198.51.100.1')
    expect((await here.acme.call('GET', `/v1/dns/zones/${id}`)).body.serial).toBeLessThan(1000)
  })

  test('replaces a changed zone only if the guards allow it', async () => {
    const here = await world()
    const { id } = await createZone(here.acme)
    const rrsets = Array.from({ length: 20 }, (_, n) => ({ name: `n${n}`, type: 'A', records: [{ content: '198.51.100.1' }] }))
    await here.acme.call('PUT', `/v1/dns/zones/${id}/rrsets`, { rrsets })
    const server = await primary(here)
    const held = await importFrom(here.acme, id, { server, key: keyInput, mode: 'replace' })
    expect(held.body).toMatchObject({ code: 'plan_blocked', reasons: [{ code: 'deletes_over_limit' }] })
    const allow = ['deletes_over_limit']
    const bare = await importFrom(here.acme, id, { server, key: keyInput, mode: 'replace', allow })
    expect(pointers(bare)).toEqual(['#/note'])
    const done = await importFrom(here.acme, id, { server, key: keyInput, mode: 'replace', allow, note: 'moved here' })
    expect(done.body).toMatchObject({ mode: 'replace', serial: 2026112101 })
    expect(await recordsOf(here.acme, id)).toHaveLength(5)
  })

  test('of a signed zone skips and counts DNSSEC records', async () => {
    const here = await world()
    const { id } = await createZone(here.acme)
    const signed = [
      of('@', 'RRSIG', 'SOA 13 2 60 20300101000000 20260101000000 1 example.com. AAAA'),
      of('@', 'NSEC', 'www.example.com. NS SOA RRSIG NSEC'),
      of('@', 'DNSKEY', '257 3 13 AAAA'),
      of('@', 'TYPE65534', '\\# 5 0d00010001'),
    ]
    const answer = await importFrom(here.acme, id, { server: await primary(here, [...zoneRecords, ...signed]), key: keyInput })
    expect(answer.body).toMatchObject({ skipped: 4 })
    expect(await recordsOf(here.acme, id)).toHaveLength(5)
  })

  test('treats invalid TTLs as 0, like resolvers do', async () => {
    const here = await world()
    const { id } = await createZone(here.acme)
    const server = await primary(here, [...zoneRecords, of('long', 'A', '192.0.2.3', 2 ** 31)])
    expect((await importFrom(here.acme, id, { server, key: keyInput })).status).toBe(200)
    expect(await recordsOf(here.acme, id)).toContain('long 0 A 192.0.2.3')
  })

  test('works without a key', async () => {
    const here = await world()
    const { id } = await createZone(here.acme)
    expect((await importFrom(here.acme, id, { server: await primary(here, zoneRecords, null) })).status).toBe(200)
  })

  test('with invalid records is rejected, with the name and type of each', async () => {
    const here = await world()
    const { id } = await createZone(here.acme)
    const wrong = [
      of('www', 'CNAME', 'x'),
      of('a.*.b', 'A', '192.0.2.1'),
      recordOf(`a\\/b.${origin}`, 60, 'A', new Uint8Array(3)),
    ]
    const answer = await importFrom(here.acme, id, { server: await primary(here, [...zoneRecords, ...wrong]), key: keyInput })
    expect(answer.status).toBe(422)
    expect(pointers(answer)).toContain('#/rrsets/a.*.b/A')
    expect(await recordsOf(here.acme, id)).toHaveLength(2)
  })
})

describe('a failing server is reported', () => {
  const failureOf = async (
    script: (here: World) => Promise<{ host: string; port: number }>,
    options: object = { key: keyInput },
  ) => {
    const here = await world()
    const { id } = await createZone(here.acme)
    await Promise.all([here.audited(), here.emitted()])
    const answer = await importFrom(here.acme, id, { server: await script(here), ...options })
    expect(await recordsOf(here.acme, id)).toHaveLength(2)
    expect([await here.audited(), await here.emitted()]).toEqual([[], []])
    return [answer.status, answer.body.code, answer.body.failure]
  }
  const failed = (failure: string) => [424, 'provider_failed', failure]

  test('if the transfer is incomplete', async () => {
    const half = (here: World) =>
      serverOf(request => [
        ...primaryScript(() => [soa, ...zoneRecords], { key, now: () => here.clock.now(), limit: 300 })(request).slice(0, 1),
        'close',
      ])
    expect(await failureOf(half)).toEqual(failed('incomplete'))
  })
  test('if it rejects the key', async () => {
    expect(await failureOf(here => primary(here), {})).toEqual(failed('refused'))
    const other = { ...keyInput, secret: Buffer.alloc(32).toString('base64') }
    expect(await failureOf(here => primary(here), { key: other })).toEqual(failed('unauthorized'))
  })
  test('if it doesn’t have the zone', async () => {
    const gone = async (here: World) => {
      const server = await primary(here)
      servers.splice(0).forEach(one => one.stop())
      return server
    }
    expect(await failureOf(gone)).toEqual(failed('unreachable'))
  })
  test('if it doesn’t speak DNS', async () => {
    expect(await failureOf(() => serverOf(() => [Uint8Array.from([1, 2, 3])]))).toEqual(failed('invalid_response'))
  })
})

describe('a request', () => {
  test('must have exactly one source and valid keys', async () => {
    const { acme } = await world()
    const { id } = await createZone(acme)
    const server = { host: '127.0.0.1', port: 9 }
    const rejected = async (body: object) => {
      const answer = await importFrom(acme, id, body)
      return [answer.status, ...(pointers(answer) ?? [])]
    }
    expect(await rejected({})).toEqual([422, '#'])
    expect(await rejected({ server, provider_id: 'x' })).toEqual([422, '#'])
    expect(await rejected({ provider_id: 'x', key: keyInput })).toEqual([422, '#/key'])
    expect(await rejected({ server, key: { ...keyInput, secret: 'no base64!' } })).toEqual([422, '#/key/secret'])
    expect(await rejected({ server, key: { ...keyInput, name: 'a..b' } })).toEqual([422, '#/key/name'])
    expect(await rejected({ server, key: { ...keyInput, algorithm: 'hmac-x' } })).toEqual([422, '#/key/algorithm'])
    expect(await rejected({ server: { ...server, port: 0 } })).toEqual([422, '#/server/port'])
    expect(await rejected({ server: { host: 'a b' } })).toEqual([422, '#/server/host'])
    expect(await rejected({ provider_id: 'dnsp_01k3z8q4g7e2wv5m9x0c6hbtfn' })).toEqual([404])
  })

  test('can’t use an address that the network policy forbids', async () => {
    const here = await world()
    const { id } = await createZone(here.rival, 'rival.example')
    const server = await primary(here)
    const rejected = await importFrom(here.rival, id, { server, key: keyInput })
    expect([rejected.status, pointers(rejected)]).toEqual([422, ['#/server/host']])
    expect(servers[0]!.requests).toEqual([])
    await record(here.hub, async tx => {
      await tx.update(workspaces).set({ networkPolicy: { allow_private: false, allow_ranges: ['127.0.0.0/8'] } })
      return { result: undefined }
    })
    expect((await importFrom(here.rival, id, { server, key: keyInput })).body).toMatchObject({ failure: 'refused' })
  })

  test('requires write permission and a matching version', async () => {
    const here = await world()
    const { id } = await createZone(here.acme)
    const body = { server: await primary(here), key: keyInput }
    expect((await importFrom(here.rival, id, body)).status).toBe(404)
    expect((await importFrom(here.readOnly, id, body)).status).toBe(403)
    expect((await importFrom(here.acme, id, body, { 'if-match': '"9"' })).status).toBe(412)
    expect(servers[0]!.requests).toEqual([])
  })

  test('is limited to ten per minute and zone', async () => {
    const here = await world()
    const { id } = await createZone(here.acme)
    const body = { server: await primary(here), key: keyInput, mode: 'merge' }
    const statuses: number[] = []
    for (let times = 0; times < 11; times++) statuses.push((await importFrom(here.acme, id, body)).status)
    expect(statuses).toEqual([...Array<number>(10).fill(200), 429])
    here.clock.advance(60_000)
    expect((await importFrom(here.acme, id, body)).status).toBe(200)
  })
})
