import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { notices } from '../../src/core/db/tables'
import { refreshBootstrap, bootstrapOf } from '../../src/features/registry/bootstrap-refresh'
import { declareInterest, pruneRegistry } from '../../src/features/registry/interests'
import { countQueries, hostAllowance, noteOutcome } from '../../src/features/registry/pace'
import { readDueRegistrations } from '../../src/features/registry/look'
import { unknown, type Reading } from '../../src/features/registry/reading'
import { registryFacts, registryHosts, registryInterests } from '../../src/features/registry/tables'
import { registryFileOf } from '../../src/features/registry/registry-file'
import { loadConfig } from '../../src/core/config'
import { rdap, RegistryDouble } from '../support/registry-double'
import { awake, watched } from '../support/watched-monitors'
import { world, type World } from '../support/world'

const minuteMs = 60_000
const hourMs = 3_600_000
const dayMs = 86_400_000

let double: RegistryDouble
beforeAll(async () => {
  double = await RegistryDouble.start()
})
afterAll(() => double.stop())
beforeEach(() => {
  double.names.clear()
  double.asked.length = 0
  double.rdapAnswer = null
  double.whoisAnswer = null
  for (const name of ['example.com', 'example.net', 'denic.de', 'nic.io'])
    double.names.set(name, { expires: '2030-01-01T00:00:00Z' })
})

const opened = (more: object = {}): Promise<World> => world(double.settings({ paces: paces(0.001), ...more }))
const paces = (seconds: number, burst = 1000, perDay = 1_000_000) => {
  const pace = { seconds, burst, per_day: perDay }
  return { [double.rdapServer]: pace, [double.whoisServer]: pace }
}
/** Runs queries until none is due. */
async function look(w: World): Promise<void> {
  await readDueRegistrations(w.hub)
  await w.settle()
}
async function later(w: World, ms: number): Promise<void> {
  await w.advance(ms)
  await look(w)
}
const want = (w: World, ...names: string[]) =>
  record(w.hub, async tx => {
    for (const name of names) await declareInterest(tx, w.hub, { type: 'monitor', id: `mon_${name}` }, name, 86_400)
    return { result: undefined }
  })
const factsOf = async (w: World, name: string) => {
  const [row] = await w.hub.read.select().from(registryFacts).where(eq(registryFacts.name, name))
  return row!
}
const endOf = async (w: World, name: string) => {
  const { state, endsAt } = await factsOf(w, name)
  return [state, endsAt === null ? null : new Date(endsAt).toISOString()]
}
const hostOf = async (w: World, server: string) => {
  const [row] = await w.hub.read.select().from(registryHosts).where(eq(registryHosts.server, server))
  return row!
}
const failingNotices = (w: World) => w.hub.read.select().from(notices).where(eq(notices.kind, 'registry.failing'))
const registry = async (w: World, tld: string) => (await w.acme.call('GET', `/v1/registries/${tld}`)).body

test('a name is looked up once for all who want it, and then once a day', async () => {
  const w = await opened()
  double.names.set('shop.com', { expires: '2027-05-01T00:00:00Z', statuses: ['client transfer prohibited'] })
  await want(w, 'www.shop.com', 'shop.com', 'mail.shop.com')
  await look(w)
  expect(double.asked.toSorted()).toEqual(['rdap example.com', 'rdap shop.com'])
  expect(double.lastHeaders.get('user-agent')).toMatch(/^Bailiwick\/\S+ \(\+ops@example\.com\)$/)
  expect(await factsOf(w, 'shop.com')).toMatchObject({
    state: 'found',
    readAt: w.clock.now(),
    facts: { statuses: ['client transfer prohibited'], registrar: { name: 'Example Registrar', iana_id: 376 } },
    endsAt: Date.parse('2027-05-01T00:00:00Z'),
    nextLookAt: w.clock.now() + dayMs,
  })
  await later(w, dayMs - minuteMs)
  expect(double.asked).toHaveLength(2)
  await later(w, minuteMs)
  expect(double.asked).toHaveLength(4)
})

test('WHOIS is read where a registry has no RDAP', async () => {
  const w = await opened()
  double.names.set('shop.io', { expires: '2027-05-01T00:00:00Z' })
  double.names.set('shop.de', {})
  await want(w, 'shop.io', 'shop.de')
  await look(w)
  expect(await endOf(w, 'shop.io')).toEqual(['found', '2027-05-01T00:00:00.000Z'])
  expect(await endOf(w, 'shop.de')).toEqual(['found', null])
})

