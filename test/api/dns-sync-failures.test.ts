import { afterAll, describe, expect, test } from 'bun:test'
import { record } from '../../src/core/change'
import { hubs } from '../../src/core/db/tables'
import { paced } from '../../src/adapters/accounts/pace'
import { powerDns } from '../../src/features/dns/providers/power-dns'
import { readDueTargets } from '../../src/features/dns/sync/sync-zone'
import { hetznerApi, hetznerPace } from '../../src/vendors/hetzner'
import { hostedZone } from '../support/hosted-zone'
import { pluginContext } from '../support/plugin-context'
import { powerDnsDouble } from '../support/power-dns-double'
import { world, type World } from '../support/world'
import { createZone } from '../support/zones'

const double = powerDnsDouble()
afterAll(() => double.stop())

const minute = 60_000
const nameservers = ['ns1.example.net']
/** Notices of zones and providers, with failed actions. */
const notices = async ({ acme }: World) =>
  (await acme.call('GET', '/v1/notices?sort=occurred_at')).body.data
    .filter((one: any) => one.kind.startsWith('dns_'))
    .map((one: any) => [one.kind, one.count])
/** Advances the clock, and reads due targets. */
const later = async (w: World, minutes: number) => {
  await w.advance(minutes * minute)
  await readDueTargets(w.hub)
  await w.settle()
}
const removed = (count: number) => Array.from({ length: count }, (_, n) => ({ name: `h${n}`, type: 'A', records: [] }))

/** A zone of ten rrsets, all in sync. */
async function ten() {
  const w = await world()
  const kept = await hostedZone(w, double, undefined, { nameservers })
  await kept.put(Array.from({ length: 9 }, (_, n) => kept.a(`h${n}`, `192.0.2.${n + 1}`)))
  await w.audited()
  return { w, kept }
}

describe('a blocked change', () => {
  test('is reported once with its reasons, and ends when it is allowed', async () => {
    const { w, kept } = await ten()
    await kept.put(removed(4))
    expect(await w.audited()).toEqual(['dns.rrsets.replace', 'dns.zone.block'])
    const [notice] = (await w.acme.call('GET', '/v1/notices')).body.data
    const { blocked } = await kept.shown()
    expect(notice).toMatchObject({
      kind: 'dns_zone.blocked',
      resource: { type: 'zone', id: kept.zone.id },
      details: { plan_id: blocked.plan_id, provider_id: kept.provider.id, reasons: ['deletes_over_limit'] },
    })
    const [entry] = (await w.acme.call('GET', '/v1/audit-events?action=dns.zone.block')).body.data
    expect(entry).toMatchObject({
      actor: { type: 'system' },
      changes: { after: { plan_id: blocked.plan_id, reasons: ['deletes_over_limit'] } },
    })
    // An expired plan is replaced by the next read.
    for (let n = 0; n < 4; n++) await later(w, 17)
    await kept.put([kept.a('h8', '192.0.2.99')])
    expect(await notices(w)).toEqual([['dns_zone.blocked', 1]])
    expect(await w.audited()).toEqual(['dns.rrsets.replace'])
    const plan = (await w.acme.call('GET', `/v1/dns/plans/${(await kept.shown()).blocked.plan_id}`)).body
    const allowed = { plan_id: plan.id, hash: plan.hash, allow: ['deletes_over_limit'], note: 'They moved.' }
    await w.acme.call('POST', `/v1/dns/zones/${kept.zone.id}/apply`, allowed)
    await w.settle()
    expect((await kept.shown()).synced).toBe(true)
    expect((await w.audited()).filter(one => one.startsWith('dns.zone.'))).toEqual(['dns.zone.sync', 'dns.zone.unblock'])
  })

  test('ends when it is undone, and is reported again when it comes back', async () => {
    const { w, kept } = await ten()
    const them = Array.from({ length: 4 }, (_, n) => kept.a(`h${n}`, `192.0.2.${n + 1}`))
    await kept.put(removed(4))
    await kept.put(them)
    expect(await kept.shown()).toMatchObject({ synced: true, blocked: null })
    expect((await w.audited()).slice(1)).toEqual(['dns.zone.block', 'dns.rrsets.replace', 'dns.zone.unblock'])
    await kept.put(removed(5))
    expect(await notices(w)).toEqual([['dns_zone.blocked', 2]])
  })
})

