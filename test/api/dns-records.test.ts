import { describe, expect, spyOn, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { keptRecordViews, keyColumns } from '../../src/features/dns/records/kept-views'
import { dnsRecords } from '../../src/features/dns/records/tables'
import { world, type Caller } from '../support/world'
import { createZone } from '../support/zones'
import { contents, rules, scene } from '../support/record-scene'

const lastEvent = async (caller: Caller) => (await caller.call('GET', '/v1/events?limit=1')).body.data[0].data

describe('reading', () => {
  test('renders each version of a record once', async () => {
    const { acme, add } = await scene()
    await add('A', 'www', '192.0.2.1', { ttl: 300 })
    const { id } = (await add('A', 'www', '192.0.2.2', { ttl: 300 })).body
    await add('TXT', 'note', 'hello')
    const read = async () => (await acme.call('GET', '/v1/dns/records?name=www*')).body.data
    const before = await read()
    const stringify = spyOn(JSON, 'stringify')
    try {
      expect(await read()).toEqual(before)
      expect((await acme.call('GET', `/v1/dns/records/${id}`)).body).toEqual(before.find((one: any) => one.id === id))
      const rendered = stringify.mock.calls.filter(([value]) => value?.rdata ?? value?.fqdn ?? value?.data?.[0]?.fqdn)
      expect(rendered).toEqual([])
    } finally {
      stringify.mockRestore()
    }
    // The TTL belongs to all records of the name and type.
    expect((await acme.call('PATCH', `/v1/dns/records/${id}`, { ttl: 600, comment: 'new' })).status).toBe(200)
    const after = await read()
    expect(after.map((one: any) => [one.ttl, one.comment, one.version])).toEqual([
      [600, 'new', 2],
      [600, 'new', 2],
    ])
    const { headers } = await acme.call('GET', `/v1/dns/records/${id}`)
    expect(headers.get('etag')).toStartWith('"2.')
    expect((await acme.call('GET', '/v1/dns/records?name=www*&fields=ttl')).body.data).toEqual(
      after.map((one: any) => ({ id: one.id, ttl: 600 })),
    )
  })
})

test('views of long records are not kept in memory', async () => {
  const { hub, add } = await scene()
  const ids: string[] = []
  for (const [name, content] of [
    ['short', 'x'],
    ['long', 'x'.repeat(3000)],
  ] as const)
    ids.push((await add('TXT', name, content)).body.id)
  const rows = await Promise.all(
    ids.map(async id => (await hub.read.select(keyColumns).from(dnsRecords).where(eq(dnsRecords.id, id)))[0]!),
  )
  const [before, after] = [await keptRecordViews(hub.read, rows), await keptRecordViews(hub.read, rows)]
  expect(after).toEqual(before)
  expect(after.map((view, at) => view === before[at])).toEqual([true, false])
})

describe('a record', () => {
  test('is returned as text and as fields, with an event', async () => {
    const { acme, zone, add, audited } = await scene()
    const created = await add('mx', '', '10 Mail.Example.net.')
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe(`/v1/dns/records/${created.body.id}`)
    expect(created.body).toMatchObject({
      zone_id: zone.id,
      zone: 'example.com',
      type: 'MX',
      name: '@',
      fqdn: 'example.com',
      ttl: 3600,
      content: '10 Mail.Example.net.',
      fields: { preference: 10, exchange: 'Mail.Example.net.' },
      value: null,
      synced: true,
      source: 'api',
      version: 1,
    })
    expect((await acme.call('GET', `/v1/dns/records/${created.body.id}`)).body).toEqual(created.body)
    expect(await audited()).toEqual(['dns.record.create'])
    expect(await lastEvent(acme)).toEqual({
      zone: { id: zone.id, name: 'example.com' },
      origin: 'api',
      actor: { type: 'token', id: expect.any(String), name: 'full token' },
      changed_at: expect.any(String),
      changes: [
        {
          action: 'created',
          record_id: created.body.id,
          type: 'MX',
          name: '@',
          fqdn: 'example.com',
          before: null,
          after: { ttl: 3600, content: '10 Mail.Example.net.' },
        },
      ],
      change_count: 1,
      truncated: false,
    })
    expect((await acme.call('GET', `/v1/dns/zones/${zone.id}`)).body).toMatchObject({ serial: 2, version: 2, record_count: 3 })
  })

  test('can be created from fields', async () => {
    const { acme, zone } = await scene()
    const created = await acme.call('POST', `/v1/dns/zones/${zone.id}/records`, {
      type: 'CAA',
      name: '@',
      fields: { flags: 0, tag: 'issue', value: 'ca.example; account=1' },
    })
    expect(created.body.content).toBe('0 issue "ca.example; account=1"')
    const both = await acme.call('POST', `/v1/dns/zones/${zone.id}/records`, {
      type: 'A',
      name: 'x',
      content: '192.0.2.1',
      fields: {},
    })
    expect(rules(both)).toEqual([['#/content', 'can’t be combined with `fields`.']])
    const none = await acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { type: 'A', name: 'x' })
    expect(rules(none)).toEqual([['#/content', 'is required, unless you pass `fields`.']])
    const wrong = await acme.call('POST', `/v1/dns/zones/${zone.id}/records`, {
      type: 'MX',
      name: 'x',
      fields: { preference: 70_000, exchange: 'mail.example.com.' },
    })
    expect(rules(wrong)).toEqual([['#/fields', 'preference must be between 0 and 65535 (RFC 1035 3.3.9).']])
  })

  test.each([
    ['www', 'www', 'www.example.com'],
    ['WWW', 'www', 'www.example.com'],
    ['@', '@', 'example.com'],
    ['example.com', '@', 'example.com'],
    ['example.com.', '@', 'example.com'],
    ['a.b.example.com.', 'a.b', 'a.b.example.com'],
    ['*.dev', '*.dev', '*.dev.example.com'],
    ['_dmarc', '_dmarc', '_dmarc.example.com'],
    ['bücher', 'xn--bcher-kva', 'xn--bcher-kva.example.com'],
  ])('can be named %p', async (input, name, fqdn) => {
    const { add } = await scene()
    expect((await add('TXT', input, 'x')).body).toMatchObject({ name, fqdn })
  })

  test.each([
    ['www.example.com', 'would become www.example.com.example.com'],
    ['www.example.net.', 'must be inside the zone example.com'],
    ['a..b', 'must not have an empty label'],
    ['a.*', '"*" only as its entire first label'],
    ['a*', '"*" only as its entire first label'],
    [`${'x'.repeat(64)}`, 'longer than 63 octets'],
    [`${'x.'.repeat(124)}x`, 'at most 255 octets'],
  ])('cannot be named %p', async (name, rule) => {
    const { add } = await scene()
    const rejected = await add('A', name, '192.0.2.1')
    expect([rejected.status, rules(rejected)[0][0]]).toEqual([422, '#/name'])
    expect(rules(rejected)[0][1]).toContain(rule)
    expect(rules(rejected)[0][1]).toMatch(/\(RFC \d+ [\d.]+\)\.$/)
  })

  test('treats names with several labels as absolute, and with one label as relative', async () => {
    const { add } = await scene()
    for (const [type, content, shown] of [
      ['CNAME', 'web', 'web.example.com.'],
      ['CNAME', '@', 'example.com.'],
      ['CNAME', 'host.example.net', 'host.example.net.'],
      ['CNAME', 'host.example.net.', 'host.example.net.'],
      ['MX', '10 mx.example.net', '10 mx.example.net.'],
      ['MX', '10 mx', '10 mx.example.com.'],
      ['HTTPS', '1 . alpn=h2', '1 . alpn=h2'],
    ] as const)
      expect((await add(type, `n${Bun.hash(type + content).toString(36)}`, content)).body.content).toBe(shown)
  })

  test('of type TXT keeps every character of a text', async () => {
    const { acme, add } = await scene()
    const text = `v=DKIM1; p="${'k'.repeat(300)}" \\ ; grüße`
    const created = (await add('TXT', 'key', text)).body
    expect(created.value).toBe(text)
    expect(created.fields.strings).toHaveLength(2)
    const again = await acme.call('PATCH', `/v1/dns/records/${created.id}`, { content: created.content })
    expect([again.body.value, again.body.version]).toEqual([text, 1])
    expect((await add('TXT', 'key', '"one" "two"')).body.value).toBe('onetwo')
  })

  test('can change only its comment, without affecting DNS answers', async () => {
    const { acme, audited, emitted } = await world()
    const zone = await createZone(acme)
    const { body } = await acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { type: 'A', name: 'www', content: '192.0.2.1' })
    const before = (await acme.call('GET', `/v1/dns/zones/${zone.id}`)).body
    await Promise.all([audited(), emitted()])
    const patched = await acme.call('PATCH', `/v1/dns/records/${body.id}`, { comment: 'web' })
    expect(patched.body).toMatchObject({ comment: 'web', version: 2 })
    expect((await acme.call('GET', `/v1/dns/records/${body.id}`)).body).toEqual(patched.body)
    expect((await acme.call('GET', `/v1/dns/zones/${zone.id}`)).body).toMatchObject({
      serial: before.serial,
      version: before.version + 1,
    })
    const rrset = { name: 'www', type: 'A', comment: 'shop', records: [{ content: '192.0.2.1' }] }
    const put = await acme.call('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets: [rrset] })
    expect(put.body).toMatchObject({ serial: before.serial, updated: 0, records: [{ comment: 'shop', version: 3 }] })
    expect(await audited()).toEqual(['dns.record.update', 'dns.rrsets.replace'])
    expect(await emitted()).toEqual([])
  })

  test('doesn’t change if an update changes nothing, and neither does its zone', async () => {
    const { acme, audited, emitted } = await world()
    const zone = await createZone(acme)
    const { body } = await acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { type: 'A', name: 'www', content: '192.0.2.1' })
    const before = (await acme.call('GET', `/v1/dns/zones/${zone.id}`)).body
    await Promise.all([audited(), emitted()])
    const same = { content: '192.0.2.1', ttl: body.ttl, comment: '', name: 'www' }
    expect((await acme.call('PATCH', `/v1/dns/records/${body.id}`, same)).body).toEqual(body)
    const rrset = { name: 'www', type: 'A', records: [{ content: '192.0.2.1' }] }
    await acme.call('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets: [rrset] })
    const { status, default_ttl, soa } = before
    expect((await acme.call('PATCH', `/v1/dns/zones/${zone.id}`, { status, default_ttl, soa })).body).toEqual(before)
    expect([await audited(), await emitted()]).toEqual([[], []])
  })

  test('keeps its id when the value, TTL, comment or name changes', async () => {
    const { acme, add, zone, audited } = await scene()
    const first = (await add('A', 'www', '192.0.2.1')).body
    const second = (await add('A', 'www', '192.0.2.2')).body
    await audited()
    const patch = async (body: object, headers = {}) => await acme.call('PATCH', `/v1/dns/records/${first.id}`, body, headers)
    expect((await patch({ content: '192.0.2.9' })).body).toMatchObject({ id: first.id, content: '192.0.2.9', version: 2 })
    expect((await patch({ ttl: 60, comment: 'web' })).body).toMatchObject({ id: first.id, ttl: 60, comment: 'web', version: 3 })
    expect((await acme.call('GET', `/v1/dns/records/${second.id}`)).body).toMatchObject({ ttl: 60, comment: 'web', version: 2 })
    expect((await lastEvent(acme)).changes.map((one: any) => [one.action, one.after])).toEqual([
      ['updated', { ttl: 60, content: '192.0.2.2' }],
      ['updated', { ttl: 60, content: '192.0.2.9' }],
    ])
    expect((await patch({ name: 'web' }, { 'if-match': '"2"' })).status).toBe(412)
    expect((await patch({ name: 'web' }, { 'if-match': '"3"' })).body).toMatchObject({ id: first.id, name: 'web', version: 4 })
    expect((await acme.call('GET', `/v1/dns/records/${first.id}`)).body).toMatchObject({
      name: 'web',
      created_at: first.created_at,
    })
    expect(await contents({ acme }, `zone=${zone.id}&type=A&name=www`)).toEqual(['www A 192.0.2.2'])
    expect(await audited()).toEqual(['dns.record.update', 'dns.record.update', 'dns.record.update'])
  })

  test('can be deleted, except for the last NS at the apex', async () => {
    const { acme, add, emitted } = await scene()
    const created = (await add('A', 'www', '192.0.2.1')).body
    await emitted()
    expect((await acme.call('DELETE', `/v1/dns/records/${created.id}`)).status).toBe(204)
    expect((await acme.call('DELETE', `/v1/dns/records/${created.id}`)).status).toBe(404)
    expect(await emitted()).toEqual(['dns.records_changed'])
    const [ns] = (await acme.call('GET', '/v1/dns/records?type=NS')).body.data
    const rejected = await acme.call('DELETE', `/v1/dns/records/${ns.id}`)
    expect(rules(rejected)).toEqual([['#', 'A zone needs at least one NS record at its apex (RFC 1034 4.2.1).']])
  })

  test('includes its zone with expand', async () => {
    const { acme, zone } = await scene()
    const [record] = (await acme.call('GET', '/v1/dns/records?limit=1&expand=zone')).body.data
    expect(record.expanded.zone).toEqual((await acme.call('GET', `/v1/dns/zones/${zone.id}`)).body)
  })
})

