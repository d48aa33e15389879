import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { watchEnds } from '../../src/features/domains/apply-facts'
import { compareDelegations } from '../../src/features/domains/delegations'
import { readDueRegistrations } from '../../src/features/registry/look'
import { registryInterests } from '../../src/features/registry/tables'
import { RegistryDouble } from '../support/registry-double'
import { world, type World } from '../support/world'

const hourMs = 3_600_000

let double: RegistryDouble
beforeAll(async () => {
  double = await RegistryDouble.start()
})
afterAll(() => double.stop())
beforeEach(() => {
  double.names.clear()
  double.rdapAnswer = null
  double.whoisAnswer = null
  for (const name of ['example.com', 'example.net', 'denic.de', 'nic.io'])
    double.names.set(name, { expires: '2030-01-01T00:00:00Z' })
})

async function scene() {
  const pace = { seconds: 0.001, burst: 1000, per_day: 1_000_000 }
  const w = await world(double.settings({ paces: { [double.rdapServer]: pace, [double.whoisServer]: pace } }))
  const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    w.acme.call(method, `/v1${path}`, body, headers)
  const create = async (name: string, fields: object = {}) => (await call('POST', '/domains', { name, ...fields })).body
  const get = async (id: string) => (await call('GET', `/domains/${id}`)).body
  return { w, call, create, get }
}
/** Asks registries until nothing is due, and applies what they say. */
async function look(w: World): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await readDueRegistrations(w.hub)
    await w.settle()
  }
  await watchEnds(w.hub)
  await w.settle()
}
/** Lets time pass in steps, as the scheduled tasks would run. */
async function pass(w: World, until: number, stepMs = hourMs): Promise<void> {
  while (w.clock.now() < until) {
    await w.advance(Math.min(stepMs, until - w.clock.now()))
    await look(w)
  }
}

