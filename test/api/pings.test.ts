import { expect, test } from 'bun:test'
import { sha256Hex } from '../../src/core/crypto'
import { pingQueue } from '../../src/features/heartbeats/pings/pings'
import { world, type World } from '../support/world'

async function createHeartbeat(w: World, input: object = {}) {
  return (
    await w.acme.call('POST', '/v1/heartbeats', {
      name: 'backup',
      schedule: { kind: 'period', period_seconds: 60, grace_seconds: 10 },
      ...input,
    })
  ).body
}

const request = (w: World, path: string, init: RequestInit = {}) =>
  w.app.handle(new Request(`http://localhost:8484${path}`, init))

test('the ping API returns exactly the responses that its clients expect', async () => {
  const w = await world()
  const hb = await createHeartbeat(w)
  const { ping_key } = (await w.acme.call('GET', '/v1/heartbeats/ping-key')).body
  expect(ping_key).toMatch(/^[A-Za-z0-9_-]{22}$/)
  await createHeartbeat(w, { name: 'twin', slug: 'twin' })
  await createHeartbeat(w, { name: 'twin', slug: 'twin' })
  const table: [string, number, string][] = [
    [`/ping/${hb.uuid}`, 200, 'OK'],
    [`/ping/${hb.uuid}/`, 200, 'OK'],
    [`/ping/${hb.uuid}/start`, 200, 'OK'],
    [`/ping/${hb.uuid}/fail`, 200, 'OK'],
    [`/ping/${hb.uuid}/log`, 200, 'OK'],
    [`/ping/${hb.uuid}/0`, 200, 'OK'],
    [`/ping/${hb.uuid}/255`, 200, 'OK'],
    [`/ping/${hb.uuid}/256`, 400, 'invalid url format'],
    [`/ping/${hb.uuid}?rid=nonsense`, 400, 'invalid uuid format'],
    [`/ping/${hb.uuid}?rid=5BF66975-D4C7-4BF5-BCC8-B8D8A82EA278`, 200, 'OK'],
    [`/ping/${hb.uuid}/later`, 404, 'not found'],
    [`/ping/5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278`, 404, 'not found'],
    ['/ping/nonsense', 404, 'not found'],
    [`/ping/${ping_key}/backup`, 200, 'OK'],
    [`/ping/${ping_key}/backup/start`, 200, 'OK'],
    [`/ping/${ping_key}/backup/7`, 200, 'OK'],
    [`/ping/${ping_key}/Backup`, 400, 'invalid url format'],
    [`/ping/${ping_key}/unknown`, 404, 'not found'],
    [`/ping/${ping_key}/twin`, 409, 'ambiguous slug'],
    [`/ping/${ping_key}/made?create=1`, 201, 'Created'],
    [`/ping/${ping_key}/made?create=1`, 200, 'OK'],
    [`/ping/${ping_key}/other?create=1&every=zz`, 400, 'invalid schedule'],
    [`/ping/${ping_key}/other?create=1&every=1s`, 400, 'invalid schedule'],
    [`/ping/${'x'.repeat(22)}/backup`, 404, 'not found'],
  ]
  for (const [path, status, body] of table) {
    const response = await request(w, path)
    expect([path, response.status, await response.text()]).toEqual([path, status, body])
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('ping-body-limit')).toBe('100000')
  }
})

test('a heartbeat created by its first ping has a period of a day and a grace period of an hour, or those of the query', async () => {
  const w = await world()
  const { ping_key } = (await w.acme.call('GET', '/v1/heartbeats/ping-key')).body
  await request(w, `/ping/${ping_key}/plain?create=1`)
  await request(w, `/ping/${ping_key}/custom?create=1&every=30m&grace=5m`)
  const { data } = (await w.acme.call('GET', '/v1/heartbeats?sort=name')).body
  expect(data.map((one: any) => [one.slug, one.status, one.schedule.period_seconds, one.schedule.grace_seconds])).toEqual([
    ['custom', 'up', 1800, 300],
    ['plain', 'up', 86_400, 3600],
  ])
})

test('every HTTP method works', async () => {
  const w = await world()
  const hb = await createHeartbeat(w)
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH']) {
    const response = await request(w, `/ping/${hb.uuid}`, { method })
    expect([method, response.status]).toEqual([method, 200])
  }
  const { data } = (await w.acme.call('GET', `/v1/heartbeats/${hb.id}/pings`)).body
  expect(data.map((one: any) => one.method).reverse()).toEqual(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH'])
})

