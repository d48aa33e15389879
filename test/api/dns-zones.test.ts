import { describe, expect, test } from 'bun:test'
import { lastZoneChange, zoneChangesAfter, zonesTopic } from '../../src/features/dns/publish/published-zones'
import { topicsOf } from '../../src/core/topics'
import { fieldsOf } from '../../src/dns/rdata'
import { readPublishedZone } from '../support/published-zone'
import { world, type World } from '../support/world'
import { createZone } from '../support/zones'

const rules = (answer: { body: any }) => answer.body.errors?.map((one: any) => [one.pointer, one.detail])

describe('zones', () => {
  test('can be created with just a name, with SOA, NS and glue', async () => {
    const { acme, audited, emitted } = await world()
    const created = await acme.call('POST', '/v1/dns/zones', { name: 'Example.COM.' })
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe(`/v1/dns/zones/${created.body.id}`)
    expect(created.body).toMatchObject({
      name: 'example.com',
      unicode_name: 'example.com',
      status: 'active',
      provider_id: 'builtin',
      nameservers: ['ns1.example.com'],
      serial: 1,
      default_ttl: 3600,
      soa: { mname: 'ns1.example.com.', rname: 'hostmaster.example.com.' },
      record_count: 2,
      synced: true,
      version: 1,
    })
    const { data } = (await acme.call('GET', `/v1/dns/zones/${created.body.id}/records`)).body
    expect(data.map((one: any) => [one.type, one.name, one.content])).toEqual([
      ['A', 'ns1', '127.0.0.1'],
      ['NS', '@', 'ns1.example.com.'],
    ])
    expect(await audited()).toEqual(['dns.zone.create'])
    expect(await emitted()).toEqual(['dns.records_changed'])
  })

  test('use name servers from the request or the setting', async () => {
    const w = await world({ BAILIWICK_DNS_NAMESERVERS: 'NS1.example.net., ns2.example.net' })
    expect((await createZone(w.acme)).nameservers).toEqual(['ns1.example.net', 'ns2.example.net'])
    const own = await createZone(w.acme, 'example.org', {
      nameservers: ['a.example.net', 'ns'],
      soa: { rname: 'dns.admin@example.org' },
    })
    expect(own).toMatchObject({
      nameservers: ['a.example.net', 'ns.example.org'],
      soa: { mname: 'a.example.net.', rname: 'dns\\.admin.example.org.' },
      record_count: 2,
    })
  })

  test('have names in Unicode and A-labels', async () => {
    const { acme } = await world()
    const zone = await createZone(acme, 'Bücher.example')
    expect(zone).toMatchObject({ name: 'xn--bcher-kva.example', unicode_name: 'bücher.example' })
    const found = await acme.call('GET', '/v1/dns/zones?name=xn--bcher-kva.example')
    expect(found.body.data.map((one: any) => one.id)).toEqual([zone.id])
  })

  test.each(['-a.example', 'a..example', '*.example', '.', 'a b.example', `${'x'.repeat(64)}.example`, 'exa$mple.com'])(
    'cannot be named %p',
    async name => {
      const { acme } = await world()
      const rejected = await acme.call('POST', '/v1/dns/zones', { name })
      expect(rejected.status).toBe(422)
      expect(rejected.body.errors[0].pointer).toBe('#/name')
      expect(rejected.body.errors[0].detail).toMatch(/RFC \d+ [\d.]+\)\.$/)
    },
  )

  test('can’t be named like an IP address', async () => {
    const { acme } = await world()
    for (const name of ['1.2.3.4', 'example.007']) {
      const { status, body } = await acme.call('POST', '/v1/dns/zones', { name })
      expect([status, body.errors[0].pointer, body.errors[0].detail]).toEqual([
        422,
        '#/name',
        expect.stringContaining('RFC 3696 2'),
      ])
    }
    for (const name of ['3.2.1.in-addr.arpa', '1.0.ip6.arpa', '123.example'])
      expect((await acme.call('POST', '/v1/dns/zones', { name })).status).toBe(201)
  })

  test('have unique names, and can’t be below zones of another workspace', async () => {
    const { acme, rival } = await world()
    await createZone(acme)
    for (const name of ['example.com', 'EXAMPLE.com.', 'dev.example.com']) {
      const rejected = await rival.call('POST', '/v1/dns/zones', { name })
      expect([rejected.status, rejected.body.code]).toEqual([409, 'already_exists'])
    }
    expect((await acme.call('POST', '/v1/dns/zones', { name: 'example.com' })).status).toBe(409)
    expect((await acme.call('POST', '/v1/dns/zones', { name: 'dev.example.com' })).status).toBe(201)
  })

  test('with one label are only for the operator', async () => {
    const { acme, rival } = await world()
    const rejected = await rival.call('POST', '/v1/dns/zones', { name: 'lan' })
    expect(rules(rejected)).toEqual([['#/name', expect.stringContaining('at least two labels')]])
    expect((await acme.call('POST', '/v1/dns/zones', { name: 'lan' })).status).toBe(201)
  })

  test('of other workspaces are not visible', async () => {
    const { acme, rival } = await world()
    const zone = await createZone(acme)
    const record = (await acme.call('GET', '/v1/dns/records')).body.data[0]
    for (const [method, path, body] of [
      ['GET', `/v1/dns/zones/${zone.id}`],
      ['PATCH', `/v1/dns/zones/${zone.id}`, { status: 'paused' }],
      ['DELETE', `/v1/dns/zones/${zone.id}`],
      ['GET', `/v1/dns/zones/${zone.id}/records`],
      ['POST', `/v1/dns/zones/${zone.id}/records`, { type: 'A', name: 'x', content: '192.0.2.1' }],
      ['PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets: [{ name: 'x', type: 'A', records: [] }] }],
      ['GET', `/v1/dns/records/${record.id}`],
      ['PATCH', `/v1/dns/records/${record.id}`, { ttl: 5 }],
      ['DELETE', `/v1/dns/records/${record.id}`],
    ] as const)
      expect([path, (await rival.call(method, path, body)).status]).toEqual([path, 404])
    expect((await rival.call('GET', '/v1/dns/records')).body.data).toEqual([])
    expect((await rival.call('GET', `/v1/dns/records?zone=${zone.id}`)).body.data).toEqual([])
  })

  test('can be updated and paused with a matching version', async () => {
    const { acme, audited } = await world()
    const zone = await createZone(acme)
    await audited()
    const path = `/v1/dns/zones/${zone.id}`
    const edit = { status: 'paused', default_ttl: 60, soa: { minimum: 30, rname: 'dns@example.net' } }
    const edited = await acme.call('PATCH', path, edit, { 'if-match': '"1"' })
    expect(edited.body).toMatchObject({
      status: 'paused',
      default_ttl: 60,
      soa: { mname: 'ns1.example.com.', minimum: 30, rname: 'dns.example.net.' },
      serial: 2,
      version: 2,
    })
    expect((await acme.call('PATCH', path, { default_ttl: null }, { 'if-match': '"1"' })).status).toBe(412)
    expect((await acme.call('PATCH', path, { default_ttl: null })).body.default_ttl).toBe(3600)
    expect(await audited()).toEqual(['dns.zone.update', 'dns.zone.update'])
  })

  test('are deleted with their records', async () => {
    const { acme, audited, emitted } = await world()
    const zone = await createZone(acme)
    await Promise.all([audited(), emitted()])
    expect((await acme.call('DELETE', `/v1/dns/zones/${zone.id}`)).status).toBe(204)
    expect((await acme.call('GET', '/v1/dns/records')).body.data).toEqual([])
    expect(await audited()).toEqual(['dns.zone.delete'])
    expect(await emitted()).toEqual(['dns.records_changed'])
    const [event] = (await acme.call('GET', '/v1/events?limit=1')).body.data
    expect(event.data).toMatchObject({
      change_count: 2,
      truncated: false,
      changes: [{ action: 'deleted' }, { action: 'deleted' }],
    })
  })

  test('and their records count toward the plan limits', async () => {
    const w = await world()
    await w.limit(w.rival.workspaceId, { dns_zones: 1, dns_records: 3 })
    const zone = await createZone(w.rival)
    const second = await w.rival.call('POST', '/v1/dns/zones', { name: 'example.net' })
    expect(second.body).toMatchObject({
      code: 'plan_limit_reached',
      detail:
        'Limit reached: the plan allows 1 DNS zone, and 1 is in use. Delete one first, or ask the operator for another plan.',
      limit: 'dns_zones',
      max: 1,
      used: 1,
    })
    const add = (name: string) =>
      w.rival.call('POST', `/v1/dns/zones/${zone.id}/records`, { type: 'A', name, content: '192.0.2.1' })
    expect((await add('a')).status).toBe(201)
    expect((await add('b')).body).toMatchObject({
      status: 403,
      code: 'plan_limit_reached',
      limit: 'dns_records',
      max: 3,
      used: 3,
    })
    const limits = (await w.rival.call('GET', '/v1/limits')).body.data
    expect(limits.find((one: any) => one.limit === 'dns_zones')).toMatchObject({ max: 1, used: 1, remaining: 0 })
  })

  test('a token restricted to a zone can only access it and its records', async () => {
    const w = await world()
    const [own, other] = [await createZone(w.acme), await createZone(w.acme, 'example.net')]
    const { token } = (
      await w.acme.call('POST', '/v1/tokens', { name: 'one zone', permissions: ['dns.write'], resource_ids: [own.id] })
    ).body
    const call = (method: string, path: string, body?: unknown) =>
      w.acme.call(method, path, body, { authorization: `Bearer ${token}` })
    expect((await call('GET', '/v1/dns/zones')).body.data.map((one: any) => one.id)).toEqual([own.id])
    const { data } = (await call('GET', '/v1/dns/records')).body
    expect(new Set(data.map((one: any) => one.zone_id))).toEqual(new Set([own.id]))
    expect((await call('GET', `/v1/dns/records?zone=${other.id}`)).body.data).toEqual([])
    expect((await call('PATCH', `/v1/dns/records/${data[0].id}`, { ttl: 60 })).status).toBe(200)
    const [foreign] = (await w.acme.call('GET', `/v1/dns/zones/${other.id}/records`)).body.data
    expect((await call('PATCH', `/v1/dns/records/${foreign.id}`, { ttl: 60 })).status).toBe(404)
    expect((await call('GET', `/v1/dns/zones/${other.id}`)).status).toBe(404)
    expect((await call('POST', '/v1/dns/zones', { name: 'example.org' })).status).toBe(403)
    const rrsets = [{ name: 'www', type: 'A', records: [{ content: '192.0.2.1' }] }]
    const into = (id: string) =>
      w.acme.call('POST', `/v1/dns/zones/${id}/import`, '@ 60 TXT x\n', {
        authorization: `Bearer ${token}`,
        'content-type': 'text/dns',
      })
    for (const [{ id }, status] of [
      [own, 200],
      [other, 404],
    ] as const) {
      for (const what of ['export', 'lint', 'records'])
        expect((await call('GET', `/v1/dns/zones/${id}/${what}`)).status).toBe(status)
      expect((await call('PUT', `/v1/dns/zones/${id}/rrsets`, { rrsets })).status).toBe(status)
      expect((await into(id)).status).toBe(status)
    }
    const bulk = { operations: [{ op: 'delete', id: foreign.id }] }
    expect((await call('POST', '/v1/dns/records/bulk', bulk)).status).toBe(403)
  })
})