describe('absence', () => {
  test('counts once the server has confirmed its canary', async () => {
    const w = await opened()
    await want(w, 'free.com')
    await look(w)
    await later(w, 5 * minuteMs)
    expect(await endOf(w, 'free.com')).toEqual(['absent', null])
    expect((await registry(w, 'com')).sources[0].canary).toEqual({ name: 'example.com', ok_at: expect.any(String) })
  })

  test('means nothing while the server doesn’t know its canary', async () => {
    const w = await opened()
    double.names.set('shop.com', { expires: '2027-05-01T00:00:00Z' })
    await want(w, 'shop.com', 'free.com')
    await look(w)
    double.rdapAnswer = () => rdap({ errorCode: 404 }, 404)
    for (let day = 0; day < 3; day++) await later(w, dayMs)
    expect(await endOf(w, 'shop.com')).toEqual(['found', '2027-05-01T00:00:00.000Z'])
    expect((await factsOf(w, 'shop.com')).evidence[0]).toMatchObject({
      result: 'unknown',
      detail: 'The answer doesn’t count until the server confirms that example.com is registered.',
    })
    expect((await registry(w, 'com')).sources[0].canary).toEqual({ name: 'example.com', ok_at: null })
  })

  test('is noticed when a domain was deleted', async () => {
    const w = await opened()
    double.names.set('shop.com', { expires: '2027-05-01T00:00:00Z' })
    await want(w, 'shop.com')
    await look(w)
    double.names.delete('shop.com')
    await later(w, dayMs)
    await later(w, 5 * minuteMs)
    expect(await endOf(w, 'shop.com')).toEqual(['absent', null])
  })
})

test('in the auto renew period, the registrar says when a registration ends', async () => {
  const w = await opened()
  const auto = { expires: '2028-05-01T00:00:00Z', statuses: ['auto renew period'] }
  double.names.set('unpaid.com', { ...auto, registrarExpires: '2027-05-01T00:00:00Z' })
  double.names.set('paid.com', { ...auto, registrarExpires: '2028-05-01T00:00:00Z' })
  double.names.set('silent.com', auto)
  await want(w, 'unpaid.com', 'paid.com', 'silent.com')
  await look(w)
  expect(await endOf(w, 'unpaid.com')).toEqual(['found', '2027-05-01T00:00:00.000Z'])
  expect(await endOf(w, 'paid.com')).toEqual(['found', '2028-05-01T00:00:00.000Z'])
  expect(await endOf(w, 'silent.com')).toEqual(['found', '2027-05-01T00:00:00.000Z'])
  expect(double.asked.filter(one => one.startsWith('registrar'))).toHaveLength(3)
})

