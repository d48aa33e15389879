import { afterAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { jobs } from '../../src/core/db/tables'
import { pointers } from '../support/pointers'
import { powerDnsDouble, type Trouble } from '../support/power-dns-double'
import { callerWith, world, type World } from '../support/world'
import { createZone } from '../support/zones'

const double = powerDnsDouble('a-key-that-nobody-sees')
afterAll(() => double.stop())

const settings = { url: double.url, api_key: double.apiKey }
const input = { kind: 'powerdns', name: 'PowerDNS', settings }
const create = async ({ acme }: World, more: object = {}) => {
  const answer = await acme.call('POST', '/v1/dns/providers', { ...input, ...more })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body
}
const minute = 60_000

describe('kinds of providers', () => {
  test('describe their settings and capabilities', async () => {
    const { acme } = await world()
    const { data, pagination } = (await acme.call('GET', '/v1/dns/provider-kinds')).body
    expect(pagination).toEqual({ has_more: false, next_cursor: null })
    const kind = data.find((one: any) => one.kind === 'powerdns')
    expect(kind).toMatchObject({
      title: 'PowerDNS Authoritative Server',
      secrets: ['api_key'],
      destination: ['url', 'server_id', 'ca'],
      capabilities: { unit: 'rrset', atomic: 'batch', compare_and_swap: 'none', alias: 'native', apex_ns: 'rw' },
    })
    expect(kind.settings.required).toEqual(['url', 'api_key'])
    expect(kind.settings.properties.server_id).toMatchObject({ type: 'string', default: 'localhost' })
    // Unknown settings are rejected by every kind.
    expect(data.map((one: any) => one.settings.additionalProperties)).toEqual(data.map(() => false))
    for (const one of data)
      expect(Object.keys(one.settings.properties)).toEqual(expect.arrayContaining([...one.secrets, ...one.destination]))
  })
})

describe('providers', () => {
  test('are created without a request to them, and checked immediately after', async () => {
    const here = await world()
    const answer = await here.acme.call('POST', '/v1/dns/providers', input)
    expect(answer.status).toBe(201)
    expect(answer.headers.get('location')).toBe(`/v1/dns/providers/${answer.body.id}`)
    expect(answer.body).toMatchObject({
      kind: 'powerdns',
      name: 'PowerDNS',
      settings: { url: double.url, server_id: 'localhost', zone_kind: 'Native' },
      secrets_set: ['api_key'],
      state: 'unknown',
      last_checked_at: null,
      version: 1,
    })
    expect(answer.text).not.toContain(double.apiKey)
    await here.settle()
    const checked = await here.acme.call('GET', `/v1/dns/providers/${answer.body.id}`)
    expect(checked.body).toMatchObject({ state: 'ok', detail: 'PowerDNS 4.7.3', warnings: [], last_error: null, version: 1 })
    expect(checked.body.last_ok_at).toBe(checked.body.last_checked_at)
    expect(checked.text).not.toContain(double.apiKey)
    expect(await here.audited()).toEqual(['dns.provider.create'])
  })

  test('are listed after the built-in one, by name, and filtered', async () => {
    const here = await world()
    const second = await create(here, { name: 'b' })
    const first = await create(here, { name: 'a' })
    const listed = async (query = '') =>
      (await here.acme.call('GET', `/v1/dns/providers${query}`)).body.data.map((one: any) => one.id)
    expect(await listed()).toEqual(['builtin', first.id, second.id])
    expect(await listed('?kind=powerdns')).toEqual([first.id, second.id])
    expect(await listed('?kind=builtin')).toEqual(['builtin'])
    await here.settle()
    expect(await listed('?state=ok')).toEqual(['builtin', first.id, second.id])
    expect(await listed('?state=failing')).toEqual([])
    const theirs = (await here.rival.call('GET', '/v1/dns/providers')).body.data
    expect(theirs.map((one: any) => one.id)).toEqual(['builtin'])
  })

  test('report each invalid setting', async () => {
    const { acme } = await world()
    const refused = async (more: object, kind = 'powerdns') =>
      pointers(await acme.call('POST', '/v1/dns/providers', { kind, name: 'x', settings: more }))
    expect(await refused({})).toEqual([422, ['#/settings/url', '#/settings/api_key']])
    expect(await refused({ ...settings, nonsense: 1 })).toEqual([422, ['#/settings/nonsense']])
    expect(await refused({ ...settings, url: 'ftp://pdns.example' })).toEqual([422, ['#/settings/url']])
    expect(await refused({ ...settings, url: 'https://me:secret@pdns.example' })).toEqual([422, ['#/settings/url']])
    expect(await refused({ ...settings, url: 'https://pdns.example/?x=1' })).toEqual([422, ['#/settings/url']])
    for (const path of ['/api/v1', '/api/v1/', '/behind/api/v1/servers/localhost'])
      expect(await refused({ ...settings, url: `https://pdns.example${path}` })).toEqual([422, ['#/settings/url']])
    expect(await refused({ ...settings, api_key: 'two\r\nlines' })).toEqual([422, ['#/settings/api_key']])
    expect(await refused({ ...settings, ca: 'none' })).toEqual([422, ['#/settings/ca']])
    const key = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'
    const answer = await acme.call('POST', '/v1/dns/providers', { ...input, settings: { ...settings, ca: key } })
    expect([pointers(answer), answer.body.errors[0].detail]).toEqual([
      [422, ['#/settings/ca']],
      'must not contain a private key.',
    ])
    expect(answer.text).not.toContain('AAAA')
    expect(await refused({ ...settings, zone_kind: 'Slave' })).toEqual([422, ['#/settings/zone_kind']])
    expect(await refused(settings, 'builtin')).toEqual([422, ['#/kind']])
    expect((await acme.call('GET', '/v1/dns/providers')).body.data).toHaveLength(1)
  })

  test('have unique names, and a limit of 50', async () => {
    const here = await world()
    const { id } = await create(here, { name: 'n0' })
    const again = await here.acme.call('POST', '/v1/dns/providers', { ...input, name: 'n0' })
    expect([again.status, again.body.code, again.body.errors[0].pointer]).toEqual([409, 'already_exists', '#/name'])
    for (let n = 1; n < 50; n++) await create(here, { name: `n${n}` })
    const more = await here.acme.call('POST', '/v1/dns/providers', { ...input, name: 'more' })
    expect([more.status, more.body.code]).toEqual([409, 'conflict'])
    const renamed = await here.acme.call('PATCH', `/v1/dns/providers/${id}`, { name: 'n1' })
    expect([renamed.status, renamed.body.code]).toEqual([409, 'already_exists'])
    expect((await here.rival.call('POST', '/v1/dns/providers', { ...input, name: 'n0' })).status).toBe(201)
  })

  test('are updated field by field, and checked again if their settings change', async () => {
    const here = await world()
    const { id } = await create(here)
    await here.settle()
    await here.audited()
    const path = `/v1/dns/providers/${id}`
    const patched = async (patch: object, headers = {}) => (await here.acme.call('PATCH', path, patch, headers)).body
    expect(await patched({ name: 'other' })).toMatchObject({ name: 'other', state: 'ok', version: 2 })
    expect(await patched({ name: 'other', settings: { server_id: 'localhost' } })).toMatchObject({ state: 'ok', version: 2 })
    expect(await patched({ settings: { api_key: double.apiKey } })).toMatchObject({ state: 'ok', version: 2 })
    expect(await patched({ settings: { api_key: 'wrong-from-now-on' } })).toMatchObject({
      state: 'unknown',
      secrets_set: ['api_key'],
      version: 3,
    })
    await here.settle()
    expect((await here.acme.call('GET', path)).body).toMatchObject({ state: 'failing', last_error: { code: 'unauthorized' } })
    expect((await here.acme.call('PATCH', path, { name: 'x' }, { 'if-match': '"1"' })).status).toBe(412)
    expect(pointers(await here.acme.call('PATCH', path, { settings: { api_key: null } }))).toEqual([422, ['#/settings/api_key']])
    expect(await here.audited()).toEqual(['dns.provider.update', 'dns.provider.update', 'dns.provider.fail'])
    const log = await here.acme.call('GET', '/v1/audit-events?limit=100')
    expect(log.text).not.toContain(double.apiKey)
    expect(log.text).not.toContain('wrong-from-now-on')
  })

  test('send a secret only to the destination it was entered for', async () => {
    const here = await world()
    const { id } = await create(here)
    const path = `/v1/dns/providers/${id}`
    const elsewhere = { url: 'http://127.0.0.1:9' }
    expect(pointers(await here.acme.call('PATCH', path, { settings: elsewhere }))).toEqual([422, ['#/settings/api_key']])
    expect((await here.acme.call('PATCH', path, { settings: { ...elsewhere, api_key: 'another' } })).body.settings.url).toBe(
      elsewhere.url,
    )
  })

  test('are deleted, and no longer checked; the built-in one is not', async () => {
    const here = await world()
    const { id } = await create(here)
    expect((await here.acme.call('DELETE', `/v1/dns/providers/${id}`)).status).toBe(204)
    expect((await here.acme.call('GET', `/v1/dns/providers/${id}`)).status).toBe(404)
    await here.settle()
    expect(await here.hub.read.select().from(jobs).where(eq(jobs.kind, 'dns.check-provider'))).toEqual([])
    expect(await here.audited()).toEqual(['dns.provider.create', 'dns.provider.delete'])
    for (const [method, path] of [
      ['DELETE', ''],
      ['POST', '/check'],
      ['GET', '/zones'],
    ] as const)
      expect((await here.acme.call(method, `/v1/dns/providers/builtin${path}`)).status).toBe(409)
  })

  test('are hidden from a token that is limited to a zone', async () => {
    const here = await world()
    const { id } = await create(here)
    const zone = await createZone(here.acme)
    const { token } = (await here.acme.call('POST', '/v1/tokens', { name: 'n', mode: 'full', resource_ids: [zone.id] })).body
    const narrowed = callerWith(here.app, here.acme.workspaceId, token)
    expect((await narrowed.call('GET', `/v1/dns/providers/${id}`)).status).toBe(404)
    expect((await narrowed.call('GET', '/v1/dns/providers')).status).toBe(403)
    expect((await narrowed.call('GET', '/v1/dns/provider-kinds')).status).toBe(200)
    await here.settle()
    const requests = double.requests.length
    expect((await narrowed.call('POST', `/v1/dns/zones/${zone.id}/import-from`, { provider_id: id })).status).toBe(404)
    expect(pointers(await narrowed.call('POST', `/v1/dns/zones/${zone.id}/targets`, { provider_id: id }))).toEqual([
      422,
      ['#/provider_id'],
    ])
    expect(double.requests.length).toBe(requests)
  })
})

describe('checks of providers', () => {
  test('are made on demand, five a minute, and a failure is a result', async () => {
    const here = await world()
    const { id } = await create(here, { settings: { ...settings, url: 'http://127.0.0.1:9' } })
    const check = () => here.acme.call('POST', `/v1/dns/providers/${id}/check`)
    const first = await check()
    expect([first.status, first.body.state, first.body.last_error.code, first.body.version]).toEqual([
      200,
      'failing',
      'unreachable',
      1,
    ])
    for (let n = 1; n < 5; n++) expect((await check()).status).toBe(200)
    expect((await check()).status).toBe(429)
    expect((await here.audited()).filter(one => one === 'dns.provider.check')).toHaveLength(5)
  })

  test('test settings without storing them, ten a minute', async () => {
    const { acme } = await world()
    const tried = (more: object = {}) =>
      acme.call('POST', '/v1/dns/provider-checks', { kind: 'powerdns', settings: { ...settings, ...more } })
    expect((await tried()).body).toEqual({ state: 'ok', detail: 'PowerDNS 4.7.3', warnings: [], error: null })
    expect((await tried({ api_key: 'another' })).body).toMatchObject({ state: 'failing', error: { code: 'unauthorized' } })
    const away = await tried({ url: 'http://127.0.0.1:9' })
    expect([away.status, away.body.state, away.body.error.code]).toEqual([200, 'failing', 'unreachable'])
    expect(away.text).not.toContain(double.apiKey)
    expect(pointers(await tried({ url: 'no address' }))).toEqual([422, ['#/settings/url']])
    expect((await acme.call('GET', '/v1/dns/providers')).body.data.map((one: any) => one.kind)).toEqual(['builtin'])
    for (let n = 3; n < 10; n++) expect((await tried()).status).toBe(200)
    expect((await tried()).status).toBe(429)
  })

  test('run every ten minutes, and back off while one fails', async () => {
    const here = await world()
    const { id } = await create(here)
    const asked = () => double.requests.splice(0).length
    await here.settle()
    asked()
    await here.advance(9 * minute)
    expect(asked()).toBe(0)
    await here.advance(minute)
    expect(asked()).toBe(1)
    await here.audited()
    double.trouble = () => ({ status: 500 })
    try {
      const path = `/v1/dns/providers/${id}`
      const at: number[] = []
      for (let n = 0; n < 90; n++) {
        await here.advance(minute)
        if (asked() > 0) at.push(n + 1)
      }
      expect(at).toEqual([10, 11, 13, 18, 28, 48, 88])
      expect((await here.acme.call('GET', path)).body).toMatchObject({ state: 'failing', last_error: { code: 'refused' } })
    } finally {
      double.trouble = () => null
    }
    await here.advance(60 * minute)
    expect((await here.acme.call('GET', `/v1/dns/providers/${id}`)).body).toMatchObject({ state: 'ok', last_error: null })
    expect(await here.audited()).toEqual(['dns.provider.fail', 'dns.provider.recover'])
  })

  test('are discarded if the provider was updated meanwhile', async () => {
    const here = await world()
    const { id } = await create(here)
    await here.settle()
    const started = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<Trouble>()
    double.trouble = () => {
      started.resolve()
      return answer.promise
    }
    try {
      const check = here.acme.call('POST', `/v1/dns/providers/${id}/check`)
      await started.promise
      expect((await here.acme.call('PATCH', `/v1/dns/providers/${id}`, { name: 'other' })).status).toBe(200)
      answer.resolve({ status: 401 })
      expect((await check).status).toBe(409)
    } finally {
      double.trouble = () => null
    }
    expect((await here.acme.call('GET', `/v1/dns/providers/${id}`)).body).toMatchObject({ version: 2, state: 'ok' })
  })

  test('continue after a scheduled check collided with an update', async () => {
    const here = await world()
    const { id } = await create(here)
    await here.settle()
    const started = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<null>()
    double.trouble = () => {
      started.resolve()
      return answer.promise
    }
    try {
      const passing = here.advance(10 * minute)
      await started.promise
      expect((await here.acme.call('PATCH', `/v1/dns/providers/${id}`, { name: 'other' })).status).toBe(200)
      answer.resolve(null)
      await passing
    } finally {
      double.trouble = () => null
    }
    double.requests.length = 0
    await here.advance(10 * minute)
    expect(double.requests.length).toBeGreaterThan(0)
  })

  test('store a server message as one line that every database accepts', async () => {
    const here = await world()
    const { id } = await create(here)
    const check = async (status: number, body: object) => {
      double.trouble = () => ({ status, body: JSON.stringify(body) })
      return (await here.acme.call('POST', `/v1/dns/providers/${id}/check`)).body
    }
    try {
      const found = await check(200, { daemon_type: 'authoritative', version: '4.9\0\ud800\nx' })
      expect(found).toMatchObject({ state: 'ok', detail: 'PowerDNS 4.9 \ufffd x' })
      const failed = await check(500, { error: `a\0\ud800${'b'.repeat(10_000)}` })
      expect(failed.last_error.detail).toMatch(/^The remote server responded with status 500: a \ufffdb+…$/)
      expect(failed.last_error.detail.length).toBeLessThan(600)
    } finally {
      double.trouble = () => null
    }
  })

  test('follow the network policy of the workspace, and reveal no address', async () => {
    const here = await world()
    const theirs = (await here.rival.call('POST', '/v1/dns/providers', input)).body
    const checked = await here.rival.call('POST', `/v1/dns/providers/${theirs.id}/check`)
    expect(checked.body).toMatchObject({ state: 'failing', last_error: { code: 'unreachable' } })
    expect(checked.body.last_error.detail).not.toContain('127.0.0.1')
  })
})

describe('zones at a provider', () => {
  test('are listed page by page, with the matching zones of the workspace', async () => {
    const here = await world()
    const { id } = await create(here)
    for (const name of ['b.example.', 'a.example.', 'xn--bcher-kva.example.'])
      await fetch(`${double.url}/api/v1/servers/localhost/zones`, {
        method: 'POST',
        headers: { 'x-api-key': double.apiKey },
        body: JSON.stringify({ name, kind: 'Native', nameservers: [] }),
      })
    const zone = await createZone(here.acme, 'a.example')
    await createZone(here.rival, 'b.example')
    const page = async (query: string) => (await here.acme.call('GET', `/v1/dns/providers/${id}/zones${query}`)).body
    const whole = await page('')
    expect(whole.data).toEqual([
      { name: 'a.example', unicode_name: 'a.example', ref: 'a.example.', zone_id: zone.id },
      { name: 'b.example', unicode_name: 'b.example', ref: 'b.example.', zone_id: null },
      { name: 'xn--bcher-kva.example', unicode_name: 'bücher.example', ref: 'xn--bcher-kva.example.', zone_id: null },
    ])
    const first = await page('?limit=2')
    expect([first.data.length, first.pagination.has_more]).toEqual([2, true])
    const second = await page(`?limit=2&cursor=${first.pagination.next_cursor}`)
    expect([...first.data, ...second.data]).toEqual(whole.data)
    expect(second.pagination).toEqual({ has_more: false, next_cursor: null })
    expect((await page('?q=B.EX')).data.map((one: any) => one.name)).toEqual(['b.example'])
    expect((await page(`?q=b&cursor=${first.pagination.next_cursor}`)).code).toBe('invalid_cursor')
  })

  test('that can’t be listed are a problem with the reason', async () => {
    const here = await world()
    const { id } = await create(here)
    double.trouble = () => ({ status: 429, headers: { 'retry-after': '30' } })
    try {
      const refused = await here.acme.call('GET', `/v1/dns/providers/${id}/zones`)
      expect([refused.status, refused.body.code, refused.body.failure]).toEqual([424, 'provider_failed', 'throttled'])
      expect(refused.headers.get('retry-after')).toBe('30')
    } finally {
      double.trouble = () => null
    }
  })
})
