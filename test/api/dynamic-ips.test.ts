import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { jobs as jobsTable } from '../../src/core/db/tables'
import { queueTargetRead, readDueTargets } from '../../src/features/dns/sync/sync-zone'
import { watchZones } from '../../src/features/dynamic-ips/watch'
import { hubAt } from '../support/hub-zone'
import { powerDnsDouble } from '../support/power-dns-double'
import { powerDnsDoubleUnderTest } from '../support/power-dns-double-under-test'
import { closeLater, world } from '../support/world'
import { createZone } from '../support/zones'
import { createSource, reportTo, sourceOf, recordsOf, codeOf, routerReports } from '../support/dynamic-ips'

describe('a source', () => {
  test('is created with its token, which is shown once', async () => {
    const w = await world()
    await createZone(w.acme)
    const created = await createSource(w, { tags: ['office'], stale_after_seconds: 3600 })
    expect(created).toMatchObject({
      status: 'new',
      ipv4: null,
      families: ['ipv4', 'ipv6'],
      ttl: 60,
      hosts: [{ name: 'office.example.com', mode: 'address', records: [], problem: null }],
    })
    expect(created.secret).toStartWith('bw_ddns_')
    const { secret, ...view } = created
    expect(await sourceOf(w, created.id)).toEqual(view)
    expect((await w.acme.call('GET', '/v1/dynamic-ips')).body.data).toEqual([view])
    expect((await w.acme.call('GET', '/v1/audit-events')).text).not.toContain(secret)
    for (const filter of [
      'host=office.example.com',
      `zone_id=${created.hosts[0].zone_id}`,
      'status=new',
      'q=router',
      'name=Office router',
      'tag=office',
    ])
      expect([filter, (await w.acme.call('GET', `/v1/dynamic-ips?${filter}`)).body.data.length]).toEqual([filter, 1])
    for (const filter of ['host=other.example.com', 'status=fresh', 'q=home'])
      expect([filter, (await w.acme.call('GET', `/v1/dynamic-ips?${filter}`)).body.data.length]).toEqual([filter, 0])
  })

  test('sets the records of its hosts in the transaction of a report, with one event and one serial', async () => {
    const w = await world()
    const zone = await createZone(w.acme)
    const { id } = await createSource(w, {
      hosts: [{ name: 'office.example.com' }, { name: 'vpn.example.com', ttl: 300, families: ['ipv4'] }],
    })
    await w.emitted()
    expect((await reportTo(w, id, { ipv4: '203.0.113.7', ipv6: '2001:DB8::7' })).body).toMatchObject({
      status: 'fresh',
      ipv4: '203.0.113.7',
      ipv6: '2001:db8::7',
      hosts: [
        {
          records: [
            { type: 'A', content: '203.0.113.7', ttl: 60, synced: true },
            { type: 'AAAA', content: '2001:db8::7' },
          ],
        },
        { records: [{ type: 'A', content: '203.0.113.7', ttl: 300 }] },
      ],
    })
    expect(await recordsOf(w, zone)).toEqual(
      expect.arrayContaining(['office A 203.0.113.7 dynamic', 'office AAAA 2001:db8::7 dynamic', 'vpn A 203.0.113.7 dynamic']),
    )
    expect((await w.emitted()).toSorted()).toEqual(['dns.records_changed', 'dynamic_ip.changed'])
    const events = (await w.acme.call('GET', '/v1/events')).body.data
    expect(events.find((one: any) => one.kind === 'dynamic_ip.changed').data).toMatchObject({
      previous_ipv4: null,
      ipv4: '203.0.113.7',
      hosts: ['office.example.com', 'vpn.example.com'],
    })
    expect(events.find((one: any) => one.kind === 'dns.records_changed').data).toMatchObject({
      origin: 'dynamic',
      change_count: 3,
    })
    // The records keep their ids, and a repeated report changes nothing.
    const before = await sourceOf(w, id)
    const { serial } = (await w.acme.call('GET', `/v1/dns/zones/${zone.id}`)).body
    expect((await reportTo(w, id, { ipv4: '203.0.113.7' })).body.version).toBe(before.version)
    expect((await w.acme.call('GET', `/v1/dns/zones/${zone.id}`)).body.serial).toBe(serial)
    expect(await w.emitted()).toEqual([])
    await reportTo(w, id, { ipv4: '203.0.113.8' })
    expect((await w.acme.call('GET', `/v1/dns/zones/${zone.id}`)).body.serial).toBe(serial + 1)
    const after = await sourceOf(w, id)
    expect(after.hosts[0].records[0]).toMatchObject({ record_id: before.hosts[0].records[0].record_id, content: '203.0.113.8' })
    // The other family stays, unless it is removed.
    expect(after.ipv6).toBe('2001:db8::7')
    await reportTo(w, id, { ipv6: null })
    expect(await recordsOf(w, zone)).not.toContain('office AAAA 2001:db8::7 dynamic')
    const history = (await w.acme.call('GET', `/v1/dynamic-ips/${id}/updates`)).body.data
    expect(history.map((one: any) => [one.changed, one.ipv4, one.ipv6])).toEqual([
      [true, '203.0.113.8', null],
      [true, '203.0.113.8', '2001:db8::7'],
      [true, '203.0.113.7', '2001:db8::7'],
    ])
  })

  test('derives addresses of other hosts from the prefix', async () => {
    const w = await world()
    const zone = await createZone(w.acme)
    const { id } = await createSource(w, {
      hosts: [
        { name: 'router.example.com' },
        { name: 'nas.example.com', mode: 'prefix', suffix6: '0:0:0:1::10' },
        { name: 'tv.example.com', mode: 'prefix', suffix6: '02:00:5e:10:00:01' },
      ],
    })
    await reportTo(w, id, { ipv6: '2001:db8:1:100::1', prefix6: '2001:db8:1:100::/56' })
    expect((await recordsOf(w, zone)).filter((one: string) => one.includes('AAAA')).toSorted()).toEqual([
      'nas AAAA 2001:db8:1:101::10 dynamic',
      'router AAAA 2001:db8:1:100::1 dynamic',
      'tv AAAA 2001:db8:1:100:0:5eff:fe10:1 dynamic',
    ])
    const { serial } = (await w.acme.call('GET', `/v1/dns/zones/${zone.id}`)).body
    await reportTo(w, id, { ipv6: '2001:db8:2:200::1', prefix6: '2001:db8:2:200::/56' })
    expect((await w.acme.call('GET', `/v1/dns/zones/${zone.id}`)).body.serial).toBe(serial + 1)
    // A suffix with bits inside of a longer prefix fails alone.
    await reportTo(w, id, { prefix6: '2001:db8:3:300::/64' })
    const hosts = (await sourceOf(w, id)).hosts
    expect(hosts.map((one: any) => one.problem?.code ?? null)).toEqual([null, 'suffix_too_long', null])
    expect(hosts[2].records[0].content).toBe('2001:db8:3:300:0:5eff:fe10:1')
    const derived = await createSource(w, { name: 'Modem', hosts: [], prefix_from_ipv6: 56 })
    expect((await reportTo(w, derived.id, { ipv6: '2001:db8:4:456::1' })).body.prefix6).toBe('2001:db8:4:400::/56')
  })

  test('stores reports while paused, and sets the records when resumed', async () => {
    const w = await world()
    const zone = await createZone(w.acme)
    const { id } = await createSource(w)
    await reportTo(w, id, { ipv4: '203.0.113.7' })
    expect((await w.acme.call('POST', `/v1/dynamic-ips/${id}/pause`)).body.status).toBe('paused')
    expect((await reportTo(w, id, { ipv4: '203.0.113.8' })).body).toMatchObject({ status: 'paused', ipv4: '203.0.113.8' })
    expect(await recordsOf(w, zone)).toContain('office A 203.0.113.7 dynamic')
    expect((await w.acme.call('POST', `/v1/dynamic-ips/${id}/resume`)).body.hosts[0].records[0].content).toBe('203.0.113.8')
    expect(await recordsOf(w, zone)).toContain('office A 203.0.113.8 dynamic')
  })

  test('can be updated, which sets and releases records', async () => {
    const w = await world()
    const zone = await createZone(w.acme)
    const { id } = await createSource(w)
    await reportTo(w, id, { ipv4: '203.0.113.7', ipv6: '2001:db8::7' })
    const update = (body: object) => w.acme.call('PATCH', `/v1/dynamic-ips/${id}`, body)
    expect((await update({ ttl: 120 })).body.hosts[0].records[0].ttl).toBe(120)
    const moved = (await update({ hosts: [{ name: 'home.example.com', families: ['ipv4'] }] })).body
    expect(moved.hosts).toMatchObject([{ name: 'home.example.com', records: [{ type: 'A', content: '203.0.113.7' }] }])
    expect(await recordsOf(w, zone)).toEqual(
      expect.arrayContaining(['home A 203.0.113.7 dynamic', 'office A 203.0.113.7 manual', 'office AAAA 2001:db8::7 manual']),
    )
    expect((await update({ hosts: [{ name: 'home.example.com', families: ['ipv4'] }] })).body.version).toBe(moved.version)
    expect((await update({ families: ['ipv6'] })).body.hosts[0].records).toEqual([])
    expect(await recordsOf(w, zone)).toContain('home A 203.0.113.7 manual')
  })

  test('leaves or deletes its records when it is deleted', async () => {
    const w = await world()
    const zone = await createZone(w.acme)
    const first = await createSource(w)
    await reportTo(w, first.id, { ipv4: '203.0.113.7' })
    expect((await w.acme.call('DELETE', `/v1/dynamic-ips/${first.id}`)).status).toBe(204)
    expect(await recordsOf(w, zone)).toContain('office A 203.0.113.7 manual')
    expect(
      codeOf(await w.acme.call('POST', '/v1/dynamic-ips', { name: 'again', hosts: [{ name: 'office.example.com' }] })),
    ).toEqual([409, 'record_exists', '#/hosts/0/name'])
    const second = await createSource(w, { hosts: [{ name: 'office.example.com', adopt: true }] })
    expect(await recordsOf(w, zone)).toContain('office A 203.0.113.7 manual')
    await reportTo(w, second.id, { ipv4: '203.0.113.8' })
    expect(await recordsOf(w, zone)).toContain('office A 203.0.113.8 dynamic')
    expect((await w.acme.call('DELETE', `/v1/dynamic-ips/${second.id}?records=delete`)).status).toBe(204)
    expect((await recordsOf(w, zone)).some((one: string) => one.startsWith('office '))).toBe(false)
  })

  test('has a token that can be rotated and revoked', async () => {
    const w = await world()
    const { id, secret } = await createSource(w, { hosts: [] })
    const rotated = (await w.acme.call('POST', `/v1/dynamic-ips/${id}/rotate-token`, { grace_seconds: 60 })).body
    expect(rotated.secret).not.toBe(secret)
    expect(rotated.token.previous_valid_until).toBe(new Date(w.clock.now() + 60_000).toISOString())
    await w.advance(61_000)
    expect((await sourceOf(w, id)).token.previous_valid_until).toBeNull()
    expect((await w.acme.call('POST', `/v1/dynamic-ips/${id}/revoke-token`)).body.token).toMatchObject({
      hint: null,
      created_at: null,
    })
  })
})