describe('a failed query changes neither state nor date', () => {
  const deep = `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`
  const huge = new Uint8Array(20 * 1024 * 1024).fill(32)
  const changed = (more: object) => rdap({ ...double.domain('shop.com', {}), ...more })
  test.each<[string, () => Response]>([
    ['HTML', () => new Response('<html></html>', { headers: { 'content-type': 'text/html' } })],
    ['HTML with 404', () => new Response('<html></html>', { status: 404, headers: { 'content-type': 'text/html' } })],
    ['an array', () => rdap([double.domain('shop.com', {})])],
    ['40 levels', () => new Response(deep)],
    ['20 MiB', () => new Response(huge)],
    ['another name', () => changed({ ldhName: 'other.com' })],
    ['no end', () => changed({ events: [] })],
    ['a server error', () => rdap({}, 500)],
    ['429', () => rdap({}, 429)],
    ['a redirect to a private address', () => Response.redirect('http://10.0.0.1/domain/shop.com')],
    ['a redirect to this machine', () => Response.redirect('http://127.0.0.2:1/domain/shop.com')],
    ['redirects without end', () => Response.redirect(`${double.url}/registry/domain/shop.com`)],
    ['a redirect to a file', () => new Response(null, { status: 302, headers: { location: 'file:///etc/passwd' } })],
  ])('%s', async (_, answer) => {
    const w = await opened()
    double.names.set('shop.com', { expires: '2027-05-01T00:00:00Z' })
    await want(w, 'shop.com')
    await look(w)
    double.rdapAnswer = answer
    await later(w, dayMs)
    expect(await endOf(w, 'shop.com')).toEqual(['found', '2027-05-01T00:00:00.000Z'])
    const { failures, evidence, nextLookAt } = await factsOf(w, 'shop.com')
    expect(failures).toBeGreaterThanOrEqual(1)
    expect(evidence[0]!.result).toBe('unknown')
    expect(nextLookAt).toBeLessThan(w.clock.now() + 2 * hourMs)
  })

  test.each<[string, (socket: Socket) => void]>([
    ['an octet and then nothing', socket => socket.write('D')],
    ['a line without end', socket => void socket.write('x'.repeat(200_000))],
    ['nothing', socket => void socket.end()],
    ['another encoding', socket => void socket.end(Buffer.from('Domain not found.\r\n', 'utf16le'))],
    ['“not found” in a remark', socket => void socket.end('% This name was not found.\r\nremarks: Domain not found.\r\n')],
    ['a reset', socket => void socket.resetAndDestroy()],
    ['a refusal', socket => void socket.end('WHOIS LIMIT EXCEEDED - SEE WWW.PIR.ORG/WHOIS FOR DETAILS\r\n')],
  ])('WHOIS with %s', async (_, answer) => {
    const w = await opened()
    double.names.set('shop.io', { expires: '2027-05-01T00:00:00Z' })
    await want(w, 'shop.io')
    await look(w)
    const asked = double.asked.length
    double.whoisAnswer = answer
    await w.advance(dayMs)
    await readDueRegistrations(w.hub)
    const settled = w.settle()
    // The time limit of a query is one of the clock of the test.
    for (let n = 0; n < 500 && double.asked.length < asked + 2; n++) await Bun.sleep(5)
    w.clock.advance(10_000)
    await settled
    expect(await endOf(w, 'shop.io')).toEqual(['found', '2027-05-01T00:00:00.000Z'])
    expect((await factsOf(w, 'shop.io')).evidence[0]!.result).toBe('unknown')
  })

  test('until the registry has not published the end for days', async () => {
    const w = await opened()
    double.names.set('shop.com', { expires: '2027-05-01T00:00:00Z' })
    await want(w, 'shop.com')
    await look(w)
    double.names.set('shop.com', {})
    for (let day = 0; day < 3; day++) {
      expect(await endOf(w, 'shop.com')).toEqual(['found', '2027-05-01T00:00:00.000Z'])
      await later(w, dayMs)
    }
    expect(await endOf(w, 'shop.com')).toEqual(['found', null])
  })

  test('and an end that is no longer published in redemption stays', async () => {
    const w = await opened()
    double.names.set('shop.com', { expires: '2027-05-01T00:00:00Z' })
    await want(w, 'shop.com')
    await look(w)
    double.names.set('shop.com', { statuses: ['redemption period', 'pending delete'] })
    await later(w, dayMs)
    expect(await endOf(w, 'shop.com')).toEqual(['found', '2027-05-01T00:00:00.000Z'])
    expect((await factsOf(w, 'shop.com')).facts?.statuses).toContain('redemption period')
  })

  test('dates that can’t be true are no dates', async () => {
    const w = await opened()
    const event = (eventDate: string) => ({ eventAction: 'expiration', eventDate })
    for (const [name, events] of [
      ['first.com', [event('0001-01-01T00:00:00Z')]],
      ['last.com', [event('9999-12-31T23:59:59Z')]],
      ['twice.com', [event('2027-05-01T00:00:00Z'), event('2028-05-01T00:00:00Z')]],
    ] as const) {
      double.rdapAnswer = () => rdap({ ...double.domain(name, {}), events })
      await want(w, name)
      await look(w)
      expect(await endOf(w, name)).toEqual(['found', null])
    }
  })
})