describe('domains', () => {
  test('are created, looked up, updated, and deleted', async () => {
    const { w, call, create, get } = await scene()
    double.names.set('shop.com', { expires: '2027-05-01T10:00:00Z', statuses: ['client transfer prohibited'] })
    const created = await call('POST', '/domains', { name: 'SHOP.com.', tags: ['shop'] })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({
      ...{ name: 'shop.com', unicode_name: 'shop.com', tld: 'com', management: 'manual', registrar_account_id: null },
      ...{ status: 'unknown', expires_at: null, days_left: null, sync: { state: 'pending', error: null }, version: 1 },
    })
    await look(w)
    const found = await get(created.body.id)
    expect(found).toMatchObject({
      status: 'active',
      registrar: { name: 'Example Registrar', iana_id: 376 },
      epp_statuses: ['client transfer prohibited'],
      registered_at: '2020-01-01T00:00:00.000Z',
      expires_at: '2027-05-01',
      expiry: { source: 'rdap', confidence: 'likely', registry_expires_at: '2027-05-01T10:00:00.000Z', hint: null },
      lifecycle: {
        profile: 'gtld',
        renew_until: '2027-06-15',
        restore_until: '2027-07-15',
        purge_at: '2027-07-20',
        confidence: 'low',
      },
      locked: true,
      nameservers: ['ns1.example.net'],
      sync: { state: 'fresh', error: null },
      version: 1,
    })
    expect(await w.audited()).toEqual(['domains.domain.create'])
    expect(await w.emitted()).toEqual([])

    const patched = await call('PATCH', `/domains/${found.id}`, { notes: 'Main site', notify_days: [90, 10] })
    expect(patched.body).toMatchObject({ notes: 'Main site', notify_days: [90, 10], expires_at: '2027-05-01', version: 2 })
    expect((await call('PATCH', `/domains/${found.id}`, { notes: 'Main site' })).body.version).toBe(2)
    expect((await call('PATCH', `/domains/${found.id}`, { notes: '' }, { 'If-Match': '"1"' })).status).toBe(412)
    expect((await call('DELETE', `/domains/${found.id}`)).status).toBe(204)
    expect((await call('GET', `/domains/${found.id}`)).status).toBe(404)
    expect(await w.audited()).toEqual(['domains.domain.update', 'domains.domain.delete'])
    const own = eq(registryInterests.holderType, 'domain')
    expect(await w.hub.read.select().from(registryInterests).where(own)).toEqual([])
    await create('shop.com')
  })

  test('the same name in two workspaces is looked up once', async () => {
    const { w, create, get } = await scene()
    double.names.set('shop.com', { expires: '2027-05-01T10:00:00Z' })
    const first = await create('shop.com')
    await look(w)
    double.asked.length = 0
    const second = (await w.rival.call('POST', '/v1/domains', { name: 'shop.com' })).body
    await w.settle()
    expect((await w.rival.call('GET', `/v1/domains/${second.id}`)).body).toMatchObject({
      status: 'active',
      expires_at: '2027-05-01',
    })
    expect(double.asked).toEqual([])
    expect((await w.rival.call('GET', `/v1/domains/${first.id}`)).status).toBe(404)
    expect((await w.rival.call('PATCH', `/v1/domains/${first.id}`, { notes: 'x' })).status).toBe(404)
    expect((await w.rival.call('DELETE', `/v1/domains/${first.id}`)).status).toBe(404)
    expect((await get(first.id)).name).toBe('shop.com')
  })

  test('names that can’t be registered are refused with the rule', async () => {
    const { call, create } = await scene()
    const cases: [name: string, code: string, rule: string][] = [
      ['', 'too_short', 'Enter a name'],
      ['.', 'format', 'must not be empty'],
      ['shop..com', 'format', 'empty label'],
      ['.shop.com', 'format', 'empty label'],
      [`${'a'.repeat(64)}.com`, 'format', 'over 63 octets'],
      ['https://shop.com', 'format', 'without a scheme'],
      ['shop.com/cart', 'format', 'without a scheme'],
      ['me@shop.com', 'format', 'without a scheme'],
      ['192.0.2.1', 'format', 'not an IP address'],
      ['2001:db8::1', 'format', 'not an IP address'],
      ['-shop.com', 'format', 'hyphens'],
      ['xn--zz-.com', 'format', 'Labels consist'],
      ['sh op.com', 'format', 'Labels consist'],
      ['_dmarc.com', 'format', 'underscores'],
      ['com', 'public_suffix', 'is a public suffix'],
      ['co.uk', 'public_suffix', 'is a public suffix'],
      ['nas.lan', 'public_suffix', 'top-level domain'],
      ['foo.github.io', 'private_suffix', 'github.io'],
      ['github.io', 'private_suffix', 'github.io'],
      ['www.shop.com', 'format', 'Did you mean shop.com?'],
    ]
    for (const [name, code, rule] of cases) {
      const { status, body } = await call('POST', '/domains', { name })
      expect([name, status, body.errors?.[0]?.pointer]).toEqual([name, 422, '#/name'])
      if (name !== '') expect(body.errors[0]).toMatchObject({ code, detail: expect.stringContaining(rule) })
    }
    expect((await create('MÜNCHEN.de')).name).toBe('xn--mnchen-3ya.de')
    const again = await call('POST', '/domains', { name: 'münchen.de' })
    expect(again).toMatchObject({ status: 409, body: { code: 'already_exists', errors: [{ pointer: '#/name' }] } })
    expect((await call('GET', '/domains?q=münchen')).body.data).toHaveLength(1)
  })

  test('other fields are refused with the rule', async () => {
    const { call, create } = await scene()
    const { id } = await create('shop.com')
    const cases: [fields: object, pointer: string][] = [
      [{ expires_at: '2027-02-30' }, '#/expires_at'],
      [{ expires_at: '0001-01-01' }, '#/expires_at'],
      [{ expires_at: '9999-12-31' }, '#/expires_at'],
      [{ expires_at: '2027-01-01T00:00:00Z' }, '#/expires_at'],
      [{ expected_nameservers: ['ns1.example.net'] }, '#/expected_nameservers'],
      [{ expected_nameservers: Array.from({ length: 14 }, (_, n) => `ns${n}.example.net`) }, '#/expected_nameservers'],
      [{ expected_nameservers: ['ns1.example.net', '192.0.2.1'] }, '#/expected_nameservers/1'],
      [{ notify_days: [] }, '#/notify_days'],
      [{ notify_days: [-1] }, '#/notify_days/0'],
      [{ notify_days: [7, 7] }, '#/notify_days'],
      [{ zone_id: 'zone_x' }, '#/zone_id'],
      [{ notes: 'a\u0000b' }, '#/notes'],
      [{ status: 'active' }, '#/status'],
    ]
    for (const [fields, pointer] of cases) {
      const { status, body } = await call('PATCH', `/domains/${id}`, fields)
      expect([fields, status, body.errors?.[0]?.pointer]).toEqual([fields, 422, pointer])
    }
    expect((await call('GET', `/domains/${id}`)).body.version).toBe(1)
  })

  test('need permissions, and are limited by the plan', async () => {
    const { w, call, create } = await scene()
    const { id } = await create('shop.com')
    const reader = await w.scoped('domains.read')
    expect((await reader.call('GET', `/v1/domains/${id}`)).status).toBe(200)
    expect((await reader.call('POST', '/v1/domains', { name: 'other.com' })).status).toBe(403)
    const stranger = await w.scoped('dns.write')
    expect((await stranger.call('GET', '/v1/domains')).status).toBe(403)
    await w.limit(w.acme.workspaceId, { domains: 1 })
    expect((await call('POST', '/domains', { name: 'other.com' })).body).toMatchObject({ code: 'plan_limit_reached' })
  })

  test('are listed by every filter and sort order', async () => {
    const { w, call, create } = await scene()
    double.names.set('b.com', { expires: '2027-05-01T10:00:00Z' })
    double.names.set('a.com', { expires: '2027-05-02T00:00:00Z', statuses: ['client hold'] })
    for (const name of ['b.com', 'a.com', 'c.de', 'd.xn--p1ai']) await create(name, { tags: [name.split('.')[0]] })
    double.names.set('c.de', {})
    await look(w)
    const names = async (query: string) => (await call('GET', `/domains?${query}`)).body.data.map((one: any) => one.name)
    expect(await names('sort=expires_at')).toEqual(['b.com', 'a.com', 'c.de', 'd.xn--p1ai'])
    expect(await names('sort=name')).toEqual(['a.com', 'b.com', 'c.de', 'd.xn--p1ai'])
    expect(await names('sort=created_at')).toEqual(['b.com', 'a.com', 'c.de', 'd.xn--p1ai'])
    expect(await names('status=suspended')).toEqual(['a.com'])
    expect(await names('tld=com&sort=name')).toEqual(['a.com', 'b.com'])
    expect(await names('name=c.de')).toEqual(['c.de'])
    expect(await names('tag=b')).toEqual(['b.com'])
    expect(await names('sync_state=fresh&sort=name')).toEqual(['a.com', 'b.com', 'c.de'])
    expect(await names('management=registrar')).toEqual([])
    expect(await names('auto_renew=true')).toEqual([])
    expect(await names('registrar_account_id=reg_x')).toEqual([])
    const of = (comparison: string, value: string) => names(`expires_at[${comparison}]=${value}&sort=expires_at`)
    expect(await of('lte', '2027-05-01')).toEqual(['b.com'])
    expect(await of('lt', '2027-05-01')).toEqual([])
    expect(await of('gt', '2027-05-01')).toEqual(['a.com'])
    expect(await of('gte', '2027-05-01')).toEqual(['b.com', 'a.com'])
    expect(await of('lte', '2027-05-01T10:00:00Z')).toEqual(['b.com'])
    expect(await of('lt', '2027-05-01T10:00:00Z')).toEqual([])
    expect(await of('gt', '2027-05-01T10:00:00Z')).toEqual(['a.com'])
    expect((await call('GET', '/domains?expires_at[gt]=soon')).status).toBe(400)
  })
})