describe('records of a source', () => {
  test('can’t be changed otherwise, apart from their TTL and metadata', async () => {
    const w = await world()
    const zone = await createZone(w.acme)
    const { id } = await createSource(w)
    await reportTo(w, id, { ipv4: '203.0.113.7' })
    const [record] = (await w.acme.call('GET', `/v1/dns/zones/${zone.id}/records?source=dynamic`)).body.data
    expect(record).toMatchObject({ name: 'office', dynamic_ip_id: id })
    const path = `/v1/dns/records/${record.id}`
    for (const response of [
      await w.acme.call('PATCH', path, { content: '203.0.113.9' }),
      await w.acme.call('DELETE', path),
      await w.acme.call('POST', `/v1/dns/zones/${zone.id}/records`, {
        type: 'A',
        name: 'office',
        content: '203.0.113.9',
        ttl: 60,
      }),
      await w.acme.call('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets: [{ name: 'office', type: 'A', records: [] }] }),
    ])
      expect([response.status, response.body.code, response.body.dynamic_ip_id]).toEqual([409, 'record_driven', id])
    expect((await w.acme.call('PATCH', path, { ttl: 600, comment: 'router' })).body).toMatchObject({
      ttl: 600,
      comment: 'router',
    })
    // The next report keeps the TTL that was set manually.
    await reportTo(w, id, { ipv4: '203.0.113.8' })
    expect((await w.acme.call('GET', path)).body).toMatchObject({ ttl: 600, comment: 'router', content: '203.0.113.8' })
    // A whole zone file leaves them as they are.
    const file = '$ORIGIN example.com.\n@ 3600 IN NS ns1.example.com.\noffice 60 IN A 192.0.2.1\n'
    const imported = await w.acme.call('POST', `/v1/dns/zones/${zone.id}/import?mode=replace`, file, {
      'content-type': 'text/dns',
    })
    expect([imported.status, imported.body.code]).toEqual([200, undefined])
    expect(await recordsOf(w, zone)).toContain('office A 203.0.113.8 dynamic')
  })

  test('that can’t be set are a problem of their host, and don’t keep the others back', async () => {
    const w = await world()
    await createZone(w.acme)
    const gone = await createZone(w.acme, 'example.net')
    const { id } = await createSource(w, {
      hosts: [{ name: 'office.example.com' }, { name: 'office.example.net' }, { name: 'lab.example.com' }],
    })
    const [zone] = (await w.acme.call('GET', '/v1/dns/zones?name=example.com')).body.data
    await w.acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { type: 'A', name: 'lab', content: '192.0.2.1' })
    await w.acme.call('DELETE', `/v1/dns/zones/${gone.id}`)
    expect(
      (await reportTo(w, id, { ipv4: '203.0.113.7' })).body.hosts.map((one: any) => one.problem?.code ?? one.records[0].content),
    ).toEqual(['203.0.113.7', 'zone_gone', 'record_exists'])
    expect((await w.acme.call('GET', '/v1/notices')).body.data.map((one: any) => one.kind)).toEqual([
      'dynamic_ip.host_failed',
      'dynamic_ip.host_failed',
    ])
    // They are tried again.
    await createZone(w.acme, 'example.net')
    const [record] = (await w.acme.call('GET', `/v1/dns/zones/${zone.id}/records?name=lab`)).body.data
    await w.acme.call('DELETE', `/v1/dns/records/${record.id}`)
    await w.advance(61_000)
    expect((await sourceOf(w, id)).hosts.map((one: any) => one.records[0]?.content)).toEqual([
      '203.0.113.7',
      '203.0.113.7',
      '203.0.113.7',
    ])
  })
})

