import Cloudflare from 'cloudflare'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { CloudflareDouble } from '../support/cloudflare'
import { offence } from '../support/cloudflare-schema'
import type { CloudflareZone } from '../support/cloudflare-zone'

// The official SDK reads the responses of the double, to verify that it would accept them from Cloudflare.

const doubles: CloudflareDouble[] = []
afterAll(() => doubles.forEach(one => one.stop()))

let double: CloudflareDouble
let sdk: Cloudflare
let zone: CloudflareZone
let zone_id: string
let offences: string[]

const clientOf = (apiToken = double.token) => new Cloudflare({ apiToken, baseURL: double.url, maxRetries: 0, timeout: 20_000 })

beforeEach(async () => {
  double = await new CloudflareDouble().start()
  doubles.push(double)
  sdk = clientOf()
  zone = double.zone('example.com')
  zone_id = zone.id
  offences = []
  double.answered = (envelope, request) => {
    offences.push(...[offence(envelope, request)].filter(one => one !== null))
    return envelope
  }
})

// Responses must match the API description, whatever the SDK makes of them.
afterEach(() => expect(offences).toEqual([]))

/** Class of the SDK's error, with its status and first code. */
async function failure(call: Promise<unknown>) {
  try {
    await call
    return null
  } catch (error) {
    if (!(error instanceof Cloudflare.APIError)) throw error
    return [error.constructor.name, error.status, error.errors[0]?.code]
  }
}

const a = (name: string, content = '192.0.2.1', more: object = {}) =>
  ({ zone_id, type: 'A', name, content, ttl: 300, ...more }) as Cloudflare.DNS.RecordCreateParams

async function namesOf(list: AsyncIterable<{ name: string }>): Promise<string[]> {
  const names: string[] = []
  for await (const one of list) names.push(one.name)
  return names
}

