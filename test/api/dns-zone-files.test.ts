import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyFields } from '../support/dns-values'
import { world, type Caller } from '../support/world'
import { createZone } from '../support/zones'

const file = `$ORIGIN example.com.
$TTL 1h
@ IN SOA ns1 dns\\.admin 2026112101 2h 15m 2w 10m
   NS ns1
   NS ns2.example.net.
   MX 10 mail
   TXT "v=spf1 mx -all" ; what may send
   CAA 0 issue "ca.example"
ns1 300 A 192.0.2.53
mail A 192.0.2.25
mail AAAA 2001:db8::25
www CNAME @
*.dev A 192.0.2.80
_imaps._tcp SRV 0 1 993 mail
_443._tcp.www TLSA 3 1 1 ${'ab'.repeat(32)}
@ HTTPS 1 . alpn=h2,h3
host$ TYPE65280 \\# 2 abcd
$GENERATE 1-3 lab-$ A 192.0.2.$
child NS ns.child
ns.child A 192.0.2.54
child DS 1 13 2 ${'cd'.repeat(32)}
www RRSIG CNAME 13 3 3600 20270101000000 20260101000000 1 example.com. AAAA
`.replace('host$', 'host')

const importFile = (caller: Caller, id: string, text: string, query = '', headers: Record<string, string> = {}) =>
  caller.call('POST', `/v1/dns/zones/${id}/import${query}`, text, { 'content-type': 'text/dns', ...headers })
const exported = async (caller: Caller, id: string) => (await caller.call('GET', `/v1/dns/zones/${id}/export`)).text
const rules = (answer: { body: any }) => answer.body.errors?.map((one: any) => [one.pointer, one.detail])