describe('pace', () => {
  const many = Array.from({ length: 20 }, (_, n) => `d${n}.com`)
  test('queries to a server have a pace and a limit per day', async () => {
    const w = await opened({ paces: paces(10, 3, 12) })
    for (const name of many) double.names.set(name, { expires: '2027-05-01T00:00:00Z' })
    await want(w, ...many)
    await look(w)
    expect(double.asked).toHaveLength(3)
    await later(w, 9_000)
    expect(double.asked).toHaveLength(3)
    await later(w, 1_000)
    expect(double.asked).toHaveLength(4)
    for (let n = 0; n < 30; n++) await later(w, 10_000)
    expect(double.asked).toHaveLength(12)
    const { sources } = await registry(w, 'com')
    expect(sources[0]).toMatchObject({ pace: { seconds: 10, burst: 3, per_day: 12, used_today: 12 }, stretched_by: 1.75 })
    // A new day.
    await later(w, 14 * hourMs)
    for (let n = 0; n < 30; n++) await later(w, 10_000)
    expect(new Set(double.asked).size).toBe(21)
  })

  test('transactions at the same time don’t exceed it together', async () => {
    const w = await opened({ paces: paces(10, 3) })
    const take = () =>
      record(w.hub, async tx => {
        const { left } = await hostAllowance(tx, w.hub, double.rdapServer, 'wait')
        if (left > 0) await countQueries(tx, w.hub, double.rdapServer, 1)
        return { result: left > 0 }
      })
    const taken = await Promise.all(Array.from({ length: 20 }, take))
    expect(taken.filter(Boolean)).toHaveLength(3)
  })

  test('a server that refuses queries gets none until the time that it names', async () => {
    const w = await opened()
    double.rdapAnswer = () => rdap({}, 429, { 'retry-after': '1800' })
    await want(w, 'd0.com')
    await look(w)
    const asked = double.asked.length
    double.rdapAnswer = null
    double.names.set('d0.com', { expires: '2027-05-01T00:00:00Z' })
    double.names.set('d1.com', { expires: '2027-05-01T00:00:00Z' })
    await want(w, 'd1.com')
    expect((await registry(w, 'com')).sources[0]).toMatchObject({
      state: 'blocked',
      blocked_until: new Date(w.clock.now() + 1800_000).toISOString(),
      last_error: 'The server returned the status code 429.',
    })
    await later(w, 1799_000)
    expect(double.asked).toHaveLength(asked)
    await later(w, 1_000)
    await later(w, 1_000)
    expect(await endOf(w, 'd1.com')).toEqual(['found', '2027-05-01T00:00:00.000Z'])
    expect((await registry(w, 'com')).sources[0]).toMatchObject({ state: 'ok', blocked_until: null, last_error: null })
  })

  test('results of queries that had already been sent don’t shorten a block', async () => {
    const w = await opened()
    const { rdapServer: server } = double
    const note = (reading: Reading) =>
      record(w.hub, async tx => {
        await hostAllowance(tx, w.hub, server)
        await noteOutcome(tx, w.hub, server, reading)
        return { result: undefined }
      })
    const refused = (seconds: number | null) =>
      unknown('Too many queries.', { isThrottled: true, retryAfterMs: seconds && seconds * 1000 })
    const absent: Reading = { state: 'absent', detail: 'There is no such name.' }
    const start = w.clock.now()
    await note(refused(1800))
    for (const late of [absent, refused(60), refused(null), unknown('The server does not answer.')]) {
      await note(late)
      expect((await hostOf(w, server)).blockedUntil).toBe(start + 1_800_000)
    }
    await note(refused(3600))
    expect((await hostOf(w, server)).blockedUntil).toBe(start + hourMs)
    await w.advance(hourMs)
    await note(absent)
    expect(await hostOf(w, server)).toMatchObject({ blockedUntil: null, failures: 0, lastError: null, lastOkAt: start + hourMs })
  })

  test('a server that fails is asked less and less often', async () => {
    const w = await opened()
    double.rdapAnswer = () => rdap({}, 500)
    await want(w, ...many)
    for (let n = 0; n < 60; n++) await later(w, minuteMs)
    // Each name alone would be asked for several times. A few are already on their way when the server fails.
    expect(double.asked.length).toBeLessThan(20)
    const { failures, blockedUntil } = await hostOf(w, double.rdapServer)
    expect(failures).toBe(double.asked.length)
    expect(blockedUntil! - w.clock.now()).toBeLessThanOrEqual(hourMs)
    for (let n = 0; n < 5; n++) await later(w, hourMs)
    const host = double.rdapServer.slice('rdap:'.length)
    expect(await failingNotices(w)).toMatchObject([
      { count: 1, severity: 'warning', details: { server: host, protocol: 'rdap', failures: 10 } },
    ])
  })
})