test('zones at providers follow, also if the provider is unavailable when the router reports', async () => {
  const w = await world()
  const double = powerDnsDouble()
  closeLater(async () => void (await double.stop()))
  const under = powerDnsDoubleUnderTest(double)
  const elsewhere = await (await hubAt(under, w))()
  await createZone(w.acme)
  const gone = await createZone(w.acme, 'example.net')
  const names = ['office.example.com', `office.${elsewhere.name}`, 'office.example.net']
  const { id, secret } = await createSource(w, { hosts: names.map(name => ({ name })) })
  await w.acme.call('DELETE', `/v1/dns/zones/${gone.id}`)
  expect(await routerReports(w, secret, '203.0.113.7')).toBe('200 good 203.0.113.7\ngood 203.0.113.7\ndnserr')
  await w.settle()
  expect((await elsewhere.atServer()).some(one => one.includes('203.0.113.7'))).toBe(true)
  const recordAt = async () => (await sourceOf(w, id)).hosts[1].records[0]
  expect(await recordAt()).toMatchObject({ content: '203.0.113.7', synced: true })
  double.trouble = () => ({ status: 500 })
  expect(await routerReports(w, secret, '203.0.113.8')).toBe('200 good 203.0.113.8\ngood 203.0.113.8\ndnserr')
  await w.settle()
  expect(await recordAt()).toMatchObject({ content: '203.0.113.8', synced: false })
  double.trouble = () => null
  await w.advance(900_000)
  await readDueTargets(w.hub)
  await w.settle()
  expect(await recordAt()).toMatchObject({ content: '203.0.113.8', synced: true })
  expect((await elsewhere.atServer()).some(one => one.includes('203.0.113.8'))).toBe(true)
  // A change of the record at the provider is reverted, whatever the policy of the zone is.
  await under.changeExternally(elsewhere.name, 'office', 'A', 60, ['192.0.2.66'])
  await w.advance(2 * w.hub.config.dnsPollSeconds * 1000)
  await readDueTargets(w.hub)
  await w.settle()
  expect((await elsewhere.atServer()).filter(one => one.startsWith('office ')).join()).toContain('203.0.113.8')
  // If it is changed again and again, it is left alone, and reported.
  for (let n = 67; n < 71; n++) {
    await under.changeExternally(elsewhere.name, 'office', 'A', 60, [`192.0.2.${n}`])
    await queueTargetRead(w.hub, elsewhere.name)
    await w.settle()
  }
  expect((await elsewhere.atServer()).filter(one => one.startsWith('office ')).join()).toContain('192.0.2.70')
  const notices = (await w.acme.call('GET', '/v1/notices')).body.data.map((one: any) => one.kind)
  expect(notices).toContain('dns_zone.edit_war')
})

