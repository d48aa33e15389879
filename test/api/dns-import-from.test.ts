import { afterEach, describe, expect, test } from 'bun:test'
import { workspaces } from '../../src/access/tables'
import { record } from '../../src/core/change'
import type { ResourceRecord } from '../../src/core/dns/message'
import { parseName } from '../../src/core/dns/name'
import { rdataOfContent } from '../../src/core/dns/rdata'
import type { TsigKey } from '../../src/core/dns/tsig'
import { primaryScript, recordOf, scriptedServer, type Script, type ScriptedServer } from '../support/scripted-server'
import { world, type Caller, type World } from '../support/world'
import { zoneMade } from '../support/zones'

const secret = Buffer.from('a secret that both of them know!')
const key: TsigKey = { name: 'key.', algorithm: 'hmac-sha512', secret }
const keyGiven = { name: 'key', algorithm: 'hmac-sha512', secret: secret.toString('base64') }
const origin = 'example.com.'
const of = (name: string, type: string, content: string, ttl = 600): ResourceRecord =>
  recordOf(parseName(name, origin), ttl, type, rdataOfContent(type, content, origin))
const soa = of('@', 'SOA', 'ns1 dns\\.admin 2026112101 7200 900 1209600 600', 3600)
const usual = [
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
const primary = ({ clock }: World, records = usual, signed: TsigKey | null = key) =>
  serverOf(primaryScript(() => [soa, ...records], { key: signed, now: () => clock.now() }))

const importFrom = (caller: Caller, id: string, body: object, headers: Record<string, string> = {}) =>
  caller.call('POST', `/v1/dns/zones/${id}/import-from`, body, headers)
const recordsOf = async (caller: Caller, id: string) => {
  const { data } = (await caller.call('GET', `/v1/dns/zones/${id}/records?limit=100`)).body
  return data.map((one: any) => `${one.name} ${one.ttl} ${one.type} ${one.content}`).sort()
}
const pointers = (answer: { body: any }) => answer.body.errors?.map((one: any) => one.pointer)

describe('a transfer', () => {
  test('becomes a new zone, SOA and serial included', async () => {
    const here = await world()
    const { acme, audited, happened } = here
    const { id } = await zoneMade(acme)
    await Promise.all([audited(), happened()])
    const answer = await importFrom(acme, id, { server: await primary(here), key: keyGiven })
    expect(answer.body).toMatchObject({ zone_id: id, serial: 2026112101, mode: 'replace', skipped: 0 })
    expect(await audited()).toEqual(['dns.zone.import_from'])
    expect(await happened()).toEqual(['dns.records_changed'])
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
    expect(JSON.stringify(entry)).not.toContain(keyGiven.secret)
  })

  test('is merged into a zone that was changed', async () => {
    const here = await world()
    const { id } = await zoneMade(here.acme)
    await here.acme.call('POST', `/v1/dns/zones/${id}/records`, { type: 'A', name: 'own', content: '198.51.100.1', ttl: 60 })
    const answer = await importFrom(here.acme, id, { server: await primary(here), key: keyGiven })
    expect(answer.body).toMatchObject({ mode: 'merge' })
    expect(await recordsOf(here.acme, id)).toContain('own 60 A 198.51.100.1')
    expect((await here.acme.call('GET', `/v1/dns/zones/${id}`)).body.serial).toBeLessThan(1000)
  })

  test('replaces a zone that was changed only as far as the guards allow', async () => {
    const here = await world()
    const { id } = await zoneMade(here.acme)
    const rrsets = Array.from({ length: 20 }, (_, n) => ({ name: `n${n}`, type: 'A', records: [{ content: '198.51.100.1' }] }))
    await here.acme.call('PUT', `/v1/dns/zones/${id}/rrsets`, { rrsets })
    const server = await primary(here)
    const held = await importFrom(here.acme, id, { server, key: keyGiven, mode: 'replace' })
    expect(held.body).toMatchObject({ code: 'plan_blocked', reasons: [{ code: 'deletes_over_limit' }] })
    const allow = ['deletes_over_limit']
    const bare = await importFrom(here.acme, id, { server, key: keyGiven, mode: 'replace', allow })
    expect(pointers(bare)).toEqual(['#/note'])
    const done = await importFrom(here.acme, id, { server, key: keyGiven, mode: 'replace', allow, note: 'moved here' })
    expect(done.body).toMatchObject({ mode: 'replace', serial: 2026112101 })
    expect(await recordsOf(here.acme, id)).toHaveLength(5)
  })

  test('of a signed zone leaves out what its server signs with, and counts it', async () => {
    const here = await world()
    const { id } = await zoneMade(here.acme)
    const signed = [
      of('@', 'RRSIG', 'SOA 13 2 60 20300101000000 20260101000000 1 example.com. AAAA'),
      of('@', 'NSEC', 'www.example.com. NS SOA RRSIG NSEC'),
      of('@', 'DNSKEY', '257 3 13 AAAA'),
      of('@', 'TYPE65534', '\\# 5 0d00010001'),
    ]
    const answer = await importFrom(here.acme, id, { server: await primary(here, [...usual, ...signed]), key: keyGiven })
    expect(answer.body).toMatchObject({ skipped: 4 })
    expect(await recordsOf(here.acme, id)).toHaveLength(5)
  })

  test('has a TTL of 0 where a resolver takes it for that', async () => {
    const here = await world()
    const { id } = await zoneMade(here.acme)
    const server = await primary(here, [...usual, of('long', 'A', '192.0.2.3', 2 ** 31)])
    expect((await importFrom(here.acme, id, { server, key: keyGiven })).status).toBe(200)
    expect(await recordsOf(here.acme, id)).toContain('long 0 A 192.0.2.3')
  })

  test('without a key is taken too', async () => {
    const here = await world()
    const { id } = await zoneMade(here.acme)
    expect((await importFrom(here.acme, id, { server: await primary(here, usual, null) })).status).toBe(200)
  })

  test('whose records break rules is refused, each with its name and type', async () => {
    const here = await world()
    const { id } = await zoneMade(here.acme)
    const wrong = [
      of('www', 'CNAME', 'x'),
      of('a.*.b', 'A', '192.0.2.1'),
      recordOf(`a\\/b.${origin}`, 60, 'A', new Uint8Array(3)),
    ]
    const answer = await importFrom(here.acme, id, { server: await primary(here, [...usual, ...wrong]), key: keyGiven })
    expect(answer.status).toBe(422)
    expect(pointers(answer)).toContain('#/rrsets/a.*.b/A')
    expect(await recordsOf(here.acme, id)).toHaveLength(2)
  })
})

describe('a server that does not give the zone', () => {
  const failureOf = async (
    script: (here: World) => Promise<{ host: string; port: number }>,
    given: object = { key: keyGiven },
  ) => {
    const here = await world()
    const { id } = await zoneMade(here.acme)
    await Promise.all([here.audited(), here.happened()])
    const answer = await importFrom(here.acme, id, { server: await script(here), ...given })
    expect(await recordsOf(here.acme, id)).toHaveLength(2)
    expect([await here.audited(), await here.happened()]).toEqual([[], []])
    return [answer.status, answer.body.code, answer.body.failure]
  }
  const failed = (failure: string) => [424, 'provider_failed', failure]

  test('in whole', async () => {
    const half = (here: World) =>
      serverOf(asked => [
        ...primaryScript(() => [soa, ...usual], { key, now: () => here.clock.now(), limit: 300 })(asked).slice(0, 1),
        'close',
      ])
    expect(await failureOf(half)).toEqual(failed('incomplete'))
  })
  test('to this key', async () => {
    expect(await failureOf(here => primary(here), {})).toEqual(failed('refused'))
    const other = { ...keyGiven, secret: Buffer.alloc(32).toString('base64') }
    expect(await failureOf(here => primary(here), { key: other })).toEqual(failed('unauthorized'))
  })
  test('since it is not there', async () => {
    const gone = async (here: World) => {
      const server = await primary(here)
      servers.splice(0).forEach(one => one.stop())
      return server
    }
    expect(await failureOf(gone)).toEqual(failed('unreachable'))
  })
  test('since it speaks something else', async () => {
    expect(await failureOf(() => serverOf(() => [Uint8Array.from([1, 2, 3])]))).toEqual(failed('invalid_answer'))
  })
})

describe('what is asked', () => {
  test('must name one source, and keys that are some', async () => {
    const { acme } = await world()
    const { id } = await zoneMade(acme)
    const server = { host: '127.0.0.1', port: 9 }
    const refused = async (body: object) => {
      const answer = await importFrom(acme, id, body)
      return [answer.status, ...(pointers(answer) ?? [])]
    }
    expect(await refused({})).toEqual([422, '#'])
    expect(await refused({ server, provider_id: 'x' })).toEqual([422, '#'])
    expect(await refused({ provider_id: 'x', key: keyGiven })).toEqual([422, '#/key'])
    expect(await refused({ server, key: { ...keyGiven, secret: 'no base64!' } })).toEqual([422, '#/key/secret'])
    expect(await refused({ server, key: { ...keyGiven, name: 'a..b' } })).toEqual([422, '#/key/name'])
    expect(await refused({ server, key: { ...keyGiven, algorithm: 'hmac-x' } })).toEqual([422, '#/key/algorithm'])
    expect(await refused({ server: { ...server, port: 0 } })).toEqual([422, '#/server/port'])
    expect(await refused({ server: { host: 'a b' } })).toEqual([422, '#/server/host'])
    expect(await refused({ provider_id: 'dnsp_01k3z8q4g7e2wv5m9x0c6hbtfn' })).toEqual([404])
  })

  test('is not asked at an address that the workspace may not call', async () => {
    const here = await world()
    const { id } = await zoneMade(here.rival, 'rival.example')
    const server = await primary(here)
    const refused = await importFrom(here.rival, id, { server, key: keyGiven })
    expect([refused.status, pointers(refused)]).toEqual([422, ['#/server/host']])
    expect(servers[0]!.asked).toEqual([])
    await record(here.hub, async tx => {
      await tx.update(workspaces).set({ networkPolicy: { allow_private: false, allow_ranges: ['127.0.0.0/8'] } })
      return { result: undefined }
    })
    expect((await importFrom(here.rival, id, { server, key: keyGiven })).body).toMatchObject({ failure: 'refused' })
  })

  test('is for those who may change the zone as it is', async () => {
    const here = await world()
    const { id } = await zoneMade(here.acme)
    const body = { server: await primary(here), key: keyGiven }
    expect((await importFrom(here.rival, id, body)).status).toBe(404)
    expect((await importFrom(here.readOnly, id, body)).status).toBe(403)
    expect((await importFrom(here.acme, id, body, { 'if-match': '"9"' })).status).toBe(412)
    expect(servers[0]!.asked).toEqual([])
  })

  test('is asked ten times a minute and zone', async () => {
    const here = await world()
    const { id } = await zoneMade(here.acme)
    const body = { server: await primary(here), key: keyGiven, mode: 'merge' }
    const statuses: number[] = []
    for (let times = 0; times < 11; times++) statuses.push((await importFrom(here.acme, id, body)).status)
    expect(statuses).toEqual([...Array<number>(10).fill(200), 429])
    here.clock.advance(60_000)
    expect((await importFrom(here.acme, id, body)).status).toBe(200)
  })
})