describe('the registry', () => {
  test('a failed lookup changes neither status nor date, and a third one makes the facts stale', async () => {
    const { w, create, get } = await scene()
    double.names.set('shop.com', { expires: '2027-05-01T10:00:00Z' })
    const { id } = await create('shop.com')
    await look(w)
    double.rdapAnswer = () => new Response('<html>', { headers: { 'content-type': 'text/html' } })
    await pass(w, w.clock.now() + 25 * hourMs)
    const stale = await get(id)
    expect(stale).toMatchObject({
      status: 'active',
      expires_at: '2027-05-01',
      sync: { state: 'fresh', error: expect.any(String) },
    })
    await pass(w, w.clock.now() + 12 * hourMs)
    expect(await get(id)).toMatchObject({ status: 'active', expires_at: '2027-05-01', sync: { state: 'stale' } })
    expect(await w.emitted()).toEqual([])
  })

  test('a top-level domain without a server is an error that says what helps', async () => {
    const { w, create, get } = await scene()
    const { id } = await create('shop.gr', { expires_at: '2027-05-01' })
    await look(w)
    expect(await get(id)).toMatchObject({
      ...{ status: 'unknown', expires_at: '2027-05-01', expiry: { source: 'given', confidence: 'given' } },
      sync: { state: 'error', error: expect.stringContaining('Enter the date'), next_check_at: null },
    })
  })

  test('a name that is absent once is not deleted', async () => {
    const { w, create, get } = await scene()
    double.names.set('shop.com', { expires: '2027-05-01T10:00:00Z' })
    const { id } = await create('shop.com')
    await look(w)
    double.names.delete('shop.com')
    await pass(w, w.clock.now() + 24 * hourMs, 24 * hourMs)
    double.names.set('shop.com', { expires: '2027-05-01T10:00:00Z' })
    await pass(w, w.clock.now() + 2 * hourMs)
    expect((await get(id)).status).toBe('active')
    expect(await w.emitted()).toEqual([])
  })
})