test('a zone that is deleted and created again gets its records back without a new address', async () => {
  const w = await world()
  const zone = await createZone(w.acme)
  const { id, secret } = await createSource(w)
  await routerReports(w, secret, '203.0.113.7')
  await w.acme.call('DELETE', `/v1/dns/zones/${zone.id}`)
  await watchZones(w.hub)
  await w.settle()
  expect((await sourceOf(w, id)).hosts[0].problem.code).toBe('zone_gone')
  // There is one job for another attempt, however often it was tried.
  for (let n = 0; n < 3; n++) {
    await reportTo(w, id, { ipv4: `203.0.113.${n + 10}` })
    await w.advance(3_600_000)
  }
  const jobs = await w.hub.read
    .select({ kind: jobsTable.kind })
    .from(jobsTable)
    .where(eq(jobsTable.kind, 'dynamic-ips.retry-hosts'))
  expect(jobs).toHaveLength(1)
  const again = await createZone(w.acme)
  await w.advance(3_600_000)
  expect(await recordsOf(w, again)).toContain('office A 203.0.113.12 dynamic')
})

test('at the limit of the plan, records are updated, and created as far as they fit', async () => {
  const w = await world()
  const zone = await createZone(w.acme)
  const { record_count: used } = (await w.acme.call('GET', `/v1/dns/zones/${zone.id}`)).body
  const { id, secret } = await createSource(w, { hosts: ['a', 'b', 'c'].map(name => ({ name: `${name}.example.com` })) })
  await routerReports(w, secret, '203.0.113.7')
  await w.limit(w.acme.workspaceId, { dns_records: used + 4 })
  await routerReports(w, secret, '203.0.113.8,2001:db8::8')
  const { hosts } = await sourceOf(w, id)
  expect(hosts.map((one: any) => one.records.map((record: any) => record.content))).toEqual([
    ['203.0.113.8', '2001:db8::8'],
    ['203.0.113.8'],
    ['203.0.113.8'],
  ])
  expect(hosts.map((one: any) => one.problem?.code)).toEqual([undefined, 'plan_limit_reached', 'plan_limit_reached'])
})