describe('a zone file', () => {
  test('fills a new zone, including SOA and serial, and is exported unchanged', async () => {
    const { acme, audited, emitted } = await world()
    const [one, two] = [await createZone(acme), await createZone(acme, 'sub.example.com')]
    await Promise.all([audited(), emitted()])
    const answer = await importFile(acme, one.id, file)
    expect(answer.body).toMatchObject({ zone_id: one.id, serial: 2026112101, mode: 'replace', skipped: 1 })
    expect(await audited()).toEqual(['dns.zone.import'])
    expect(await emitted()).toEqual(['dns.records_changed'])
    expect((await acme.call('GET', `/v1/dns/zones/${one.id}`)).body).toMatchObject({
      serial: 2026112101,
      record_count: 20,
      nameservers: ['ns1.example.com', 'ns2.example.net'],
      soa: { rname: 'dns\\.admin.example.com.', refresh: 7200, retry: 900, expire: 1_209_600, minimum: 600, ttl: 3600 },
    })
    const text = await exported(acme, one.id)
    expect(text).toContain('2026112101 ; serial')
    expect(text).toContain('lab-3')
    const [sources] = (await acme.call('GET', `/v1/dns/records?zone=${one.id}&limit=1`)).body.data
    expect(sources.source).toBe('import')

    await importFile(acme, two.id, text.replaceAll('example.com.', 'sub.example.com.'))
    expect((await exported(acme, two.id)).replaceAll('sub.example.com.', 'example.com.')).toBe(text)
  })

  test('changes nothing when imported again', async () => {
    const { acme, emitted } = await world()
    const { id } = await createZone(acme)
    await importFile(acme, id, file)
    await emitted()
    const again = await importFile(acme, id, await exported(acme, id), '?mode=replace')
    expect(again.body).toMatchObject({ serial: 2026112101, created: 0, updated: 0, deleted: 0 })
    expect(await emitted()).toEqual([])
  })

  test('is merged into a changed zone: its names and types, not the SOA', async () => {
    const { acme } = await world()
    const { id } = await createZone(acme)
    await acme.call('PUT', `/v1/dns/zones/${id}/rrsets`, {
      rrsets: [
        { name: 'mail', type: 'A', comment: 'post', records: [{ content: '198.51.100.1' }] },
        { name: 'own', type: 'A', records: [{ content: '198.51.100.2' }] },
      ],
    })
    const merged = await importFile(acme, id, file)
    expect(merged.body).toMatchObject({ mode: 'merge', serial: 3 })
    const all = (await acme.call('GET', `/v1/dns/zones/${id}/records?limit=100`)).body.data
    const of = (name: string, type: string) => all.filter((one: any) => one.name === name && one.type === type)
    expect(of('own', 'A')).toHaveLength(1)
    expect(of('mail', 'A')).toMatchObject([{ content: '192.0.2.25', comment: 'post' }])
    const replaced = await importFile(acme, id, file, '?mode=replace')
    expect(replaced.body).toMatchObject({ serial: 2026112101, deleted: 1 })
    const older = await importFile(acme, id, file.replace('2026112101', '7').replace('10m', '11m'), '?mode=replace')
    expect(older.body).toMatchObject({ serial: 2026112102 })
  })

  test.each([
    ['www A 192.0.2.1\n@ NS ns1\nwww A 192.0.2.300', 3, /RFC 1035 3\.4\.1/],
    ['@ NS ns1\nwww.example.net. A 192.0.2.1', 2, /inside the zone example\.com.*RFC 1034 4\.2/],
    ['@ NS ns1\n$INCLUDE other.zone', 2, /\$INCLUDE is/],
    ['@ NS ns1\nwww A 192.0.2.1\nwww CNAME x', 3, /A CNAME can’t coexist.*RFC 1034 3\.6\.2/],
    ['@ NS ns1\na.*.b A 192.0.2.1', 2, /RFC 4592 2\.1\.1/],
    ['@ NS ns1\nx NONSENSE 1', 2, /is not a TTL, a class, or a record type/],
    ['@ NS ns1\n@ CNAME x', 2, /CNAME can’t be at the apex/],
    ['@ NS ns1\n@ SOA ns1 h 1 2 3 4 4294967295', 2, /minimum must be between 0 and 2147483647 seconds.*RFC 2181 8/],
  ])('with an invalid record is rejected, with its line: %p', async (lines, line, rule) => {
    const { acme } = await world()
    const { id } = await createZone(acme)
    const rejected = await importFile(acme, id, `$TTL 60\n${lines}\n`)
    expect([rejected.status, rejected.body.code]).toEqual([422, 'validation_failed'])
    const error = rules(rejected).find((one: any) => one[0] === `#/lines/${line + 1}`)
    expect(error?.[1]).toMatch(rule)
    expect((await acme.call('GET', `/v1/dns/zones/${id}`)).body).toMatchObject({ serial: 1, record_count: 2 })
  })

  test('without TTLs uses the default of the zone', async () => {
    const { acme } = await world()
    const { id } = await createZone(acme, 'example.com', { default_ttl: 1234 })
    expect((await importFile(acme, id, 'a A 192.0.2.1\nb 60 A 192.0.2.1\nc A 192.0.2.1\n', '?mode=merge')).status).toBe(200)
    const { data } = (await acme.call('GET', `/v1/dns/zones/${id}/records?content=192.0.2.1&sort=name`)).body
    // After a record with a TTL, the next one inherits it (RFC 1035 section 5.1).
    expect(data.map((one: any) => one.ttl)).toEqual([1234, 60, 60])
  })

  test('with too many records for one change is rejected, and can be split', async () => {
    const { acme } = await world()
    const { id } = await createZone(acme)
    const head = '$TTL 60\n@ NS ns1\nns1 A 192.0.2.1\n'
    const lab = (from: number, to: number) => `$TTL 60\n$GENERATE ${from}-${to} lab-$ A 192.0.2.1\n`
    const rejected = await importFile(acme, id, head + lab(1, 10_000))
    expect(rules(rejected)).toEqual([
      ['#', expect.stringMatching(/^changes (at least )?1000\d records, but a request can change at most 10000\./)],
    ])
    expect((await importFile(acme, id, head + lab(1, 6000))).status).toBe(200)
    // Unchanged records don’t count.
    expect((await importFile(acme, id, lab(1, 12_000))).body).toMatchObject({ mode: 'merge', created: 6000 })
    const emptied = await importFile(acme, id, head, '?mode=replace&allow=deletes_over_limit&note=All')
    expect(rules(emptied)[0][1]).toContain('changes 12000 records')
  })

  test('is limited to 100,000 records', async () => {
    const { acme } = await world()
    const { id } = await createZone(acme)
    const rejected = await importFile(acme, id, `$TTL 60\nx TXT same\n${'  TXT same\n'.repeat(100_001)}`)
    expect(rejected.body.errors).toEqual([
      { pointer: '#/lines/100002', code: 'too_many', detail: expect.stringContaining('100000 records per import') },
    ])
  }, 180_000)

  test('without NS records can’t replace a zone', async () => {
    const { acme } = await world()
    const { id } = await createZone(acme)
    const rejected = await importFile(acme, id, '$TTL 60\nwww A 192.0.2.1\n')
    expect(rules(rejected)).toEqual([['#', 'A zone needs at least one NS record at its apex (RFC 1034 4.2.1).']])
  })

  test('must be text of the right media type and size, with a matching version', async () => {
    const { acme, rival } = await world()
    const { id } = await createZone(acme)
    const send = (body: Uint8Array | string, type: string) =>
      acme.call('POST', `/v1/dns/zones/${id}/import`, body, { 'content-type': type })
    expect((await send(new Uint8Array([0xff, 0xfe]), 'text/dns')).status).toBe(422)
    expect((await send(file, 'application/xml')).status).toBe(415)
    expect((await send(' '.repeat(8 * 1024 * 1024 + 1), 'text/plain')).status).toBe(413)
    expect((await importFile(acme, id, file, '', { 'if-match': '"9"' })).status).toBe(412)
    expect((await importFile(rival, id, file)).status).toBe(404)
    expect((await rival.call('GET', `/v1/dns/zones/${id}/export`)).status).toBe(404)
  })

  test('counts toward the plan limit', async () => {
    const w = await world()
    await w.limit(w.rival.workspaceId, { dns_records: 19 })
    const { id } = await createZone(w.rival)
    expect((await importFile(w.rival, id, file)).body).toMatchObject({
      code: 'plan_limit_reached',
      limit: 'dns_records',
      max: 19,
    })
  })

  test('is imported once per Idempotency-Key, and a different file is rejected', async () => {
    const { acme } = await world()
    const { id } = await createZone(acme)
    const key = { 'idempotency-key': 'import-of-today' }
    const first = await importFile(acme, id, file, '', key)
    const again = await importFile(acme, id, file, '', key)
    expect([again.body, again.headers.get('idempotent-replayed')]).toEqual([first.body, 'true'])
    expect((await importFile(acme, id, `${file}x A 192.0.2.1\n`, '', key)).body.code).toBe('idempotency_key_reused')
  })
})