describe('a registration', () => {
  const dayMs = 24 * hourMs

  const midnight = (w: World) => pass(w, Math.ceil(w.clock.now() / dayMs) * dayMs + 60_000, dayMs)
  const iso = (ms: number) => new Date(ms).toISOString()

  test('that nobody renews sends each event once, from 60 days before its end to its deletion', async () => {
    const { w, call, create, get } = await scene()
    await midnight(w)
    const end = w.clock.now() + 65 * dayMs
    double.names.set('shop.com', { expires: iso(end) })
    const { id } = await create('shop.com')
    await look(w)
    const sent: string[] = []
    /** Goes to the days that are this far from the end. */
    const walk = async (...lefts: number[]) => {
      for (const left of lefts) {
        await pass(w, end - left * dayMs, 300 * dayMs)
        sent.push(...(await w.emitted()).map(kind => `${kind} ${left}`))
      }
    }
    await walk(61, 60, 59, 31, 30, 29, 14, 13, 8, 7, 4, 3, 2, 1)
    expect(sent).toEqual([60, 30, 14, 7, 3, 1].map(left => `domain.expiring ${left}`))
    sent.length = 0
    // The registry adds a year by itself.
    double.names.set('shop.com', { expires: iso(end + 365 * dayMs), statuses: ['auto renew period'] })
    await walk(0, -1)
    expect(sent.toSorted()).toEqual(['domain.expiring 0', 'domain.status_changed 0'])
    expect(await get(id)).toMatchObject({
      ...{ status: 'expired', expires_at: iso(end).slice(0, 10) },
      expiry: { confidence: 'provisional', hint: expect.stringContaining('added a year') },
    })
    await walk(-20, -44)
    double.names.set('shop.com', { expires: iso(end + 365 * dayMs), statuses: ['redemption period', 'pending delete'] })
    await walk(-45, -46)
    expect(await get(id)).toMatchObject({
      status: 'redemption',
      expires_at: iso(end).slice(0, 10),
      lifecycle: { confidence: 'medium' },
    })
    await walk(-74)
    double.names.set('shop.com', { expires: iso(end + 365 * dayMs), statuses: ['pending delete'] })
    await walk(-75, -76)
    expect(await get(id)).toMatchObject({ status: 'pending_delete', lifecycle: { confidence: 'high' } })
    double.names.delete('shop.com')
    await walk(-80)
    await pass(w, w.clock.now() + 10 * 60_000, 150_000)
    sent.push(...(await w.emitted()))
    expect((await get(id)).status).toBe('deleted')
    expect(sent.slice(2).map(one => one.split(' ')[0])).toEqual([
      'domain.status_changed',
      'domain.status_changed',
      'domain.status_changed',
    ])
    const history = (await call('GET', `/domains/${id}/history`)).body.data
    expect(history.map((one: any) => [one.from, one.to, one.source, one.irregular])).toEqual([
      ['pending_delete', 'deleted', 'rdap', false],
      ['redemption', 'pending_delete', 'rdap', false],
      ['expired', 'redemption', 'rdap', false],
      ['active', 'expired', 'clock', false],
      ['unknown', 'active', 'rdap', false],
    ])
  }, 60_000)

  test('after a week without a hub, only the tightest event is sent', async () => {
    const { w, create } = await scene()
    await midnight(w)
    double.names.set('shop.com', { expires: iso(w.clock.now() + 15 * dayMs) })
    await create('shop.com', { notify_days: [10, 9, 7, 2] })
    await look(w)
    expect(await w.emitted()).toEqual([])
    await w.advance(9 * dayMs)
    await look(w)
    await look(w)
    expect(await w.emitted()).toEqual(['domain.expiring'])
  })

  test('is refreshed on request, at most 3 times a minute, and shows the answer of each source', async () => {
    const { w, call, create, get } = await scene()
    double.names.set('shop.com', { expires: '2027-05-01T10:00:00Z' })
    const { id } = await create('shop.com')
    expect((await call('GET', `/domains/${id}/readings`)).body.data).toEqual([])
    await look(w)
    expect((await call('GET', `/domains/${id}/readings`)).body.data).toMatchObject([
      {
        source: 'rdap',
        state: 'found',
        facts: { expires_at: '2027-05-01T10:00:00.000Z', registrar: 'Example Registrar' },
        detail: null,
      },
    ])
    double.names.set('shop.com', { expires: '2028-05-01T10:00:00Z' })
    for (let nth = 0; nth < 3; nth++) expect((await call('POST', `/domains/${id}/refresh`)).status).toBe(202)
    expect((await call('POST', `/domains/${id}/refresh`)).status).toBe(429)
    await look(w)
    expect((await get(id)).expires_at).toBe('2028-05-01')
    const unsupported = await create('shop.gr')
    expect((await call('POST', `/domains/${unsupported.id}/refresh`)).status).toBe(409)
    for (const path of ['history', 'readings']) expect((await w.rival.call('GET', `/v1/domains/${id}/${path}`)).status).toBe(404)
    expect((await w.rival.call('POST', `/v1/domains/${id}/refresh`)).status).toBe(404)
  })
})

