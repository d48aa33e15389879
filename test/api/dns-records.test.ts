import { describe, expect, spyOn, test } from 'bun:test'
import { world, type Caller, type World } from '../support/world'
import { createZone } from '../support/zones'

const rules = (answer: { body: any }) => answer.body.errors?.map((one: any) => [one.pointer, one.detail])

async function scene() {
  const w = await world()
  const zone = await createZone(w.acme)
  await Promise.all([w.audited(), w.emitted()])
  const add = (type: string, name: string, content: string, more: object = {}) =>
    w.acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { type, name, content, ...more })
  const put = (...rrsets: object[]) => w.acme.call('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets })
  return { ...w, zone, add, put }
}

const lastEvent = async (caller: Caller) => (await caller.call('GET', '/v1/events?limit=1')).body.data[0].data
const contents = async (w: { acme: Caller }, query: string) =>
  (await w.acme.call('GET', `/v1/dns/records?${query}`)).body.data.map((one: any) => `${one.name} ${one.type} ${one.content}`)

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

describe('a record is rejected', () => {
  /** Title, existing records, added record, pointer of the error, and the error. */
  const rejected: [string, [string, string, string][], [string, string, string], string, RegExp][] = [
    [
      'as a duplicate',
      [['A', 'a', '192.0.2.1']],
      ['A', 'a', '192.0.2.1'],
      '#/content',
      /Duplicate A value at a: .* \(RFC 2181 5\)/,
    ],
    [
      'as a duplicate in another case',
      [['CNAME', 'a', 'B.example.net.']],
      ['CNAME', 'a', 'b.example.net.'],
      '#/content',
      /RFC 2181 5\)/,
    ],
    ['as CNAME at the apex', [], ['CNAME', '@', 'x.example.net.'], '#', /CNAME can’t be at the apex.*\(RFC 1034 3\.6\.2\)/],
    [
      'as CNAME next to other records',
      [['A', 'a', '192.0.2.1']],
      ['CNAME', 'a', 'x.example.net.'],
      '#',
      /a already has A .*RFC 1034 3\.6\.2/,
    ],
    ['next to a CNAME', [['CNAME', 'a', 'x.example.net.']], ['TXT', 'a', 'x'], '#', /a already has a CNAME .*RFC 1034 3\.6\.2/],
    [
      'as a second CNAME',
      [['CNAME', 'a', 'x.example.net.']],
      ['CNAME', 'a', 'y.example.net.'],
      '#/content',
      /only one CNAME.*RFC 2181 10\.1/,
    ],
    [
      'as a DNAME next to NS',
      [['NS', 'a', 'ns.example.net.']],
      ['DNAME', 'a', 'x.example.net.'],
      '#',
      /a already has NS .*RFC 6672 2\.3/,
    ],
    [
      'as NS next to a DNAME',
      [['DNAME', 'a', 'x.example.net.']],
      ['NS', 'a', 'ns.example.net.'],
      '#',
      /a already has DNAME .*RFC 6672 2\.3/,
    ],
    ['as a second DNAME', [['DNAME', 'a', 'x.example.net.']], ['DNAME', 'a', 'y.example.net.'], '#/content', /RFC 6672 2\.4/],
    ['as ALIAS next to an address', [['A', 'a', '192.0.2.1']], ['ALIAS', 'a', 'x.example.net.'], '#', /ALIAS can’t coexist/],
    [
      'as an address next to an ALIAS',
      [['ALIAS', 'a', 'x.example.net.']],
      ['AAAA', 'a', '2001:db8::1'],
      '#',
      /ALIAS can’t coexist/,
    ],
    [
      'below a DNAME',
      [['DNAME', 'a', 'x.example.net.']],
      ['A', 'b.c.a', '192.0.2.1'],
      '#',
      /below a, which has a DNAME.*RFC 6672 2\.4/,
    ],
    [
      'as DNAME above other records',
      [['A', 'b.a', '192.0.2.1']],
      ['DNAME', 'a', 'x.example.net.'],
      '#',
      /records below it; b\.a exists/,
    ],
    [
      'as MX to a CNAME',
      [['CNAME', 'a', 'x.example.net.']],
      ['MX', 'm', '1 a'],
      '#',
      /can’t point to a, which is a CNAME.*RFC 2181 10\.3/,
    ],
    ['as NS to a CNAME', [['CNAME', 'a', 'x.example.net.']], ['NS', 'm', 'a'], '#', /RFC 2181 10\.3/],
    ['as SRV to a CNAME', [['CNAME', 'a', 'x.example.net.']], ['SRV', '_x._tcp', '1 1 1 a'], '#', /RFC 2782/],
    [
      'as CNAME that an MX points to',
      [['MX', 'm', '1 a']],
      ['CNAME', 'a', 'x.example.net.'],
      '#',
      /the MX record of m points to it.*RFC 2181 10\.3/,
    ],
    ['as CNAME to itself', [], ['CNAME', 'a', 'a'], '#', /a points back to itself after 1 steps.*RFC 1034 3\.6\.2/],
    [
      'as a CNAME loop',
      [
        ['CNAME', 'a', 'b'],
        ['CNAME', 'b', 'c'],
      ],
      ['CNAME', 'c', 'a'],
      '#',
      /c points back to itself after 3 steps/,
    ],
    ['as MX next to a null MX', [['MX', 'a', '0 .']], ['MX', 'a', '10 x'], '#', /null MX .* at a.*RFC 7505 3/],
    [
      'as null MX next to other MX records',
      [['MX', 'a', '10 x']],
      ['MX', 'a', '0 .'],
      '#/content',
      /null MX .* at a.*RFC 7505 3/,
    ],
    ['as SRV without service', [], ['SRV', 'www', '1 1 443 x'], '#/name', /_service\._protocol.*RFC 2782/],
    ['as TLSA without port', [], ['TLSA', 'www', `3 1 1 ${'ab'.repeat(32)}`], '#/name', /_port\._protocol.*RFC 6698 3/],
    ['as DS at the apex', [], ['DS', '@', `1 13 2 ${'ab'.repeat(32)}`], '#', /parent zone.*RFC 4034 5/],
    ['as SOA', [], ['SOA', '@', 'a. b. 1 2 3 4 5'], '#/type', /`soa` fields/],
    ['as RRSIG', [], ['RRSIG', '@', 'x'], '#/type', /generated by signing/],
    ['as ANY', [], ['ANY', '@', 'x'], '#/type', /RFC 6895 3\.1/],
    ['of an unknown type', [], ['NONSENSE', '@', 'x'], '#/type', /is not a record type/],
    ['with a leading zero', [], ['A', 'a', '010.1.1.1'], '#/content', /RFC 1035 3\.4\.1/],
    ['with a zone index', [], ['AAAA', 'a', '::1%lo'], '#/content', /RFC 3596 2\.2/],
    ['with an address as host', [], ['MX', 'a', '10 192.0.2.1'], '#/content', /not an address/],
    ['with a short digest', [], ['SSHFP', 'a', '1 1 abcd'], '#/content', /RFC 6594 4/],
  ]
  test.each(rejected)('%s', async (_, before, [type, name, content], pointer, rule) => {
    const { acme, zone, add } = await scene()
    for (const one of before) expect((await add(...one)).status).toBe(201)
    const serial = (await acme.call('GET', `/v1/dns/zones/${zone.id}`)).body.serial
    const answer = await add(type, name, content)
    expect([answer.status, answer.body.code, rules(answer)[0][0]]).toEqual([422, 'validation_failed', pointer])
    expect(rules(answer)[0][1]).toMatch(rule)
    expect((await acme.call('GET', `/v1/dns/zones/${zone.id}`)).body.serial).toBe(serial)
  })

  test('with a TTL that differs from its name and type', async () => {
    const { add } = await scene()
    await add('A', 'www', '192.0.2.1', { ttl: 60 })
    const rejected = await add('A', 'www', '192.0.2.2', { ttl: 300 })
    expect(rules(rejected)[0][0]).toBe('#/ttl')
    expect(rules(rejected)[0][1]).toMatch(/^must be 60, .*\(RFC 2181 5\.2\)\.$/)
    expect((await add('A', 'www', '192.0.2.2')).body.ttl).toBe(60)
  })

  test('with a TTL beyond 31 bits', async () => {
    const { add } = await scene()
    expect((await add('A', 'www', '192.0.2.1', { ttl: 2 ** 31 })).status).toBe(422)
    expect((await add('A', 'www', '192.0.2.1', { ttl: -1 })).status).toBe(422)
    expect((await add('A', 'www', '192.0.2.1', { ttl: 2 ** 31 - 1 })).status).toBe(201)
  })

  test('if it doesn’t fit in a message', async () => {
    const { put } = await scene()
    const records = Array.from({ length: 260 }, (_, n) => ({ content: `${n} ${'x'.repeat(240)}` }))
    const rejected = await put({ name: 'long', type: 'TXT', records })
    expect(rules(rejected)[0]).toEqual(['#/rrsets/0', expect.stringMatching(/64 KiB.*RFC 1035 4\.2\.2/)])
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
})

describe('the list of records', () => {
  async function filled(w: World) {
    const [one, two] = [await createZone(w.acme), await createZone(w.acme, 'example.net')]
    const put = (zone: { id: string }, rrsets: object[]) => w.acme.call('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets })
    await put(one, [
      { name: 'www', type: 'A', records: [{ content: '192.0.2.1' }, { content: '192.0.2.20' }] },
      { name: 'www2', type: 'A', records: [{ content: '198.51.100.1' }] },
      { name: 'api.dev', type: 'CNAME', records: [{ content: 'www' }] },
      { name: 'x.api.dev', type: 'TXT', records: [{ content: 'V=spf1 -all' }] },
      { name: 'dev', type: 'A', records: [{ content: '192.0.2.2' }] },
      { name: '*', type: 'A', records: [{ content: '192.0.2.3' }] },
      { name: 'a_b', type: 'TXT', records: [{ content: 'x' }] },
    ])
    await put(two, [{ name: 'www', type: 'AAAA', records: [{ content: '2001:db8::1' }] }])
    return { one, two }
  }

  test('is filtered by zone, type, name, content, source and search text', async () => {
    const w = await world()
    const { one, two } = await filled(w)
    const of = (query: string) => contents(w, query)
    expect(await of('zone=example.net&sort=name')).toEqual(['@ NS ns1.example.net.', 'ns1 A 127.0.0.1', 'www AAAA 2001:db8::1'])
    expect(await of('zone=example.net&sort=-type')).toEqual(['@ NS ns1.example.net.', 'www AAAA 2001:db8::1', 'ns1 A 127.0.0.1'])
    expect(await of(`zone=${two.id}&type=AAAA`)).toEqual(['www AAAA 2001:db8::1'])
    expect(await of('zone=example.org')).toEqual([])
    expect(await of('type=cname')).toEqual(['api.dev CNAME www.example.com.'])
    expect(await of('name=www&sort=id')).toEqual(['www A 192.0.2.1', 'www A 192.0.2.20', 'www AAAA 2001:db8::1'])
    expect(await of('name=WWW*')).toEqual(['www A 192.0.2.1', 'www A 192.0.2.20', 'www AAAA 2001:db8::1', 'www2 A 198.51.100.1'])
    expect(await of('name=*.dev')).toEqual(['api.dev CNAME www.example.com.', 'x.api.dev TXT "V=spf1 -all"'])
    expect(await of('name=*')).toEqual(['* A 192.0.2.3'])
    expect(await of(`name=@&type=NS&zone=${one.id}`)).toEqual(['@ NS ns1.example.com.'])
    expect(await of('name=a_*')).toEqual(['a_b TXT "x"'])
    expect(await of('content=192.0.2.2')).toEqual(['dev A 192.0.2.2'])
    expect(await of('content=192.0.2.2*')).toEqual(['dev A 192.0.2.2', 'www A 192.0.2.20'])
    expect(await of('content=v=spf1*')).toEqual(['x.api.dev TXT "V=spf1 -all"'])
    expect(await of('q=dev*&sort=id')).toEqual(['dev A 192.0.2.2'])
    expect(await of('q=WWW&sort=id')).toEqual(['www A 192.0.2.1', 'www A 192.0.2.20', 'www AAAA 2001:db8::1'])
    expect(await of(`q=www&zone=${two.id}&include=total`)).toEqual(['www AAAA 2001:db8::1'])
    expect(await of('q=198.51*')).toEqual(['www2 A 198.51.100.1'])
    expect((await of('source=api&include=total')).length).toBe(13)
    expect(await of('source=dynamic')).toEqual([])
    const none = await w.acme.call('GET', '/v1/dns/records?type=FOO')
    expect([none.status, none.body.errors]).toEqual([
      400,
      [{ pointer: '#/query/type', code: 'invalid_parameter', detail: 'must be a record type; FOO is unknown.' }],
    ])
    expect((await w.acme.call('GET', '/v1/dns/records?type=A,AAAA')).body.detail).toContain('single record type')
    expect((await w.acme.call('GET', '/v1/dns/records?type=FOO&state=unmanaged')).status).toBe(400)
    for (const query of ['name=a*b', 'content=*x', 'q=a*b*', 'type=A,B', 'name=*.a*'])
      expect([query, (await w.acme.call('GET', `/v1/dns/records?${query}`)).status]).toEqual([query, 400])
    await createZone(w.acme, 'bücher.example')
    expect(await of(`zone=${encodeURIComponent('BÜCHER.example.')}&type=NS`)).toEqual(['@ NS ns1.xn--bcher-kva.example.'])
    expect(await of(`zone=${encodeURIComponent('ü:.example')}`)).toEqual([])
  })

  test.each(['', 'name=host-*', 'name=*.dev', 'content=192.0.2.*', 'q=192*', 'zone=example.com&type=A', 'sort=-name'])(
    'returns every record exactly once across pages, with %p',
    async query => {
      const w = await world()
      const zone = await createZone(w.acme)
      const rrsets = Array.from({ length: 40 }, (_, n) => ({
        name: `host-${n % 20}${n < 20 ? '.dev' : ''}`,
        type: 'A',
        records: [{ content: `192.0.2.${n}` }],
      }))
      await w.acme.call('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets })
      const whole = (await w.acme.call('GET', `/v1/dns/records?limit=1000&${query}`)).body.data.map((one: any) => one.id)
      const seen: string[] = []
      for (let cursor = ''; ;) {
        const page = (await w.acme.call('GET', `/v1/dns/records?limit=7&${query}${cursor && `&cursor=${cursor}`}`)).body
        seen.push(...page.data.map((one: any) => one.id))
        cursor = page.pagination.next_cursor
        if (!page.pagination.has_more) break
      }
      expect(seen).toEqual(whole)
      expect(new Set(seen).size).toBeGreaterThanOrEqual(20)
    },
  )

  test('has up to 1000 records per page', async () => {
    const { readOnly } = await world()
    expect((await readOnly.call('GET', '/v1/dns/records?limit=1000')).status).toBe(200)
    expect((await readOnly.call('GET', '/v1/dns/records?limit=1001')).status).toBe(400)
  })
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
