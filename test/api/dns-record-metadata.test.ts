import { afterAll, expect, test } from 'bun:test'
import { expireRecords } from '../../src/features/dns/records/expiry'
import { hostedZone } from '../support/hosted-zone'
import { powerDnsDouble } from '../support/power-dns-double'
import { world } from '../support/world'
import { createZone } from '../support/zones'

const double = powerDnsDouble()
afterAll(() => double.stop())

async function scene() {
  const w = await world()
  const zone = await createZone(w.acme)
  await Promise.all([w.audited(), w.emitted()])
  const add = (name: string, content: string, more: object = {}) =>
    w.acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { type: 'A', name, content, ...more })
  const put = (...rrsets: object[]) => w.acme.call('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets })
  const patch = (id: string, body: object) => w.acme.call('PATCH', `/v1/dns/records/${id}`, body)
  const names = async (query: string) =>
    (await w.acme.call('GET', `/v1/dns/records?${query}`)).body.data.map((one: any) => `${one.name} ${one.content}`)
  const serial = async () => (await w.acme.call('GET', `/v1/dns/zones/${zone.id}`)).body.serial
  const later = (ms: number) => new Date(w.clock.now() + ms).toISOString()
  return { ...w, zone, add, put, patch, names, serial, later }
}

const errors = (answer: { body: any }) => answer.body.errors.map((one: any) => [one.pointer, one.code])

test('a record has tags, a lock and an expiry, which don’t affect DNS answers', async () => {
  const { add, patch, serial, later, audited, emitted } = await scene()
  const created = (await add('www', '192.0.2.1')).body
  expect(created).toMatchObject({ managed: true, locked: false, tags: [], comment: '', expires_at: null })
  const at = await serial()
  await Promise.all([audited(), emitted()])
  const metadata = { tags: ['web', 'prod'], locked: true, expires_at: later(120_000), comment: 'front' }
  const edited = await patch(created.id, metadata)
  expect(edited.body).toMatchObject({ ...metadata, version: 2 })
  expect(await serial()).toBe(at)
  expect(await audited()).toEqual(['dns.record.update'])
  expect(await emitted()).toEqual([])
  const again = await patch(created.id, { ...metadata, locked: true })
  expect(again.body).toEqual(edited.body)
  const cleared = await patch(created.id, { tags: null, locked: null, expires_at: null, comment: null })
  expect(cleared.body).toMatchObject({ tags: [], locked: false, expires_at: null, comment: '', version: 3 })
})

test('metadata is shared by all records of a name and type, and moves with a renamed record', async () => {
  const { add, put, patch, names } = await scene()
  const one = (await add('www', '192.0.2.1', { tags: ['web'] })).body
  const two = (await add('www', '192.0.2.2')).body
  expect(two.tags).toEqual(['web'])
  expect(await names('tag=web&sort=id')).toEqual(['www 192.0.2.1', 'www 192.0.2.2'])
  expect((await patch(one.id, { name: 'web', ttl: 60 })).body).toMatchObject({ name: 'web', ttl: 60, tags: ['web'] })
  await put({ name: 'www', type: 'A', tags: [], records: [{ content: '192.0.2.2' }, { content: '192.0.2.3' }] })
  expect(await names('tag=web')).toEqual(['web 192.0.2.1'])
  await put({ name: 'web', type: 'A', records: [{ content: '192.0.2.1' }, { content: '192.0.2.4' }] })
  expect(await names('tag=web&sort=id')).toEqual(['web 192.0.2.1', 'web 192.0.2.4'])
})

test('locked records can only be changed by a PATCH that includes the lock', async () => {
  const { acme, zone, add, put, patch, serial, audited } = await scene()
  const locked = (await add('www', '192.0.2.1', { locked: true })).body
  const at = await serial()
  await audited()
  const rejected = [
    await add('www', '192.0.2.2'),
    await patch(locked.id, { ttl: 60 }),
    await patch(locked.id, { comment: 'x' }),
    await patch(locked.id, { name: 'web' }),
    await acme.call('DELETE', `/v1/dns/records/${locked.id}`),
    await put({ name: 'www', type: 'A', records: [] }),
    await put({ name: 'www', type: 'A', locked: false, records: [{ content: '192.0.2.1' }] }),
    await put(
      { name: 'a', type: 'A', records: [{ content: '192.0.2.1' }] },
      { name: 'www', type: 'A', ttl: 1, records: [{ content: '192.0.2.1' }] },
    ),
    await acme.call('POST', `/v1/dns/zones/${zone.id}/import?mode=replace`, '@ 60 IN NS ns1\nns1 60 IN A 192.0.2.53\n', {
      'content-type': 'text/dns',
    }),
    await acme.call('POST', `/v1/dns/zones/${zone.id}/import?mode=merge`, '\nwww 60 IN A 192.0.2.9\n', {
      'content-type': 'text/dns',
    }),
  ]
  expect(rejected.map(one => [one.status, ...errors(one)[0]!])).toEqual([
    ...['#', '#', '#', '#', '#', '#/rrsets/0', '#/rrsets/0', '#/rrsets/1', '#', '#/lines/2'].map(at => [422, at, 'locked']),
  ] as never)
  expect(rejected[0]!.body.detail).toContain('A records of www')
  // The audit log has the rejected requests.
  expect((await audited()).every(action => action.endsWith(' failure'))).toBe(true)
  expect(await serial()).toBe(at)

  // Unchanged records are not a change.
  expect((await put({ name: 'www', type: 'A', records: [{ content: '192.0.2.1' }] })).body).toMatchObject({
    serial: at,
    updated: 0,
  })
  expect((await patch(locked.id, { locked: true, content: '192.0.2.7' })).body).toMatchObject({
    content: '192.0.2.7',
    locked: true,
  })
  expect((await patch(locked.id, { locked: true, name: 'web' })).body).toMatchObject({ name: 'web', locked: true })
  expect((await patch(locked.id, { locked: false })).body.locked).toBe(false)
  expect((await acme.call('DELETE', `/v1/dns/records/${locked.id}`)).status).toBe(204)
})