test('the list of RDAP servers is fetched once a day, and a worse one is refused', async () => {
  const w = await opened()
  const use = async () => (await bootstrapOf(w.hub)).bootstrap.servers
  const services = (count: number) => [[Array.from({ length: count }, (_, n) => `t${n}`), [`${double.url}/registry/`]]]
  double.bootstrap = { ...double.bootstrap, services: services(2000) }
  await refreshBootstrap(w.hub)
  expect((await use()).has('t0')).toBe(false)
  await want(w, 'shop.com')
  await refreshBootstrap(w.hub)
  expect((await use()).size).toBe(2000)
  // Unchanged: 304.
  await w.advance(dayMs)
  await refreshBootstrap(w.hub)
  expect((await bootstrapOf(w.hub)).checkedAt).toBe(w.clock.now())
  for (const worse of [
    { ...double.bootstrap, services: services(1599) },
    { ...double.bootstrap, publication: '2026-11-19T00:00:00Z' },
    { ...double.bootstrap, version: '2.0' },
  ]) {
    double.bootstrap = worse
    await w.advance(dayMs)
    await refreshBootstrap(w.hub)
    expect((await use()).size).toBe(2000)
  }
  double.bootstrap = { version: '1.0', publication: '2026-11-21T00:00:00Z', services: services(1600) }
  await refreshBootstrap(w.hub)
  expect((await use()).size).toBe(1600)
})

describe('[DOMAIN_EXPIRATION]', () => {
  const degraded_if = ['[DOMAIN_EXPIRATION] < 30d']
  test('a check knows when the domain of its target expires, as soon as the registry says it', async () => {
    const w = await opened()
    double.names.set('shop.com', { expires: '2027-05-01T00:00:00Z' })
    const id = await watched(w, { target: 'https://www.shop.com/', degraded_if })
    expect(w.engine.specs.get(id)).toMatchObject({ revision: 1, domain_expires_at: null })
    await look(w)
    await awake(w, 2000)
    expect(w.engine.specs.get(id)).toMatchObject({ revision: 1, domain_expires_at: Date.parse('2027-05-01T00:00:00Z') })
    double.names.set('shop.com', { expires: '2028-05-01T00:00:00Z' })
    await later(w, dayMs)
    await awake(w, 2000)
    expect(w.engine.specs.get(id)).toMatchObject({ revision: 1, domain_expires_at: Date.parse('2028-05-01T00:00:00Z') })
  })

  test('what a monitor wants follows its conditions and its target', async () => {
    const w = await opened()
    const wanted = async () =>
      (await w.hub.read.select().from(registryInterests).where(eq(registryInterests.holderType, 'monitor'))).map(row => row.name)
    const id = await watched(w, { target: 'https://www.shop.com/' })
    expect(await wanted()).toEqual([])
    const patch = (body: object) => w.acme.call('PATCH', `/v1/monitors/${id}`, body)
    await patch({ degraded_if })
    expect(await wanted()).toEqual(['shop.com'])
    await patch({ target: 'http://mail.example.co.uk:8080/x' })
    expect(await wanted()).toEqual(['example.co.uk'])
    await patch({ target: 'http://192.0.2.1/' })
    expect(await wanted()).toEqual([])
    await patch({ target: 'https://xn--bcher-kva.de/', degraded_if: [], down_if: ['not [DOMAIN_EXPIRATION] > 1d'] })
    expect(await wanted()).toEqual(['xn--bcher-kva.de'])
    await patch({ down_if: [] })
    expect(await wanted()).toEqual([])
    await patch({ degraded_if })
    await w.acme.call('DELETE', `/v1/monitors/${id}`)
    expect(await wanted()).toEqual([])
  })

  test.each([
    ['tcp', 'shop.com:22'],
    ['icmp', 'shop.com'],
    ['dns', '_dmarc.shop.com'],
    ['tls', 'www.shop.com'],
    ['smtp', 'mail.shop.com:25'],
    ['imap', 'mail.shop.com:143'],
    ['pop3', 'mail.shop.com:110'],
    ['ssh', 'shop.com'],
    ['websocket', 'wss://shop.com/'],
  ])('works with the type %s', async (type, target) => {
    const w = await opened()
    const one = await w.acme.call('POST', '/v1/monitors', { type, target, degraded_if })
    expect(one.status).toBe(201)
    expect((await w.hub.read.select().from(registryInterests)).map(row => row.name).toSorted()).toEqual([
      'example.com',
      'shop.com',
    ])
  })

  test('facts that nobody wants are deleted', async () => {
    const w = await opened()
    const id = await watched(w, { target: 'https://www.shop.com/', degraded_if })
    const names = async () => (await w.hub.read.select().from(registryFacts)).map(row => row.name).toSorted()
    await pruneRegistry(w.hub)
    expect(await names()).toEqual(['example.com', 'shop.com'])
    await look(w)
    await w.acme.call('DELETE', `/v1/monitors/${id}`)
    await pruneRegistry(w.hub)
    expect(await names()).toEqual([])
    const servers = async () => (await w.hub.read.select().from(registryHosts)).length
    await w.advance(30 * dayMs - minuteMs)
    await pruneRegistry(w.hub)
    expect(await servers()).toBe(1)
    await w.advance(2 * minuteMs)
    await pruneRegistry(w.hub)
    expect(await servers()).toBe(0)
  })
})