test('a heartbeat with POST only records pings by other methods without counting them', async () => {
  const w = await world()
  const hb = await createHeartbeat(w, { methods: 'POST' })
  expect((await request(w, `/ping/${hb.uuid}`)).status).toBe(200)
  expect((await w.acme.call('GET', `/v1/heartbeats/${hb.id}`)).body).toMatchObject({
    status: 'new',
    last_ping_at: null,
    ping_count: 1,
  })
  expect((await request(w, `/ping/${hb.uuid}`, { method: 'POST' })).status).toBe(200)
  expect((await w.acme.call('GET', `/v1/heartbeats/${hb.id}`)).body).toMatchObject({ status: 'up', ping_count: 2 })
})

test('the body is stored up to the limit, with any content', async () => {
  const w = await world({ BAILIWICK_PING_BODY_LIMIT: '10' })
  const hb = await createHeartbeat(w)
  expect((await request(w, `/ping/${hb.uuid}`, { method: 'POST', body: 'all is fine here' })).status).toBe(200)
  expect((await request(w, `/ping/${hb.uuid}`, { method: 'POST', body: new Uint8Array([0xff, 0, 0x41]) })).status).toBe(200)
  expect((await w.acme.call('GET', `/v1/heartbeats/${hb.id}/pings/1`)).body).toMatchObject({ body: 'all is fin', body_bytes: 10 })
  expect((await w.acme.call('GET', `/v1/heartbeats/${hb.id}/pings/2`)).body).toMatchObject({
    body: '\ufffd\u0000A',
    body_bytes: 3,
  })
  expect((await w.acme.call('GET', `/v1/heartbeats/${hb.id}/pings/3`)).status).toBe(404)
})

test('at least the last 100 pings are kept, and older ones are deleted', async () => {
  const w = await world()
  const hb = await createHeartbeat(w)
  for (let i = 0; i < 250; i++) {
    await request(w, `/ping/${hb.uuid}`)
    w.clock.advance(1000)
  }
  const { data, pagination } = (await w.acme.call('GET', `/v1/heartbeats/${hb.id}/pings?limit=100&include=total`)).body
  expect(data[0].n).toBe(250)
  expect(data[99].n).toBe(151)
  expect(pagination.total).toBe(150)
})

test('concurrent pings are all recorded, each with its own number', async () => {
  const w = await world()
  const hb = await createHeartbeat(w)
  const responses = await Promise.all(
    Array.from({ length: 40 }, (_, i) => request(w, `/ping/${hb.uuid}/${i % 2 ? 'log' : 'start'}`)),
  )
  expect(responses.every(one => one.status === 200)).toBe(true)
  const { data } = (await w.acme.call('GET', `/v1/heartbeats/${hb.id}/pings?limit=100`)).body
  expect(data.map((one: any) => one.n)).toEqual(Array.from({ length: 40 }, (_, i) => 40 - i))
  expect(data.filter((one: any) => one.kind === 'start')).toHaveLength(20)
})

test('the same API under /v1 returns JSON', async () => {
  const w = await world()
  const hb = await createHeartbeat(w)
  const recorded = await w.anonymous.call('POST', `/v1/ingest/heartbeats/${hb.uuid}/start`)
  expect([recorded.status, recorded.body]).toEqual([200, { ok: true, heartbeat_id: hb.id, created: false, n: 1, kind: 'start' }])
  const plain = await w.anonymous.call('POST', `/v1/ingest/heartbeats/${hb.uuid}`, 'some text', { 'content-type': 'text/plain' })
  expect(plain.body.n).toBe(2)
  expect((await w.acme.call('GET', `/v1/heartbeats/${hb.id}/pings/2`)).body.body).toBe('some text')
  for (const [path, status, code] of [
    ['5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278', 404, 'not_found'],
    [`${hb.uuid}/300`, 400, 'malformed_request'],
    [`${hb.uuid}?rid=x`, 400, 'malformed_request'],
    [`${hb.uuid}?colour=red`, 400, 'unknown_parameter'],
  ] as const) {
    const response = await w.anonymous.call('GET', `/v1/ingest/heartbeats/${path}`)
    expect([path, response.status, response.body.code]).toEqual([path, status, code])
  }
})

test('the push API of Uptime Kuma works', async () => {
  const w = await world()
  const hb = await createHeartbeat(w)
  expect(await (await request(w, `/api/push/${hb.uuid}?status=up&msg=OK&ping=12`)).json()).toEqual({ ok: true })
  expect((await w.acme.call('GET', `/v1/heartbeats/${hb.id}`)).body.status).toBe('up')
  expect(await (await request(w, `/api/push/${hb.uuid}?status=down&msg=broken`)).json()).toEqual({ ok: true })
  expect((await w.acme.call('GET', `/v1/heartbeats/${hb.id}`)).body.status).toBe('down')
  const unknown = await request(w, '/api/push/nothing')
  expect([unknown.status, ((await unknown.json()) as any).ok]).toEqual([404, false])
})