test('a JSON export can be imported again', async () => {
  const { acme } = await world()
  const [one, two] = [await createZone(acme), await createZone(acme, 'example.net')]
  await importFile(acme, one.id, file)
  const json = (await acme.call('GET', `/v1/dns/zones/${one.id}/export?format=json`)).body
  expect(json).toMatchObject({ name: 'example.com', serial: 2026112101, default_ttl: 3600, soa: { minimum: 600 } })
  const put = await acme.call('PUT', `/v1/dns/zones/${two.id}/rrsets`, { rrsets: json.rrsets })
  expect(put.status).toBe(200)
  const back = (await acme.call('GET', `/v1/dns/zones/${two.id}/export?format=json`)).body
  const texts = (zone: any) => zone.rrsets.map((rrset: any) => JSON.stringify(rrset))
  expect(texts(back)).toEqual(expect.arrayContaining(texts(json)))
})

test('records of every type are stored, listed, exported and imported unchanged', async () => {
  const { acme } = await world()
  const zone = await createZone(acme)
  const named: Record<string, string> = { SRV: '_x._tcp', TLSA: '_1._tcp', SMIMEA: 'ab._smimecert' }
  const managedElsewhere = ['SOA', 'RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM']
  const rrsets = Object.entries(anyFields)
    .filter(([type]) => !managedElsewhere.includes(type))
    .flatMap(([type, arbitrary]) =>
      fc.sample(arbitrary, { numRuns: 3, seed: 7 }).map((fields, n) => ({
        name: `${named[type] ?? 't'}.${type.toLowerCase()}-${n}`,
        type,
        ttl: n * 100,
        records: [{ fields }],
      })),
    )
  expect(rrsets.length).toBeGreaterThan(90)
  const put = await acme.call('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets })
  expect(put.body.created).toBe(rrsets.length)
  const listed = (await acme.call('GET', `/v1/dns/records?zone=${zone.id}&limit=1000`)).body.data
  for (const { name, type, ttl, records } of rrsets)
    expect(listed.find((one: any) => one.name === name && one.type === type)).toMatchObject({ ttl, fields: records[0]!.fields })

  const text = await exported(acme, zone.id)
  const { acme: elsewhere } = await world()
  const again = await createZone(elsewhere)
  expect((await importFile(elsewhere, again.id, text)).status).toBe(200)
  expect(await exported(elsewhere, again.id)).toBe(text)
})