describe('the SDK of Cloudflare', () => {
  test('lists, finds, creates and deletes zones', async () => {
    for (let count = 1; count <= 25; count++) double.zone(`z${String(count).padStart(2, '0')}.example`)
    const names = await namesOf(sdk.zones.list({ per_page: 10, order: 'name' }))
    expect(names).toHaveLength(26)
    expect(new Set(names).size).toBe(26)
    const found = await sdk.zones.list({ name: 'example.com', account: { id: double.accountId } })
    expect(found.result.map(one => one.id)).toEqual([zone_id])
    expect((await sdk.zones.get({ zone_id })).name_servers).toHaveLength(2)
    const created = await sdk.zones.create({ name: 'new.example', account: { id: double.accountId }, type: 'full' })
    expect(created).toMatchObject({ name: 'new.example', account: { id: double.accountId }, type: 'full' })
    expect(await failure(sdk.zones.create({ name: 'new.example', account: { id: double.accountId } }))).toEqual([
      'BadRequestError',
      400,
      1061,
    ])
    await sdk.zones.delete({ zone_id: created.id })
    expect((await sdk.zones.list({ name: 'new.example' })).result).toEqual([])
  })

  test('creates, reads, updates, replaces and deletes records', async () => {
    const created = await sdk.dns.records.create(a('www', '192.0.2.1', { comment: 'web', tags: ['team:shop'] }))
    expect(created).toMatchObject({
      name: 'www.example.com',
      type: 'A',
      content: '192.0.2.1',
      ttl: 300,
      proxied: false,
      comment: 'web',
    })
    const edited = await sdk.dns.records.edit(created.id, a('www', '192.0.2.2'))
    expect(edited).toMatchObject({ id: created.id, content: '192.0.2.2', comment: 'web', tags: ['team:shop'] })
    const proxied = await sdk.dns.records.edit(created.id, a('www', '192.0.2.2', { proxied: true, ttl: 600 }))
    expect(proxied).toMatchObject({ proxied: true, ttl: 1 })
    const replaced = await sdk.dns.records.update(created.id, a('www', '192.0.2.3'))
    expect(replaced).toMatchObject({ id: created.id, content: '192.0.2.3', proxied: false, tags: [], ttl: 300 })
    expect((replaced as { comment?: unknown }).comment).toBeNull()
    expect(await sdk.dns.records.get(created.id, { zone_id })).toEqual(replaced)
    expect(await sdk.dns.records.delete(created.id, { zone_id })).toEqual({ id: created.id })
    expect(await failure(sdk.dns.records.get(created.id, { zone_id }))).toEqual(['NotFoundError', 404, 81044])
  })

  test('iterates pages of records, and filters them by name and type', async () => {
    for (let count = 100; count < 145; count++) await sdk.dns.records.create(a(`n${count}`))
    const names = await namesOf(sdk.dns.records.list({ zone_id, per_page: 20, order: 'name', direction: 'desc' }))
    expect(names).toEqual(Array.from({ length: 45 }, (_, at) => `n${144 - at}.example.com`))
    const page = await sdk.dns.records.list({ zone_id, per_page: 20, page: 3 })
    expect(page.result_info).toMatchObject({ page: 3, per_page: 20, count: 5, total_count: 45, total_pages: 3 } as object)
    expect((await sdk.dns.records.list({ zone_id, name: { exact: 'n120.example.com' } })).result).toHaveLength(1)
    expect((await sdk.dns.records.list({ zone_id, type: 'TXT' })).result).toEqual([])
  })

  test('supports types with data, and MX and URI with their priority', async () => {
    const create = (record: object) => sdk.dns.records.create({ zone_id, ttl: 1, ...record } as Cloudflare.DNS.RecordCreateParams)
    const srv = { priority: 10, weight: 5, port: 5223, target: 'server.example.com' }
    expect(await create({ type: 'SRV', name: '_xmpp._tcp', data: srv })).toMatchObject({ data: srv, ttl: 1 } as object)
    expect(await create({ type: 'MX', name: '@', content: 'mail.example.com', priority: 10 })).toMatchObject({
      name: 'example.com',
      content: 'mail.example.com',
      priority: 10,
    })
    const uri = await create({
      type: 'URI',
      name: '_http._tcp',
      priority: 5,
      data: { weight: 1, target: 'https://example.com/' },
    })
    expect(uri).toMatchObject({ priority: 5, data: { weight: 1, target: 'https://example.com/' } } as object)
    const https = await create({ type: 'HTTPS', name: 'www', data: { priority: 1, target: '.', value: 'alpn=h2' } })
    expect(https).toMatchObject({ content: '1 . alpn="h2"', data: { value: 'alpn="h2"' } } as object)
  })

  test('supports a record of every type', async () => {
    const digest = 'ab'.repeat(32)
    const association = { usage: 3, selector: 1, matching_type: 1, certificate: digest }
    const service = { priority: 1, target: 'svc.example.net', value: 'alpn="h2"' }
    const values: Partial<Record<Cloudflare.DNS.RecordResponse['type'], object>> = {
      A: { content: '192.0.2.1' },
      AAAA: { content: '2001:db8:0:0::1' },
      CAA: { data: { flags: 0, tag: 'issue', value: 'ca.example.net' } },
      CERT: { data: { type: 1, key_tag: 2, algorithm: 8, certificate: 'AQIDBA==' } },
      CNAME: { content: 'example.net' },
      DNSKEY: { data: { flags: 257, protocol: 3, algorithm: 13, public_key: 'AQIDBA==' } },
      DS: { data: { key_tag: 1, algorithm: 13, digest_type: 2, digest } },
      HTTPS: { data: service },
      LOC: {
        data: {
          ...{ lat_degrees: 37, lat_minutes: 46, lat_seconds: 46, lat_direction: 'N', altitude: 0, size: 100 },
          ...{ long_degrees: 122, long_minutes: 23, long_seconds: 35, long_direction: 'W', precision_horz: 0, precision_vert: 0 },
        },
      },
      MX: { content: 'mail.example.net', priority: 10 },
      NAPTR: { data: { order: 1, preference: 2, flags: 's', service: 'SIP+D2T', regex: '', replacement: 'sip.example.net' } },
      NS: { content: 'ns1.example.net' },
      OPENPGPKEY: { content: 'AQIDBA==' },
      PTR: { content: 'host.example.net' },
      SMIMEA: { data: association },
      SRV: { data: { priority: 1, weight: 2, port: 3, target: 'example.net' } },
      SSHFP: { data: { algorithm: 4, type: 2, fingerprint: digest } },
      SVCB: { data: service },
      TLSA: { data: association },
      TXT: { content: '"text"' },
      URI: { priority: 1, data: { weight: 2, target: 'https://example.net/' } },
    }
    for (const [type, value] of Object.entries(values))
      await sdk.dns.records.create({ zone_id, type, name: type, ttl: 60, ...value } as Cloudflare.DNS.RecordCreateParams)
    const listed = await sdk.dns.records.list({ zone_id })
    expect(listed.result.map(one => one.type)).toEqual(Object.keys(values).sort() as never)
    expect(listed.result.find(one => one.type === 'AAAA')?.content).toBe('2001:db8::1')
  })

  test('splits TXT strings that are too long', async () => {
    const text = await sdk.dns.records.create({ zone_id, type: 'TXT', name: 't', ttl: 60, content: `"${'x'.repeat(300)}"` })
    expect(text.content).toBe(`"${'x'.repeat(255)}" "${'x'.repeat(45)}"`)
    expect((await sdk.dns.records.create({ zone_id, type: 'TXT', name: 't', ttl: 60, content: 'a; b' })).content).toBe('a; b')
  })

  test('changes records in one batch, in the documented order', async () => {
    const [first, second, third] = ['a', 'b', 'c'].map(name =>
      zone.post({ type: 'A', name, content: '192.0.2.1', comment: name }),
    )
    const created = await sdk.dns.records.batch({
      zone_id,
      deletes: [{ id: first!.id }],
      patches: [{ id: second!.id, type: 'A', name: 'b.example.com', content: '192.0.2.2', ttl: 60 }],
      puts: [{ id: third!.id, type: 'A', name: 'c.example.com', content: '192.0.2.3', ttl: 60 }],
      // Possible because deletes come first.
      posts: [{ type: 'CNAME', name: 'a.example.com', content: 'b.example.com', ttl: 60 }],
    })
    expect(created.deletes?.map(one => one.id)).toEqual([first!.id])
    expect(created.patches).toMatchObject([{ content: '192.0.2.2', comment: 'b' }])
    expect(created.puts).toMatchObject([{ content: '192.0.2.3', comment: null }] as object[])
    expect(created.posts).toMatchObject([{ type: 'CNAME', name: 'a.example.com' }])
  })

  test('applies batches atomically, and rejects those beyond the plan limit', async () => {
    const { id } = zone.post({ type: 'A', name: 'a', content: '192.0.2.1' })
    const before = structuredClone(zone.rows)
    const posts = [{ type: 'A' as const, name: 'x', content: '192.0.2.1', ttl: 60 }]
    expect(await failure(sdk.dns.records.batch({ zone_id, deletes: [{ id }, { id: 'gone' }], posts }))).toEqual([
      'NotFoundError',
      404,
      81044,
    ])
    const many = Array.from({ length: 201 }, (_, at) => ({ ...posts[0]!, name: `x${at}` }))
    expect(await failure(sdk.dns.records.batch({ zone_id, posts: many }))).toEqual(['BadRequestError', 400, 1004])
    expect(zone.rows).toEqual(before)
  })

  test('gets Cloudflare errors as its error classes', async () => {
    await sdk.dns.records.create(a('www'))
    await sdk.dns.records.create({ zone_id, type: 'CNAME', name: 'alias', content: 'www.example.com', ttl: 1 })
    await sdk.dns.records.create({ zone_id, type: 'NS', name: 'sub', content: 'ns1.example.net', ttl: 1 })
    const create = async (record: object) => await failure(sdk.dns.records.create({ ...a('new'), ...record } as never))
    expect(await create(a('www'))).toEqual(['BadRequestError', 400, 81058])
    expect(await create({ type: 'CNAME', name: 'www', content: 'example.net' })).toEqual(['BadRequestError', 400, 81053])
    expect(await create({ name: 'alias' })).toEqual(['BadRequestError', 400, 81054])
    expect(await create({ name: 'sub' })).toEqual(['BadRequestError', 400, 81056])
    expect(await create({ content: '192.0.2' })).toEqual(['BadRequestError', 400, 9005])
    expect(await create({ ttl: 30 })).toEqual(['BadRequestError', 400, 9021])
    expect(await create({ type: 'TXT', content: 'x', proxied: true })).toEqual(['BadRequestError', 400, 9004])
    expect(await create({ type: 'TXT', content: '""' })).toEqual(['BadRequestError', 400, 1004])
    expect(await create({ type: 'DNAME', content: 'example.net' })).toEqual(['BadRequestError', 400, 1004])
    expect(await failure(sdk.zones.get({ zone_id: 'f'.repeat(32) }))).toEqual(['NotFoundError', 404, 1001])
    expect(await failure(sdk.zones.get({ zone_id: 'nothing' }))).toEqual(['NotFoundError', 404, 7003])
    expect(await failure(clientOf('w'.repeat(40)).zones.list())).toEqual(['PermissionDeniedError', 403, 9109])
    expect(await failure(clientOf('short').zones.list())).toEqual(['BadRequestError', 400, 6003])
  })

  test('is throttled above the limit for five minutes', async () => {
    let time = 0
    double.now = () => time
    double.allowance = 2
    const list = () => failure(Promise.resolve(sdk.zones.list()))
    expect([await list(), await list(), await list()]).toEqual([null, null, ['RateLimitError', 429, 971]])
    time = 300_000
    expect(await list()).toBeNull()
  })

  test('handles HTML pages and closed connections', async () => {
    double.fault = () => 'html'
    expect((await failure(sdk.zones.list() as Promise<unknown>))?.slice(0, 2)).toEqual(['InternalServerError', 502])
    double.fault = () => 'lost'
    expect((await failure(sdk.dns.records.create(a('www'))))?.[0]).toBe('APIConnectionError')
    expect(zone.rows).toHaveLength(1)
    double.fault = () => 'dropped'
    expect((await failure(sdk.dns.records.create(a('other'))))?.[0]).toBe('APIConnectionError')
    expect(zone.rows).toHaveLength(1)
  })
})