test('expired records are deleted exactly once, by the system', async () => {
  const { hub, acme, zone, add, patch, names, clock, later, audited, emitted } = await scene()
  await add('brief', '192.0.2.1', { expires_at: later(60_000), locked: true })
  await add('brief', '192.0.2.2', { locked: true }).then(one => expect(one.status).toBe(422))
  const kept = (await add('kept', '192.0.2.3', { expires_at: later(60_000) })).body
  await patch(kept.id, { expires_at: null })
  await add('longer', '192.0.2.4', { expires_at: later(120_000) })
  await Promise.all([audited(), emitted()])
  clock.advance(59_999)
  await expireRecords(hub)
  expect(await names('name=brief')).toEqual(['brief 192.0.2.1'])
  clock.advance(1)
  await Promise.all([expireRecords(hub), expireRecords(hub)])
  expect(await names('type=A&sort=name')).toEqual(['kept 192.0.2.3', 'longer 192.0.2.4', 'ns1 127.0.0.1'])
  expect(await audited()).toEqual(['dns.records.expire'])
  expect(await emitted()).toEqual(['dns.records_changed'])
  const [event] = (await acme.call('GET', '/v1/events?limit=1')).body.data
  expect(event.data).toMatchObject({
    zone: { id: zone.id },
    origin: 'api',
    actor: { type: 'system', id: 'dns.expire' },
    changes: [{ action: 'deleted', name: 'brief', type: 'A' }],
  })
  clock.advance(60_000)
  await expireRecords(hub)
  expect(await names('name=longer')).toEqual([])
})

test('large numbers of expired records are deleted in several changes, without delaying other zones', async () => {
  const { hub, acme, rival, zone, put, clock, later, audited } = await scene()
  const addresses = Array.from({ length: 2600 }, (_, n) => ({ content: `10.0.${n >> 8}.${n & 255}` }))
  const end = later(60_000)
  for (const name of ['a', 'b', 'c', 'd'])
    expect((await put({ name, type: 'A', expires_at: end, records: addresses })).status).toBe(200)
  const theirs = await createZone(rival, 'rival.example')
  await rival.call('POST', `/v1/dns/zones/${theirs.id}/records`, { type: 'A', name: 'w', content: '192.0.2.1', expires_at: end })
  await audited()
  clock.advance(60_000)
  await expireRecords(hub)
  const left = async () =>
    (await acme.call('GET', `/v1/dns/zones/${zone.id}/records?type=A&limit=1&include=total`)).body.pagination.total
  expect((await rival.call('GET', '/v1/dns/records?name=w')).body.data).toEqual([])
  // Includes the address of its name server.
  expect(await left()).toBe(2601)
  await expireRecords(hub)
  expect(await left()).toBe(1)
  expect(await audited()).toEqual(['dns.records.expire', 'dns.records.expire'])
})

test('an expiry must be at least a minute away, and is not allowed for apex NS records', async () => {
  const { acme, zone, add, patch, put, clock, later } = await scene()
  expect(errors(await add('a', '192.0.2.1', { expires_at: later(59_999) }))).toEqual([['#/expires_at', 'out_of_range']])
  const put1 = await put({ name: 'a', type: 'A', expires_at: later(0), records: [{ content: '192.0.2.1' }] })
  expect(errors(put1)).toEqual([['#/rrsets/0/expires_at', 'out_of_range']])
  const ns = (await acme.call('GET', `/v1/dns/records?zone=${zone.id}&type=NS`)).body.data[0]
  expect(errors(await patch(ns.id, { expires_at: later(120_000) }))).toEqual([['#/expires_at', 'not_allowed']])
  const end = later(60_000)
  const created = (await add('a', '192.0.2.1', { expires_at: end })).body
  clock.advance(30_000)
  expect((await put({ name: 'a', type: 'A', ttl: 60, expires_at: end, records: [{ content: '192.0.2.1' }] })).status).toBe(200)
  expect((await patch(created.id, { name: 'b' })).body).toMatchObject({ name: 'b', expires_at: end })
})