describe('records by name and type', () => {
  test('are replaced together, and unchanged records keep their ids', async () => {
    const { acme, add, put, zone, audited, emitted } = await scene()
    const kept = (await add('A', 'www', '192.0.2.1')).body
    await add('A', 'www', '192.0.2.2')
    await add('CNAME', 'old', 'www')
    await Promise.all([audited(), emitted()])
    const answer = await put(
      { name: 'www', type: 'A', ttl: 60, records: [{ content: '192.0.2.1' }, { fields: { address: '192.0.2.3' } }] },
      { name: 'old', type: 'CNAME', records: [] },
      { name: 'old', type: 'AAAA', records: [{ content: '2001:db8::1' }] },
    )
    expect(answer.body).toMatchObject({ zone_id: zone.id, serial: 5, created: 2, updated: 1, deleted: 2 })
    expect(answer.body.records.map((one: any) => [one.name, one.type, one.ttl, one.content])).toEqual([
      ['www', 'A', 60, '192.0.2.1'],
      ['www', 'A', 60, '192.0.2.3'],
      ['old', 'AAAA', 3600, '2001:db8::1'],
    ])
    expect(answer.body.records[0].id).toBe(kept.id)
    expect(await audited()).toEqual(['dns.rrsets.replace'])
    expect(await emitted()).toEqual(['dns.records_changed'])
    expect((await lastEvent(acme)).change_count).toBe(5)
  })

  test('don’t change if one is invalid, and the error points to it', async () => {
    const { acme, put, zone } = await scene()
    const answer = await put(
      { name: 'a', type: 'A', records: [{ content: '192.0.2.1' }] },
      { name: 'b', type: 'A', records: [{ content: '192.0.2.1' }, { content: '192.0.2' }] },
    )
    expect(rules(answer)[0][0]).toBe('#/rrsets/1/records/1/content')
    const clash = await put(
      { name: 'a', type: 'A', records: [{ content: '192.0.2.1' }] },
      { name: 'A', type: 'CNAME', records: [{ content: 'b' }] },
    )
    expect(rules(clash).map((one: any) => one[0])).toEqual(['#/rrsets/0', '#/rrsets/1'])
    const twice = await put({ name: 'a', type: 'A', records: [] }, { name: 'a.example.com.', type: 'a', records: [] })
    expect(rules(twice)).toEqual([['#/rrsets/1', 'duplicates A of a, which is already at #/rrsets/0.']])
    expect((await acme.call('GET', `/v1/dns/zones/${zone.id}`)).body.serial).toBe(1)
  })

  test('are replaced only if the version of the zone matches', async () => {
    const { acme, zone, add } = await scene()
    await add('A', 'www', '192.0.2.1')
    const rrsets = [{ name: 'www', type: 'A', records: [] }]
    const put = (version: number) =>
      acme.call('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets }, { 'if-match': `"${version}"` })
    expect((await put(1)).status).toBe(412)
    expect((await put(2)).status).toBe(200)
  })

  test('report as many changes as fit in an event', async () => {
    const { acme, put } = await scene()
    const rrsets = Array.from({ length: 600 }, (_, n) => ({
      name: `host-${n}`,
      type: 'A',
      records: [{ content: `192.0.2.${n % 250}` }],
    }))
    expect((await put(...rrsets)).body).toMatchObject({ created: 600, serial: 2 })
    const event = await lastEvent(acme)
    expect([event.change_count, event.truncated]).toEqual([600, true])
    expect(event.changes.length).toBeGreaterThan(100)
    expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThan(64 * 1024)
  })
})

test('many records are created, updated and deleted in one transaction', async () => {
  const { acme, zone, add, audited, emitted } = await scene()
  const gone = (await add('A', 'gone', '192.0.2.1')).body
  await Promise.all([audited(), emitted()])
  const bulk = (operations: object[], mode = '') => acme.call('POST', `/v1/dns/records/bulk${mode}`, { operations })
  const create = (name: string, content: string) => ({ op: 'create', id: zone.id, body: { type: 'A', name, content } })
  const done = await bulk([create('a', '192.0.2.1'), create('a', '192.0.2.2'), { op: 'delete', id: gone.id }])
  expect(done.body).toMatchObject({ succeeded: 3, failed: 0 })
  expect(await audited()).toEqual(['dns.record.create', 'dns.record.create', 'dns.record.delete'])
  const failed = await bulk([create('b', '192.0.2.1'), create('b', '192.0.2.1')])
  expect([failed.status, rules(failed)[0][0]]).toEqual([422, '#/operations/1/body/content'])
  expect(await contents({ acme }, 'name=b')).toEqual([])
  const partial = await bulk([create('b', '192.0.2.1'), create('b', '192.0.2.1')], '?mode=partial')
  expect([partial.status, partial.body.succeeded]).toEqual([207, 1])
  // A new record has no version to compare with.
  const matching = await bulk([{ ...create('c', '192.0.2.1'), if_match: '"1"' }])
  expect(matching.body.errors).toMatchObject([{ pointer: '#/operations/0/if_match' }])
})

test('changing only the case of a value, or only a TTL, is a change', async () => {
  const { put, acme, add } = await scene()
  const [a, b] = [(await add('CNAME', 'one', 'A.example.net.')).body, (await add('A', 'two', '192.0.2.1')).body]
  expect((await acme.call('PATCH', `/v1/dns/records/${a.id}`, { content: 'a.example.net.' })).body).toMatchObject({
    content: 'a.example.net.',
    version: 2,
  })
  expect((await put({ name: 'two', type: 'A', ttl: 5, records: [{ content: '192.0.2.1' }] })).body.records[0]).toMatchObject({
    id: b.id,
    ttl: 5,
  })
})

test('the audit log truncates long values and includes their length and hash', async () => {
  const { acme, add } = await scene()
  const { body } = await add('TXT', 'long', 'x'.repeat(20_000))
  await acme.call('PATCH', `/v1/dns/records/${body.id}`, { content: `${'x'.repeat(19_999)}y` })
  const [edited] = (await acme.call('GET', '/v1/audit-events?action=dns.record.update')).body.data
  const { before, after } = edited.changes
  expect(before.content).toMatch(/^"x{255}".*… \(\d+ characters, SHA-256 [0-9a-f]{64}\)$/)
  expect(after.content).not.toBe(before.content)
  expect(JSON.stringify(edited).length).toBeLessThan(5000)
})