describe('a zone that can’t be synced', () => {
  const onZone = (request: string) => request.includes('/zones/example.com')

  test('is reported immediately if it is missing, refused or implausible, once per outage', async () => {
    const { w, kept } = await ten()
    const zones = new Map(double.zones)
    const read = async () => void (await kept.refresh())
    double.zones.clear()
    await read()
    await read()
    expect(await notices(w)).toEqual([['dns_zone.target_failing', 1]])
    const [notice] = (await w.acme.call('GET', '/v1/notices?kind=dns_zone.target_failing')).body.data
    expect(notice.details).toMatchObject({ zone_id: kept.zone.id, provider_id: kept.provider.id, code: 'zone_not_found' })
    for (const [name, zone] of zones) double.zones.set(name, zone)
    await read()
    double.trouble = request => (onZone(request) ? 'half of the rrsets' : null)
    await later(w, 2)
    await read()
    await read()
    expect(await notices(w)).toEqual([['dns_zone.target_failing', 2]])
    double.trouble = request => (onZone(request) ? { status: 401 } : null)
    await later(w, 20)
    expect(await notices(w)).toEqual([['dns_zone.target_failing', 2]])
    double.trouble = () => null
    await later(w, 120)
    expect(await kept.shown()).toMatchObject({ synced: true })
    double.trouble = request => (onZone(request) ? { status: 401 } : null)
    await later(w, 17)
    expect(await notices(w)).toEqual([['dns_zone.target_failing', 3]])
  })

  test('is reported if there is no response for longer than two polling intervals', async () => {
    const { w } = await ten()
    double.trouble = request => (onZone(request) ? 'cut connection' : null)
    await later(w, 17)
    expect(await notices(w)).toEqual([])
    for (let n = 0; n < 4; n++) await later(w, 17)
    expect(await notices(w)).toEqual([['dns_zone.target_failing', 1]])
  })
})