test('guessing URLs is rate limited, but a correct URL still works', async () => {
  const w = await world({ BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE: '3' })
  const hb = await createHeartbeat(w)
  const statuses: number[] = []
  for (let i = 0; i < 5; i++) statuses.push((await request(w, `/ping/${crypto.randomUUID()}`)).status)
  expect(statuses).toEqual([404, 404, 404, 429, 429])
  expect((await request(w, `/ping/${hb.uuid}`)).status).toBe(200)
})

test('a client in a loop is rate limited', async () => {
  const w = await world()
  const hb = await createHeartbeat(w)
  const responses = await Promise.all(Array.from({ length: 601 }, () => request(w, `/ping/${hb.uuid}/log`)))
  const limited = responses.filter(one => one.status === 429)
  expect(limited).toHaveLength(1)
  expect(Number(limited[0]!.headers.get('retry-after'))).toBeGreaterThan(0)
})

test('on the ping host, the path is just the UUID', async () => {
  const w = await world({ BAILIWICK_PING_HOST: 'ping.example.com' })
  const hb = await createHeartbeat(w)
  const at = async (host: string, path: string) => {
    const response = await w.app.handle(new Request(`http://${host}${path}`, { headers: { host } }))
    return [response.status, response.headers.get('content-type')?.split(';')[0]]
  }
  expect(await at('ping.example.com', `/${hb.uuid}`)).toEqual([200, 'text/plain'])
  expect(await at('ping.example.com:8484', `/${hb.uuid}/fail`)).toEqual([200, 'text/plain'])
  expect(await at('ping.example.com', `/${crypto.randomUUID()}`)).toEqual([404, 'text/plain'])
  expect((await at('localhost', `/${hb.uuid}`))[0]).toBe(404)
  expect((await w.acme.call('GET', `/v1/heartbeats/${hb.id}/pings`)).body.data.map((one: any) => one.kind)).toEqual([
    'fail',
    'success',
  ])
})

test('concurrent first pings create one heartbeat', async () => {
  const w = await world()
  const { ping_key } = (await w.acme.call('GET', '/v1/heartbeats/ping-key')).body
  const responses = await Promise.all(['/start', '', '/log', ''].map(end => request(w, `/ping/${ping_key}/job${end}?create=1`)))
  expect(responses.map(one => one.status).sort()).toEqual([200, 200, 200, 201])
  expect((await w.acme.call('GET', '/v1/heartbeats?slug=job')).body.data).toHaveLength(1)
  expect((await request(w, `/ping/${ping_key}/job`)).status).toBe(200)
})

test('a workspace has one ping key, even with concurrent requests', async () => {
  const w = await world()
  const keys = await Promise.all([1, 2, 3].map(() => w.acme.call('GET', '/v1/heartbeats/ping-key')))
  expect(new Set(keys.map(one => one.body.ping_key)).size).toBe(1)
  const rotated = await w.acme.call('POST', '/v1/heartbeats/ping-key/rotate')
  expect(rotated.body.ping_key).not.toBe(keys[0]!.body.ping_key)
  expect((await w.acme.call('GET', '/v1/audit-events')).text).not.toContain(rotated.body.ping_key)
})

test('an outage that starts and ends within one batch has the right duration', async () => {
  const w = await world()
  const hb = await createHeartbeat(w, { schedule: { kind: 'period', period_seconds: 86_400, grace_seconds: 10 } })
  await request(w, `/ping/${hb.uuid}/fail`)
  w.clock.advance(60_000)
  await request(w, `/ping/${hb.uuid}`)
  w.clock.advance(3600_000)
  const ping = {
    uuidHash: sha256Hex(hb.uuid),
    exitStatus: null,
    rid: null,
    at: w.clock.now(),
    method: 'GET',
    source: '127.0.0.1',
    userAgent: '',
    body: null,
  }
  await Promise.all([pingQueue(w.hub).add({ ...ping, kind: 'fail' }), pingQueue(w.hub).add({ ...ping, kind: 'success' })])
  const { data } = (await w.acme.call('GET', '/v1/events?kind=monitor.recovered&sort=id')).body
  expect(data.map((one: any) => one.data.downtime_seconds).slice(0, 2)).toEqual([60, 0])
})