describe('the published zone', () => {
  const published = async (w: World, id: string) => (await readPublishedZone(w.hub.read, id))!

  test('has the serial and the rrsets', async () => {
    const w = await world()
    const { id } = await createZone(w.acme)
    for (const content of ['192.0.2.1', '192.0.2.2'])
      await w.acme.call('POST', `/v1/dns/zones/${id}/records`, { type: 'A', name: 'www', content, ttl: 60 })
    const zone = await published(w, id)
    expect([zone.name, zone.serial]).toEqual(['example.com.', 3])
    expect(fieldsOf('SOA', zone.soa.rdata)).toMatchObject({ serial: 3, mname: 'ns1.example.com.', minimum: 300 })
    const www = zone.rrsets.find(one => one.name === 'www.example.com.')!
    expect(www).toMatchObject({ type: 'A', ttl: 60 })
    expect(www.rdata.map(one => [...one])).toEqual([
      [192, 0, 2, 1],
      [192, 0, 2, 2],
    ])
  })

  test('is updated on every change, by topic and change numbers', async () => {
    const w = await world()
    let woken = 0
    const stop = topicsOf(w.hub).on(zonesTopic, () => void woken++)
    const { id } = await createZone(w.acme)
    const other = await createZone(w.acme, 'example.net')
    const before = await lastZoneChange(w.hub.read)
    expect((await zoneChangesAfter(w.hub.read, 0)).map(one => one.name)).toEqual(['example.com.', 'example.net.'])
    await w.acme.call('PATCH', `/v1/dns/zones/${id}`, { status: 'paused' })
    await w.acme.call('DELETE', `/v1/dns/zones/${other.id}`)
    expect((await zoneChangesAfter(w.hub.read, before)).map(one => [one.number, one.zoneId])).toEqual([
      [before + 1, id],
      [before + 2, other.id],
    ])
    expect(woken).toBe(4)
    expect(await readPublishedZone(w.hub.read, id)).toBeNull()
    expect(await readPublishedZone(w.hub.read, other.id)).toBeNull()
    stop()
  })

  test('doesn’t change without a change', async () => {
    const w = await world()
    const { id } = await createZone(w.acme)
    const rrsets = [{ name: 'www', type: 'A', records: [{ content: '192.0.2.1' }] }]
    const put = () => w.acme.call('PUT', `/v1/dns/zones/${id}/rrsets`, { rrsets })
    expect((await put()).body).toMatchObject({ serial: 2, created: 1 })
    await w.emitted()
    expect((await put()).body).toMatchObject({ serial: 2, created: 0, updated: 0, deleted: 0 })
    expect(await w.emitted()).toEqual([])
  })
})

