import { afterEach, expect, test } from 'bun:test'
import { count } from 'drizzle-orm'
import { encodeMessage } from '../../src/dns/message-encode'
import { message } from '../../src/dns/message'
import { expireRecords } from '../../src/features/dns/records/expiry'
import { dnsChangesetRrsets, dnsChangesets } from '../../src/features/dns/history/tables'
import { readZoneSnapshot } from '../../src/features/dns/publish/zone-snapshot'
import { dnsRecordMarks, dnsRecords, dnsRrsets } from '../../src/features/dns/records/tables'
import { readPublishedZone } from '../support/published-zone'
import { scriptedServer, type ScriptedServer } from '../support/scripted-server'
import { Worker } from '../../src/core/jobs/worker'
import { jobKinds } from '../../src/hub/jobs'
import { world, type World } from '../support/world'
import { createZone } from '../support/zones'

// A deleted zone is deleted immediately, but its rows are deleted later: here, when `cleared` is called.
async function withoutCleanup(env: Record<string, string> = {}) {
  const w = await world(env)
  await w.worker.stop(5000)
  const cleared = async () => {
    const worker = new Worker(w.hub, jobKinds)
    await worker.idle()
    await worker.stop(5000)
  }
  return { ...w, cleared }
}

const resolvers: ScriptedServer[] = []
afterEach(() => resolvers.splice(0).forEach(one => one.stop()))

const add = (w: World, zoneId: string, name: string, more: object = {}) =>
  w.acme.call('POST', `/v1/dns/zones/${zoneId}/records`, { type: 'A', name, content: '192.0.2.1', ...more })
const listed = async (w: World, query: string) => (await w.acme.call('GET', `/v1/dns/records?${query}`)).body
const remaining = async (w: World) =>
  await Promise.all(
    [dnsRecords, dnsRrsets, dnsRecordMarks, dnsChangesets, dnsChangesetRrsets].map(
      async table => (await w.hub.read.select({ n: count() }).from(table))[0]!.n,
    ),
  )

test('records of a deleted zone are not listed, counted or found', async () => {
  const w = await withoutCleanup()
  const [kept, deleted] = [await createZone(w.acme, 'example.net'), await createZone(w.acme)]
  const members = { tags: ['web'], locked: true }
  const old = (await add(w, deleted.id, 'www', members)).body
  await add(w, kept.id, 'www', members)
  for (let n = 0; n < 30; n++) await add(w, deleted.id, `host-${n}`, members)
  const before = await remaining(w)
  expect((await w.acme.call('DELETE', `/v1/dns/zones/${deleted.id}`)).status).toBe(204)
  expect(await remaining(w)).toEqual(before)
  for (const query of [
    'name=www',
    'name=w*',
    'name=*.none',
    'type=A&sort=name',
    'content=192.0.2.1',
    'content=192.0*',
    'q=www',
    'q=192*',
    'source=api',
    'updated_since=2020-01-01T00:00:00Z',
    'tag=web',
    'locked=true',
    'locked=false',
    'synced=true',
    'synced=false',
    'state=synced',
    '',
  ]) {
    const page = await listed(w, `${query}&include=total&limit=5`)
    expect([query, page.data.filter((one: any) => one.zone_id !== kept.id)]).toEqual([query, []])
    expect([query, page.pagination]).toEqual([query, { has_more: false, next_cursor: null, total: page.data.length }])
  }
  expect((await listed(w, 'tag=web')).data).toHaveLength(1)
  for (const zone of [deleted.id, 'example.com']) expect((await listed(w, `zone=${zone}&include=total`)).pagination.total).toBe(0)
  for (const [method, body] of [['GET'], ['PATCH', { ttl: 60 }], ['DELETE']] as const)
    expect((await w.acme.call(method, `/v1/dns/records/${old.id}`, body)).status).toBe(404)
  for (const path of ['records', 'export', 'export?format=json', 'lint', 'history', 'diff'])
    expect((await w.acme.call('GET', `/v1/dns/zones/${deleted.id}/${path}`)).status).toBe(404)
  expect([await readPublishedZone(w.hub.read, deleted.id), await readZoneSnapshot(w.hub.read, deleted.id)]).toEqual([null, null])
})

test('a new zone with the name of a deleted one starts empty and counts only its own records', async () => {
  const w = await withoutCleanup()
  await w.limit(w.acme.workspaceId, { dns_zones: 1, dns_records: 3 })
  const deleted = await createZone(w.acme)
  await add(w, deleted.id, 'www')
  await w.acme.call('DELETE', `/v1/dns/zones/${deleted.id}`)
  const zone = await createZone(w.acme)
  expect(zone).toMatchObject({ record_count: 2, serial: 1, version: 1 })
  expect((await add(w, zone.id, 'www')).status).toBe(201)
  expect((await add(w, zone.id, 'mail')).body).toMatchObject({ code: 'plan_limit_reached', used: 3 })
  const limits = (await w.acme.call('GET', '/v1/limits')).body.data
  expect(limits.find((one: any) => one.limit === 'dns_zones').used).toBe(1)
  const seen = await readPublishedZone(w.hub.read, zone.id)
  await w.cleared()
  // The cleanup deletes only rows of the deleted zone.
  expect(await readPublishedZone(w.hub.read, zone.id)).toEqual(seen)
  expect(await remaining(w)).toEqual([3, 3, 0, 2, 3])
  await w.acme.call('DELETE', `/v1/dns/zones/${zone.id}`)
  await w.cleared()
  expect(await remaining(w)).toEqual([0, 0, 0, 0, 0])
})

test('records of a deleted zone don’t expire, and don’t delay the expiry of others', async () => {
  const w = await withoutCleanup()
  const end = { expires_at: new Date(w.clock.now() + 60_000).toISOString() }
  for (let n = 0; n < 3; n++) {
    const { id } = await createZone(w.acme, `z${n}.example`)
    await add(w, id, 'brief', end)
    await w.acme.call('DELETE', `/v1/dns/zones/${id}`)
  }
  const kept = await createZone(w.acme)
  await add(w, kept.id, 'brief', end)
  await Promise.all([w.audited(), w.emitted()])
  w.clock.advance(60_000)
  await expireRecords(w.hub, 1)
  expect(await w.audited()).toEqual(['dns.records.expire'])
  expect(await w.emitted()).toEqual(['dns.records_changed'])
  expect((await listed(w, 'name=brief')).data).toEqual([])
})

test('ALIAS targets of a deleted zone are not resolved', async () => {
  const requests: string[] = []
  const server = await scriptedServer(({ message: { id, flags, question } }) => {
    requests.push(question[0]!.name)
    return [encodeMessage({ ...message({ id, question }), flags: { ...flags, qr: true, ra: true } })]
  })
  resolvers.push(server)
  const w = await withoutCleanup({ BAILIWICK_DNS_RESOLVERS: `127.0.0.1:${server.port}` })
  const zone = await createZone(w.acme)
  const alias = await add(w, zone.id, '@', { type: 'ALIAS', content: 'cdn.far.test.' })
  expect(alias.status).toBe(201)
  await w.acme.call('DELETE', `/v1/dns/zones/${zone.id}`)
  await w.cleared()
  expect(requests).toEqual([])
  expect(await remaining(w)).toEqual([0, 0, 0, 0, 0])
})