test('the name servers at the registry are compared with those of the zone', async () => {
  const { w, call, create, get } = await scene()
  double.names.set('shop.com', { expires: '2027-05-01T10:00:00Z' })
  const { id } = await create('shop.com')
  await look(w)
  const delegation = async () => (await get(id)).delegation
  expect(await delegation()).toMatchObject({ state: 'no_zone', zone_id: null, missing: [], extra: [] })
  const zone = await call('POST', '/dns/zones', { name: 'shop.com', nameservers: ['ns1.example.net', 'ns2.example.net'] })
  await compareDelegations(w.hub)
  expect(await delegation()).toMatchObject({ state: 'mismatch', zone_id: zone.body.id, missing: ['ns2.example.net'], extra: [] })
  expect((await call('GET', '/domains?delegation=mismatch')).body.data).toHaveLength(1)
  await call('PATCH', `/domains/${id}`, { expected_nameservers: ['NS1.example.net.', 'ns9.example.net'] })
  expect(await delegation()).toMatchObject({ state: 'mismatch', missing: ['ns9.example.net'], extra: [] })
  await call('PATCH', `/domains/${id}`, { expected_nameservers: null })
  double.domain = (name, known) => ({
    ...RegistryDouble.prototype.domain.call(double, name, known),
    nameservers: ['NS1.EXAMPLE.NET', 'NS2.EXAMPLE.NET'].map(ldhName => ({ objectClassName: 'nameserver', ldhName })),
  })
  await call('POST', `/domains/${id}/refresh`)
  await look(w)
  delete (double as { domain?: unknown }).domain
  const matching = await delegation()
  expect(matching).toMatchObject({ state: 'match', zone_id: zone.body.id, missing: [], extra: [] })
  await w.advance(hourMs)
  await compareDelegations(w.hub)
  expect(await delegation()).toEqual(matching)
  await call('DELETE', `/dns/zones/${zone.body.id}`)
  await compareDelegations(w.hub)
  expect(await delegation()).toMatchObject({ state: 'no_zone', zone_id: null })
})