test.each([
  { tags: ['Web'] },
  { tags: ['a', 'a'] },
  { tags: Array.from({ length: 21 }, (_, n) => `t${n}`) },
  { tags: ['x'.repeat(51)] },
  { locked: 'yes' },
  { expires_at: 'tomorrow' },
])('%j is refused', async more => {
  const { add } = await scene()
  expect((await add('www', '192.0.2.1', more)).status).toBe(422)
})

test('records are filtered by tag, lock and update time', async () => {
  const { acme, zone, add, patch, names, clock, later } = await scene()
  clock.advance(1000)
  await add('a', '192.0.2.1', { tags: ['web', 'eu'] })
  await add('b', '192.0.2.2', { tags: ['web'], locked: true })
  const c = (await add('c', '192.0.2.3', { locked: true })).body
  clock.advance(1000)
  const since = later(0)
  await add('d', '192.0.2.4')
  await patch(c.id, { tags: ['eu', 'e'], locked: true })
  expect(await names('tag=web&sort=id')).toEqual(['a 192.0.2.1', 'b 192.0.2.2'])
  expect(await names('tag=e')).toEqual(['c 192.0.2.3'])
  expect(await names(`tag=web&zone=${zone.id}&locked=true`)).toEqual(['b 192.0.2.2'])
  expect(await names('tag=web&locked=false')).toEqual(['a 192.0.2.1'])
  expect(await names('tag=web&name=b*')).toEqual(['b 192.0.2.2'])
  expect(await names('locked=true&sort=-name')).toEqual(['c 192.0.2.3', 'b 192.0.2.2'])
  expect(await names('locked=false&type=A&sort=name')).toEqual(['a 192.0.2.1', 'd 192.0.2.4', 'ns1 127.0.0.1'])
  expect(await names(`updated_since=${since}&include=total`)).toEqual(['c 192.0.2.3', 'd 192.0.2.4'])
  expect(await names('tag=nobody')).toEqual([])
  for (const query of ['tag=A,b', 'tag=', 'locked=1', 'updated_since=now'])
    expect([query, (await acme.call('GET', `/v1/dns/records?${query}`)).status]).toEqual([query, 400])
})

test.each(['tag=web', 'locked=true', 'tag=web&sort=name', 'updated_since=2020-01-01T00:00:00Z'])(
  'pages with %p contain every record once, and respect restricted tokens',
  async query => {
    const w = await world()
    const [one, two] = [await createZone(w.acme), await createZone(w.acme, 'example.net')]
    const rrsets = Array.from({ length: 25 }, (_, n) => ({
      name: `host-${n}`,
      type: 'A',
      tags: ['web'],
      locked: true,
      records: [{ content: '192.0.2.1' }, { content: '192.0.2.2' }],
    }))
    for (const zone of [one, two]) await w.acme.call('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets })
    const walk = async (path: string, headers = {}) => {
      const seen: string[] = []
      for (let cursor = ''; ;) {
        const page = (
          await w.acme.call('GET', `${path}?limit=7&include=total&${query}${cursor && `&cursor=${cursor}`}`, undefined, headers)
        ).body
        seen.push(...page.data.map((one: any) => one.id))
        cursor = page.pagination.next_cursor
        if (!page.pagination.has_more) return { seen, total: page.pagination.total }
      }
    }
    const extra = query.startsWith('updated') ? 2 : 0
    const all = await walk('/v1/dns/records')
    expect([new Set(all.seen).size, all.seen.length, all.total]).toEqual([100 + 2 * extra, 100 + 2 * extra, 100 + 2 * extra])
    const own = await walk(`/v1/dns/zones/${two.id}/records`)
    expect([new Set(own.seen).size, own.total]).toEqual([50 + extra, 50 + extra])
    const token = await w.acme.call('POST', '/v1/tokens', {
      name: 'narrow',
      mode: 'scoped',
      permissions: ['dns.read'],
      resource_ids: [two.id],
    })
    const narrowed = await walk('/v1/dns/records', { authorization: `Bearer ${token.body.token}` })
    expect(narrowed.seen.toSorted()).toEqual(own.seen.toSorted())
  },
)

test('apex NS records can’t inherit an expiry from a renamed record', async () => {
  const here = await world()
  const { zone } = await hostedZone(here, double)
  const end = new Date(here.clock.now() + 120_000).toISOString()
  const record = { type: 'NS', name: 'sub', content: 'ns1.example.net.', expires_at: end }
  const { body } = await here.acme.call('POST', `/v1/dns/zones/${zone.id}/records`, record)
  const moved = await here.acme.call('PATCH', `/v1/dns/records/${body.id}`, { name: '@' })
  expect([moved.status, errors(moved)]).toEqual([422, [['#/expires_at', 'not_allowed']]])
  expect((await here.acme.call('PATCH', `/v1/dns/records/${body.id}`, { name: '@', expires_at: null })).status).toBe(200)
})