describe('the API', () => {
  test('lists registries page by page, and filters them', async () => {
    const w = await opened()
    await want(w, 'shop.com', 'shop.de')
    const list = async (query: string) => (await w.acme.call('GET', `/v1/registries${query}`)).body
    const first = await list('?limit=2')
    expect(first.pagination.has_more).toBe(true)
    const second = await list(`?limit=2&cursor=${first.pagination.next_cursor}`)
    expect(second.data[0].tld > first.data[1].tld).toBe(true)
    expect((await list('?watched=true')).data.map((one: any) => [one.tld, one.watched_names])).toEqual([
      ['com', 1],
      ['de', 1],
    ])
    expect((await list('?q=.pнф')).data).toEqual([])
    expect((await list('?q=рф')).data.map((one: any) => [one.tld, one.unicode_tld])).toEqual([['xn--p1ai', 'рф']])
    expect((await w.acme.call('GET', '/v1/registries?limit=0')).status).toBe(400)
    expect((await w.acme.call('GET', '/v1/registries?cursor=x')).body.code).toBe('invalid_cursor')
  })

  test('returns a registry', async () => {
    const w = await opened({
      profiles: { io: { renewal_grace_days: 1, redemption_days: null, pending_delete_days: 2, source: 'us' } },
    })
    expect(await registry(w, 'com')).toMatchObject({
      tld: 'com',
      watched_names: 0,
      sources: [
        {
          kind: 'rdap',
          host: double.rdapServer.slice(5),
          origin: 'operator',
          state: 'unused',
          canary: { name: 'example.com', ok_at: null },
          stretched_by: 1,
        },
      ],
      profile: { renewal_grace_days: 45, redemption_days: 30, pending_delete_days: 5 },
    })
    expect((await registry(w, 'io')).profile).toMatchObject({ renewal_grace_days: 1, note: null, source: 'us' })
    expect((await registry(w, 'se')).sources.map((one: any) => one.host)).toEqual(['whois.iis.se'])
    expect((await registry(w, '%D1%80%D1%84')).tld).toBe('xn--p1ai')
    for (const tld of ['zz', 'a.b', '..', 'constructor', '%00'])
      expect((await w.acme.call('GET', `/v1/registries/${tld}`)).status).toBe(404)
  })

  test('requires domains.read', async () => {
    const w = await opened()
    expect((await (await w.scoped('domains.read')).call('GET', '/v1/registries/com')).status).toBe(200)
    expect((await (await w.scoped('dns.read')).call('GET', '/v1/registries/com')).status).toBe(403)
    expect((await w.anonymous.call('GET', '/v1/registries')).status).toBe(401)
  })
})

test.each([
  ['{', 'is not JSON'],
  ['[]', 'is invalid at #'],
  ['{"sources":[{"tlds":["com"],"kind":"rdap"}]}', 'needs a url'],
  ['{"sources":[{"tlds":["com"],"kind":"whois"}]}', 'needs a host'],
  ['{"sources":[{"tlds":["com"],"kind":"whois","host":"a.example","form":"zz"}]}', '#/sources/0/form'],
  ['{"sources":[{"tlds":["COM"],"kind":"whois","host":"a.example"}]}', '#/sources/0/tlds/0'],
  ['{"canary":{}}', '#/canary'],
  ['{"paces":{"rdap:x":{"seconds":0}}}', 'seconds'],
])('a registry file such as %s is refused', async (text, message) => {
  const settings = double.settings()
  writeFileSync(settings['BAILIWICK_REGISTRY_FILE']!, text)
  expect(() => registryFileOf(loadConfig({}, settings))).toThrow(message)
})

test('a registry file that does not exist is refused', () => {
  const file = join(import.meta.dir, 'missing.json')
  expect(() => registryFileOf(loadConfig({}, { BAILIWICK_REGISTRY_FILE: file }))).toThrow('can’t be read')
})