test('a family that is no longer reported is forgotten, and an update without a change is none', async () => {
  const w = await world()
  const zone = await createZone(w.acme)
  const { id } = await createSource(w)
  await reportTo(w, id, { ipv4: '203.0.113.7', ipv6: '2001:db8::7', prefix6: '2001:db8::/56' })
  const update = async (body: object) => (await w.acme.call('PATCH', `/v1/dynamic-ips/${id}`, body)).body
  expect(await update({ families: ['ipv4'] })).toMatchObject({ ipv4: '203.0.113.7', ipv6: null, prefix6: null })
  const [record] = (await w.acme.call('GET', `/v1/dns/zones/${zone.id}/records?source=dynamic`)).body.data
  await w.acme.call('PATCH', `/v1/dns/records/${record.id}`, { ttl: 600 })
  await w.audited()
  await w.emitted()
  expect((await update({ ttl: 60, hosts: [{ name: 'office.example.com' }] })).hosts[0].records[0].ttl).toBe(600)
  expect([await w.audited(), await w.emitted()]).toEqual([[], []])
  expect((await update({ ttl: 90 })).hosts[0].records[0].ttl).toBe(90)
})

test('replacing and deleting records that others created requires access to DNS', async () => {
  const w = await world()
  await createZone(w.acme)
  const caller = await w.scoped('dynamic_ip.write')
  const hosts = [{ name: 'office.example.com', adopt: true }]
  expect((await caller.call('POST', '/v1/dynamic-ips', { name: 'x', hosts })).body.required_permission).toBe('dns.write')
  const { body } = await caller.call('POST', '/v1/dynamic-ips', { name: 'x', hosts: [{ name: 'office.example.com' }] })
  expect((await caller.call('PATCH', `/v1/dynamic-ips/${body.id}`, { hosts })).body.required_permission).toBe('dns.write')
  expect((await caller.call('DELETE', `/v1/dynamic-ips/${body.id}?records=delete`)).body.required_permission).toBe('dns.write')
  expect((await caller.call('DELETE', `/v1/dynamic-ips/${body.id}`)).status).toBe(204)
})