describe('a provider that fails', () => {
  /** Three zones at the provider. */
  async function three() {
    const w = await world()
    const kept = await hostedZone(w, double, undefined, { nameservers })
    const more = { provider_id: kept.provider.id, nameservers }
    const zones = [kept.zone, await createZone(w.acme, 'example.net', more), await createZone(w.acme, 'example.org', more)]
    await w.settle()
    const put = async (name: string, address: string) => {
      const rrsets = [{ name, type: 'A', ttl: 300, records: [{ content: address }] }]
      for (const zone of zones) await w.acme.call('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets })
      await w.settle()
    }
    const synced = async () => (await w.acme.call('GET', '/v1/dns/zones')).body.data.map((one: any) => one.synced)
    return { w, kept, zones, put, synced }
  }
  const check = (w: World, { id }: any) => w.acme.call('POST', `/v1/dns/providers/${id}/check`)

  test('is reported once for all its zones', async () => {
    const { w, kept } = await three()
    double.trouble = () => 'cut connection'
    expect((await check(w, kept.provider)).body.state).toBe('failing')
    for (let n = 0; n < 8; n++) await later(w, 17)
    expect(await notices(w)).toEqual([['dns_provider.failing', 1]])
    double.trouble = () => null
    await later(w, 60)
    double.trouble = () => 'cut connection'
    await later(w, 11)
    expect(await notices(w)).toEqual([['dns_provider.failing', 2]])
  })

  test('has all its zones read when its check succeeds again', async () => {
    const { w, kept, put, synced } = await three()
    double.trouble = () => 'cut connection'
    await put('www', '192.0.2.1')
    for (let n = 0; n < 3; n++) await later(w, 17)
    expect(await synced()).toEqual([false, false, false])
    double.trouble = () => null
    expect((await check(w, kept.provider)).body.state).toBe('ok')
    await w.settle()
    expect(await synced()).toEqual([true, true, true])
  })

  test('has them read after a scheduled check, too', async () => {
    const { w, kept, put, synced } = await three()
    double.trouble = () => 'cut connection'
    await check(w, kept.provider)
    await put('www', '192.0.2.1')
    double.trouble = request => (request.includes('/zones/') ? 'cut connection' : null)
    await w.advance(0)
    double.trouble = () => null
    await w.advance(minute)
    expect(await synced()).toEqual([true, true, true])
  })

  test('has the others read after one succeeds, once a minute', async () => {
    const { w, kept, zones, put, synced } = await three()
    double.trouble = request => (request.includes('/zones/') ? 'cut connection' : null)
    await put('www', '192.0.2.1')
    for (let n = 0; n < 3; n++) await later(w, 17)
    // An unreliable provider is not queried ever faster.
    double.trouble = request => (request.includes('/zones/') && !request.includes('example.com') ? 'cut connection' : null)
    double.requests.length = 0
    await kept.refresh()
    const requestCount = () => double.requests.filter(one => one.includes('example.net')).length
    const first = requestCount()
    expect(first).toBeGreaterThan(0)
    await kept.refresh()
    expect(requestCount()).toBe(first)
    double.trouble = () => null
    await w.advance(minute)
    await w.acme.call('POST', `/v1/dns/zones/${zones[1]!.id}/refresh`, {})
    await w.settle()
    expect(await synced()).toEqual([true, true, true])
  })
})

describe('a provider that limits requests', () => {
  const patches = () => double.requests.filter(one => one.startsWith('PATCH')).length

  test('gets no changes until it allows them again', async () => {
    const { w, kept } = await ten()
    const target = async () => (await kept.shown()).sync.targets[0]
    expect(await target()).toMatchObject({ throttled_until: null })
    double.trouble = request => (request.startsWith('PATCH') ? { status: 429, headers: { 'retry-after': '300' } } : null)
    await kept.put([kept.a('www', '192.0.2.1')])
    const until = new Date(w.clock.now() + 5 * minute).toISOString()
    expect(await target()).toMatchObject({ state: 'pending', error: null, throttled_until: until })
    const sent = patches()
    await kept.put([kept.a('www', '192.0.2.2')])
    await later(w, 4)
    expect(patches()).toBe(sent)
    double.trouble = () => null
    await later(w, 1)
    expect(await target()).toMatchObject({ state: 'synced', throttled_until: null })
    expect(kept.there()).toContain('www.example.com. A 300 192.0.2.2')
  })

  test('is read again soon, and later each time, if it does not tell when', async () => {
    const { w, kept } = await ten()
    double.trouble = () => ({ status: 429 })
    const waits: number[] = []
    for (let n = 0; n < 8; n++) {
      await kept.refresh()
      const { error, throttled_until } = (await kept.shown()).sync.targets[0]
      expect(error.code).toBe('throttled')
      waits.push((Date.parse(throttled_until) - w.clock.now()) / 1000)
      await w.advance(minute)
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
  })

  test('gets changes again soon, and later each time, if it does not tell when', async () => {
    const { w, kept } = await ten()
    double.trouble = request => (request.startsWith('PATCH') ? { status: 429 } : null)
    const waits: number[] = []
    for (let n = 0; n < 8; n++) {
      await kept.put([kept.a('www', `192.0.2.${n + 1}`)])
      const { state, throttled_until } = (await kept.shown()).sync.targets[0]
      expect(state).toBe('pending')
      waits.push((Date.parse(throttled_until) - w.clock.now()) / 1000)
      await w.advance(minute)
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
    double.trouble = () => null
    await later(w, 1)
    expect((await kept.shown()).synced).toBe(true)
  })
})

test('a kind can be polled less often than the setting', async () => {
  const { w, kept } = await ten()
  powerDns.pollSeconds = 3600
  try {
    await later(w, 17)
    const read = () => double.requests.filter(one => one.includes('/zones/')).length
    const before = read()
    await later(w, 50)
    expect(read()).toBe(before)
    await later(w, 17)
    expect(read()).toBeGreaterThan(before)
    // Also after a refused change.
    double.rejects = () => 'no such luck'
    await kept.put([kept.a('h0', '198.51.100.1')])
    const refused = read()
    await later(w, 50)
    expect(read()).toBe(refused)
    double.rejects = () => null
  } finally {
    delete powerDns.pollSeconds
  }
})

test('requests keep to the pace of a kind, over all its zones', async () => {
  const { hub, clock } = await world()
  let sent = 0
  const around = { ...pluginContext(), request: async () => void sent++ as never }
  const pace = { perSecond: 2, burst: 20, writesPerDay: 10 }
  const opened = (isInteractive: boolean) =>
    paced(hub, { type: 'dns-provider', id: 'prov_one', settings: {} }, pace, around, isInteractive)
  const [background, person] = [await opened(false), await opened(true)]
  const get = { url: 'https://provider.example' }
  const post = { ...get, method: 'POST' as const }
  for (let n = 0; n < 16; n++) await background.request(get)
  const waiting = background.request(get)
  // A fifth is kept for people.
  for (let n = 0; n < 4; n++) await person.request(get)
  expect(sent).toBe(20)
  clock.advance(1_000)
  await waiting
  expect(sent).toBe(21)
  clock.advance(60_000)
  for (let n = 0; n < 4; n++) await background.request(post)
  const refused = await background.request(post).catch(error => error)
  expect(refused).toMatchObject({ failure: 'throttled', ambiguous: false })
  expect(refused.retryAfterMs).toBeGreaterThan(4 * 3_600_000)
  await person.request(post)
  expect(await person.request(post).catch(error => error.failure)).toBe('throttled')
  expect(sent).toBe(26)
  // Changes don't wait, but the reads after them do.
  const steps = await paced(
    hub,
    { type: 'dns-provider', id: 'prov_three', settings: {} },
    { perSecond: 2, burst: 20 },
    around,
    true,
  )
  for (let n = 0; n < 20; n++) await steps.request(get)
  for (let n = 0; n < 3; n++) await steps.request(post)
  await steps.requestAtOnce!(get)
  expect(sent).toBe(50)
  const late = steps.request(get)
  clock.advance(2_000)
  await Promise.resolve()
  expect(sent).toBe(50)
  clock.advance(1_000)
  await late
  await record(hub, async tx => {
    await tx.insert(hubs).values({ id: 'hub_other', host: 'other', version: '0', startedAt: clock.now(), seenAt: clock.now() })
    return { result: undefined }
  })
  const halved = await paced(hub, { type: 'dns-provider', id: 'prov_two', settings: {} }, pace, around, true)
  for (let n = 0; n < 10; n++) await halved.request(get)
  let isDone = false
  const eleventh = halved.request(get).then(() => (isDone = true))
  await Promise.resolve()
  expect(isDone).toBe(false)
  clock.advance(1_000)
  await eleventh
})

test('accounts with the same token share a rate limit, and a fifth is reserved for people', async () => {
  const { hub, clock } = await world()
  const around = { ...pluginContext(), request: async () => undefined as never }
  const pace = { ...hetznerPace, perSecond: 1, burst: 20 }
  const opened = (type: string, settings: object, isInteractive = false) =>
    paced(hub, { type, id: `${type}_1`, settings: { base_url: hetznerApi, ...settings } }, pace, around, isInteractive)
  const get = { url: hetznerApi }
  const zones = await opened('dns-provider', { api_token: 'one' })
  const servers = await opened('cloud-account', { api_token: 'one' })
  for (let n = 0; n < 8; n++) await Promise.all([zones.request(get), servers.request(get)])
  let isDone = false
  const next = servers.request(get).then(() => (isDone = true))
  await Promise.resolve()
  expect(isDone).toBe(false)
  const person = await opened('dns-provider', { api_token: 'one' }, true)
  for (let n = 0; n < 4; n++) await person.request(get)
  // Another token, and the same at another address, are other projects.
  await (await opened('cloud-account', { api_token: 'two' })).request(get)
  await (await opened('cloud-account', { api_token: 'one', base_url: 'https://cloud.example/v1' })).request(get)
  clock.advance(2_000)
  await next
})