test('errors point to the invalid field of a zone', async () => {
  const { acme } = await world()
  const rejected = await acme.call('POST', '/v1/dns/zones', { name: 'example.com', soa: { mname: '*.example.com' } })
  expect(rules(rejected)).toEqual([['#/soa/mname', 'must be the hostname of a name server (RFC 1035 3.3.11).']])
  expect((await acme.call('POST', '/v1/dns/zones', { name: 'example.com', provider_id: 'cloudflare' })).body.errors).toEqual([
    { pointer: '#/provider_id', code: 'not_found', detail: 'must be a DNS provider of this workspace.' },
  ])
})

describe('lint reports nothing about', () => {
  const lint = async ({ acme }: World, id: string): Promise<string[]> =>
    (await acme.call('GET', `/v1/dns/zones/${id}/lint`)).body.findings.map((one: any) => `${one.rule} ${one.name}`)
  const add = (w: World, id: string, name: string, content: string, type = 'A') =>
    w.acme.call('POST', `/v1/dns/zones/${id}/records`, { type, name, content })

  test('a new zone, nor after an address is added', async () => {
    const w = await world()
    const { id } = await createZone(w.acme)
    expect(await lint(w, id)).toEqual([])
    await add(w, id, 'www', '192.0.2.1')
    expect(await lint(w, id)).toEqual([])
    // From here on, they are the user’s.
    await add(w, id, 'ns1', '192.168.1.2')
    expect(await lint(w, id)).toEqual(['private_address ns1', 'private_address ns1'])
  })

  test('a new zone with the name server of the installation', async () => {
    const w = await world({ BAILIWICK_DNS_NAMESERVERS: 'ns.example.com' })
    expect(await lint(w, (await createZone(w.acme)).id)).toEqual([])
    const other = await createZone(w.acme, 'example.org', { nameservers: ['ns.example.net'] })
    expect(await lint(w, other.id)).toEqual(['single_name_server @'])
  })

  test('private addresses in zones of a private network', async () => {
    const w = await world({ BAILIWICK_DNS_PRIVATE_ZONES: 'Corp.example.com' })
    const found: Record<string, string[]> = {}
    const names = [
      'lan',
      'office.lan',
      'home.arpa',
      'lab.internal',
      'printer.local',
      'a.test',
      'corp.example.com',
      'dev.corp.example.com',
    ]
    for (const name of [...names, 'example.com', 'notcorp.example.com', 'lan.example.net']) {
      const { id } = await createZone(w.acme, name)
      await add(w, id, 'nas', '192.168.1.10')
      await add(w, id, 'nas', 'fd00::10', 'AAAA')
      found[name] = await lint(w, id)
    }
    const both = ['private_address nas', 'private_address nas']
    expect(found).toEqual({
      ...Object.fromEntries(names.map(name => [name, []])),
      'example.com': both,
      'notcorp.example.com': both,
      'lan.example.net': both,
    })
  })
})

test('lint lists common mistakes', async () => {
  const { acme, rival } = await world()
  const { id } = await createZone(acme, 'example.com', { nameservers: ['ns1.example.net', 'ns2.example.net'] })
  const lint = async () => (await acme.call('GET', `/v1/dns/zones/${id}/lint`)).body
  expect(await lint()).toEqual({ zone_id: id, serial: 1, findings: [], truncated: false })
  await acme.call('POST', `/v1/dns/zones/${id}/records`, { type: 'CNAME', name: 'x', content: 'gone' })
  expect(await lint()).toMatchObject({
    serial: 2,
    findings: [{ rule: 'dangling_target', name: 'x', type: 'CNAME', reference: 'RFC 1912 2.4' }],
  })
  const rrsets = Array.from({ length: 1000 }, (_, n) => ({
    name: `x${n}`,
    type: 'A',
    ttl: 1,
    records: [{ content: '192.0.2.1' }],
  }))
  await acme.call('PUT', `/v1/dns/zones/${id}/rrsets`, { rrsets })
  const many = await lint()
  expect([many.findings.length, many.truncated]).toEqual([1000, true])
  expect((await rival.call('GET', `/v1/dns/zones/${id}/lint`)).status).toBe(404)
})
