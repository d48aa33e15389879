import { describe, expect, test } from 'bun:test'
import { world, type Caller } from '../support/world'
import { createZone } from '../support/zones'

const exported = async (caller: Caller, id: string) =>
  JSON.parse(await (await caller.call('GET', `/v1/dns/zones/${id}/export?format=json`)).text)
const importJson = (caller: Caller, id: string, document: object | string, query = '') =>
  caller.call('POST', `/v1/dns/zones/${id}/import${query}`, document)
const errors = (answer: { body: any }) => answer.body.errors.map((one: any) => [one.pointer, one.code])

async function scene() {
  const w = await world()
  const zone = await createZone(w.acme, 'example.com', { default_ttl: 900, soa: { refresh: 1234, minimum: 60 } })
  const rrsets = [
    {
      name: 'www',
      type: 'A',
      ttl: 300,
      comment: 'front',
      tags: ['web', 'eu'],
      records: [{ content: '192.0.2.2' }, { content: '192.0.2.1' }],
    },
    { name: '@', type: 'TXT', records: [{ content: `v=x; "quoted" \\ ${'long '.repeat(60)}` }], locked: true },
    { name: '@', type: 'MX', records: [{ fields: { preference: 10, exchange: 'mail.example.net.' } }] },
    { name: 'cdn', type: 'CNAME', options: { proxied: true }, records: [{ content: 'cdn.far.test.' }] },
    {
      name: 'brief',
      type: 'AAAA',
      expires_at: new Date(w.clock.now() + 3_600_000).toISOString(),
      records: [{ content: '2001:db8::1' }],
    },
    { name: 'odd', type: 'TYPE65280', records: [{ content: '\\# 2 abcd' }] },
    { name: 'bücher', type: 'A', records: [{ content: '192.0.2.7' }] },
  ]
  await w.acme.call('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets })
  return { ...w, zone }
}

describe('a zone in JSON', () => {
  test('survives export and import, including SOA, serial and metadata', async () => {
    const { acme, zone, audited } = await scene()
    const document = await exported(acme, zone.id)
    await audited()
    const same = await importJson(acme, zone.id, document, '?mode=replace')
    expect(same.body).toMatchObject({ serial: document.serial, created: 0, updated: 0, deleted: 0, mode: 'replace', skipped: 0 })
    expect(await audited()).toEqual([])

    const { acme: elsewhere } = await world()
    const again = await createZone(elsewhere, 'example.com')
    const created = await importJson(elsewhere, again.id, document)
    expect(created.body).toMatchObject({ serial: document.serial, mode: 'replace', created: 8, deleted: 0 })
    expect(await exported(elsewhere, again.id)).toEqual(document)
  })

  test('can be partial: merged, with default TTLs, keeping other records', async () => {
    const { acme, zone } = await scene()
    const before = await exported(acme, zone.id)
    const rrsets = [
      { name: 'new', type: 'A', records: [{ content: '192.0.2.9' }] },
      { name: 'www', type: 'A', records: [{ content: '192.0.2.3' }] },
      { name: 'odd', type: 'TYPE65280', records: [] },
    ]
    const merged = await importJson(acme, zone.id, { rrsets, soa: { refresh: 9 }, serial: 4_000_000_000 })
    expect(merged.body).toMatchObject({ mode: 'merge', created: 2, deleted: 3, serial: before.serial + 1 })
    const after = await exported(acme, zone.id)
    const of = (name: string) => after.rrsets.find((one: any) => one.name === name)
    expect(of('new')).toMatchObject({ ttl: 900, tags: [] })
    expect(of('www')).toMatchObject({ ttl: 900, comment: 'front', tags: ['web', 'eu'] })
    expect([of('odd'), after.soa]).toEqual([undefined, before.soa])
    await importJson(acme, zone.id, { default_ttl: 50, rrsets: [{ name: 'n2', type: 'A', records: [{ content: '192.0.2.9' }] }] })
    expect((await exported(acme, zone.id)).rrsets.find((one: any) => one.name === 'n2').ttl).toBe(50)
    expect((await exported(acme, zone.id)).default_ttl).toBe(900)
  })

  test('is rejected as a whole, with pointers to the errors', async () => {
    const { acme, zone } = await scene()
    const before = await exported(acme, zone.id)
    const a = { name: 'a', type: 'A', records: [{ content: '192.0.2.1' }] }
    const refusals: [object, [string, string][]][] = [
      [{ rrsets: [a, { ...a, records: [{ content: '192.0.2' }] }] }, [['#/rrsets/1', 'not_unique']]],
      [
        {
          rrsets: [
            { ...a, records: [{ content: 'x' }, { content: '192.0.2.1' }, {}] },
            { ...a, name: 'x..y' },
          ],
        },
        [['#/rrsets/1/name', 'dns_rule']],
      ],
      [
        {
          rrsets: [
            { ...a, records: [{ content: 'x' }, { content: '192.0.2.1' }, {}] },
            { ...a, name: 'b', records: [{ content: 'y' }] },
          ],
        },
        [
          ['#/rrsets/0/records/0/content', 'dns_rule'],
          ['#/rrsets/0/records/2/content', 'required'],
          ['#/rrsets/1/records/0/content', 'dns_rule'],
        ],
      ],
      [{ rrsets: [{ ...a, name: 'www.example.net.' }] }, [['#/rrsets/0/name', 'dns_rule']]],
      [{ name: 'example.net', rrsets: [a] }, [['#/name', 'zone_mismatch']]],
      [{ rrsets: [{ ...a, type: 'SOA' }] }, [['#/rrsets/0/type', 'dns_rule']]],
      [{ rrsets: [{ ...a, value: 1 }] }, [['#/rrsets/0/value', 'unknown_field']]],
      [{ rrsets: [{ ...a, name: '@', type: 'TXT' }] }, [['#/rrsets/0', 'locked']]],
      [{ rrsets: [{ ...a, expires_at: '2020-01-01T00:00:00Z' }] }, [['#/rrsets/0/expires_at', 'out_of_range']]],
      [{ soa: { mname: '*' }, rrsets: [] }, [['#/soa/mname', 'dns_rule']]],
      [{ rrsets: [a], mode: 'replace' }, [['#/mode', 'unknown_field']]],
      [{}, [['#/rrsets', 'required']]],
    ]
    for (const [document, wrong] of refusals) {
      const answer = await importJson(acme, zone.id, document)
      expect([answer.status, errors(answer)]).toEqual([422, wrong])
    }
    for (const text of ['', '[', '{"rrsets":[],"rrsets":[]}', `${'['.repeat(40)}${']'.repeat(40)}`])
      expect((await importJson(acme, zone.id, text)).body.code).toBe('malformed_json')
    expect(await exported(acme, zone.id)).toEqual(before)
  })

  test('has a limited number of records', async () => {
    const { acme, zone } = await scene()
    const records = Array.from({ length: 5000 }, () => ({ content: 'x' }))
    const rrsets = Array.from({ length: 21 }, (_, n) => ({ name: `n${n}`, type: 'TXT', records }))
    expect(errors(await importJson(acme, zone.id, { rrsets }))).toEqual([['#/rrsets/20', 'too_many']])
  })
})