test('other workspaces and read-only callers can’t change a source', async () => {
  const w = await world()
  const { id } = await createSource(w, { hosts: [] })
  expect((await w.rival.call('GET', `/v1/dynamic-ips/${id}`)).status).toBe(404)
  expect((await w.readOnly.call('GET', `/v1/dynamic-ips/${id}`)).status).toBe(200)
  for (const verb of ['pause', 'resume', 'rotate-token', 'revoke-token'])
    expect([verb, (await w.readOnly.call('POST', `/v1/dynamic-ips/${id}/${verb}`, {})).status]).toEqual([verb, 403])
  const rival = await createZone(w.rival, 'rival.example')
  expect(codeOf(await w.acme.call('POST', '/v1/dynamic-ips', { name: 'x', hosts: [{ name: 'a.rival.example' }] }))).toEqual([
    422,
    'not_found',
    '#/hosts/0/name',
  ])
  expect(
    codeOf(await w.acme.call('POST', '/v1/dynamic-ips', { name: 'x', hosts: [{ name: 'a.rival.example', zone_id: rival.id }] })),
  ).toEqual([422, 'not_found', '#/hosts/0/zone_id'])
})

test('invalid sources are rejected, naming the field', async () => {
  const w = await world()
  const zone = await createZone(w.acme)
  await createSource(w)
  await w.acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { type: 'CNAME', name: 'alias', content: 'www.example.net.' })
  const create = async (input: object) => codeOf(await w.acme.call('POST', '/v1/dynamic-ips', { name: 'Home', ...input }))
  expect(await create({ name: 'Office router' })).toEqual([409, 'already_exists', '#/name'])
  expect(await create({ hosts: [{ name: 'office.example.com' }] })).toEqual([409, 'already_driven', '#/hosts/0/name'])
  expect(await create({ hosts: [{ name: 'alias.example.com' }] })).toEqual([422, 'dns_rule', '#/hosts/0/name'])
  expect(await create({ hosts: [{ name: 'a.example.org' }] })).toEqual([422, 'not_found', '#/hosts/0/name'])
  expect(await create({ hosts: [{ name: 'a..b' }] })).toEqual([422, 'format', '#/hosts/0/name'])
  expect(await create({ hosts: [{ name: 'a.example.com', zone_id: 'zone_x' }] })).toEqual([422, 'not_found', '#/hosts/0/zone_id'])
  expect(await create({ hosts: [{ name: 'a.example.com' }, { name: 'A.example.com.' }] })).toEqual([
    422,
    'not_unique',
    '#/hosts/1/name',
  ])
  expect(await create({ hosts: [{ name: 'a.example.com', mode: 'prefix' }] })).toEqual([422, 'required', '#/hosts/0/suffix6'])
  expect(await create({ hosts: [{ name: 'a.example.com', mode: 'prefix', suffix6: 'x' }] })).toEqual([
    422,
    'format',
    '#/hosts/0/suffix6',
  ])
  expect(await create({ hosts: [{ name: 'a.example.com', suffix6: '::1' }] })).toEqual([422, 'not_allowed', '#/hosts/0/suffix6'])
  expect(await create({ families: ['ipv4'], hosts: [{ name: 'a.example.com', mode: 'prefix', suffix6: '::1' }] })).toEqual([
    422,
    'not_allowed',
    '#/hosts/0/mode',
  ])
  expect(await create({ allowed_cidrs: ['192.0.2.0/33'] })).toEqual([422, 'format', '#/allowed_cidrs/0'])
  expect(await create({ hosts: Array.from({ length: 101 }, (_, n) => ({ name: `h${n}.example.com` })) })).toMatchObject([
    422,
    expect.anything(),
    '#/hosts',
  ])
  expect(await create({ hosts: [{ name: '*.example.com' }] })).toEqual([201, undefined, undefined])
  const { id } = await createSource(w, { name: 'Other', hosts: [], families: ['ipv4'] })
  const report = async (body: object) => codeOf(await reportTo(w, id, body))
  expect(await report({ ipv4: '2001:db8::1' })).toEqual([422, 'format', '#/ipv4'])
  expect(await report({ ipv4: '127.0.0.1' })).toEqual([422, 'format', '#/ipv4'])
  expect(await report({ ipv4: '192.168.1.1' })).toEqual([422, 'not_allowed', '#/ipv4'])
  expect(await report({ ipv6: '2001:db8::1' })).toEqual([422, 'not_allowed', '#/ipv6'])
  expect(await report({ prefix6: '2001:db8::/32' })).toEqual([422, 'format', '#/prefix6'])
})
