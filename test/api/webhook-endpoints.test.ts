import { afterEach, expect, setSystemTime, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { forgetCallers } from '../../src/access/callers'
import { workspaces } from '../../src/access/tables'
import { record } from '../../src/core/change'
import { eventKind } from '../../src/features/event-kinds'
import { openLog } from '../../src/core/log'
import { apiAreas, specsOf } from '../../src/hub/areas'
import { webhookEndpoints } from '../../src/features/webhooks/endpoints/tables'
import { endpointAt, receiver, stopReceivers } from '../support/receiver'
import { world } from '../support/world'

afterEach(stopReceivers)

const somewhere = { url: 'http://127.0.0.1:9/hook', events: ['monitor.alert'] }

test('the secret of an endpoint is shown once, and then only masked', async () => {
  const { acme, audited } = await world()
  const created = await acme.call('POST', '/v1/webhook-endpoints', { ...somewhere, description: 'Chat room' })
  expect(created.status).toBe(201)
  expect(created.body).toMatchObject({
    url: somewhere.url,
    description: 'Chat room',
    events: ['monitor.alert'],
    active: true,
    status: 'enabled',
    disabled_reason: null,
    failing: false,
    version: 1,
  })
  expect(created.body.id).toMatch(/^whe_/)
  expect(created.body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(created.body.secret_hint).toBe(`whsec_…${created.body.secret.slice(-4)}`)
  expect(created.headers.get('location')).toBe(`/v1/webhook-endpoints/${created.body.id}`)

  const key = created.body.secret.slice(6)
  const { secret: _, ...shown } = created.body
  const read = await acme.call('GET', `/v1/webhook-endpoints/${created.body.id}`)
  expect(read.body).toEqual(shown)
  for (const path of ['/v1/webhook-endpoints', '/v1/audit-events', '/v1/events', '/v1/webhook-deliveries']) {
    expect((await acme.call('GET', path)).text).not.toContain(key)
  }
  expect(await audited()).toEqual(['webhooks.endpoint.create'])
})

test('a secret is encrypted in the database, and bound to its endpoint', async () => {
  const here = await world()
  const [a, b] = [await endpointAt(here, somewhere.url), await endpointAt(here, somewhere.url)]
  const rows = await here.hub.read.select().from(webhookEndpoints)
  const sealed = (id: string) => rows.find(row => row.id === id)!.secretSealed
  expect(JSON.stringify(rows)).not.toContain(a.secret.slice(6))
  const place = { table: 'webhook_endpoints', column: 'secret_sealed', row: a.id, workspaceId: here.acme.workspaceId }
  expect(await here.hub.keys.open(place, sealed(a.id))).toBe(a.secret)
  await expect(here.hub.keys.open(place, sealed(b.id))).rejects.toThrow()
})

test('a repeated request with an idempotency key creates one endpoint and doesn’t return the secret again', async () => {
  const { acme, audited } = await world()
  const headers = { 'idempotency-key': 'once' }
  const first = await acme.call('POST', '/v1/webhook-endpoints', somewhere, headers)
  const again = await acme.call('POST', '/v1/webhook-endpoints', somewhere, headers)
  expect(again.status).toBe(201)
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  const { secret, ...shown } = first.body
  expect(again.body).toEqual({ ...shown, secret_shown_before: true })
  expect(again.text).not.toContain(secret)
  expect((await acme.call('GET', '/v1/webhook-endpoints')).body.data).toHaveLength(1)
  expect(await audited()).toEqual(['webhooks.endpoint.create'])
})

test('a custom secret is accepted, and an invalid one is rejected without repeating it', async () => {
  const { acme } = await world()
  const secret = `whsec_${Buffer.alloc(24, 'k').toString('base64')}`
  const created = await acme.call('POST', '/v1/webhook-endpoints', { ...somewhere, secret })
  expect(created.body.secret).toBe(secret)
  const refused = await acme.call('POST', '/v1/webhook-endpoints', { ...somewhere, secret: 'correct horse battery' })
  expect(refused.status).toBe(422)
  expect(refused.body.errors).toEqual([
    {
      pointer: '#/secret',
      code: 'format',
      detail: 'A webhook secret must be whsec_ followed by 24 to 64 random bytes in padded base64.',
    },
  ])
  expect(refused.text).not.toContain('battery')
})

test('unknown, duplicate, or no event kinds are rejected', async () => {
  const { acme, audited } = await world()
  const refused = async (events: unknown, pointer: string, code: string) => {
    const answer = await acme.call('POST', '/v1/webhook-endpoints', { ...somewhere, events })
    expect(answer.status).toBe(422)
    expect(answer.body.errors[0]).toMatchObject({ pointer, code })
  }
  await refused(['monitor.*'], '#/events/0', 'enum')
  await refused(['monitor.alert', 'monitor.alert'], '#/events', 'not_unique')
  await refused([], '#/events', 'too_few')
  await refused(undefined, '#/events', 'required')
  expect(await audited()).toEqual([])
})

test('subscribing to a kind or changing the URL requires read permission on its area', async () => {
  const { acme, scoped } = await world()
  const hooks = await scoped('webhooks.write')
  const both = await scoped('webhooks.write', 'monitoring.read')
  const refused = await hooks.call('POST', '/v1/webhook-endpoints', somewhere)
  expect(refused.status).toBe(403)
  expect(refused.body).toMatchObject({ code: 'insufficient_permission', required_permission: 'monitoring.read' })
  const created = await both.call('POST', '/v1/webhook-endpoints', somewhere)
  expect(created.status).toBe(201)

  const path = `/v1/webhook-endpoints/${created.body.id}`
  const added = await both.call('PATCH', path, { events: ['monitor.alert', 'dns.records_changed'] })
  expect(added.body.required_permission).toBe('dns.read')
  expect((await hooks.call('PATCH', path, { url: 'http://127.0.0.1:9/mine' })).body.required_permission).toBe('monitoring.read')
  expect((await hooks.call('PATCH', path, { events: ['monitor.alert'], description: 'same kinds' })).status).toBe(200)
  expect((await acme.call('GET', path)).body.url).toBe(somewhere.url)
})

test('an endpoint is updated by merge patch, with a version check', async () => {
  const { acme, audited } = await world()
  const created = (await acme.call('POST', '/v1/webhook-endpoints', somewhere)).body
  const path = `/v1/webhook-endpoints/${created.id}`
  const etag = (await acme.call('GET', path)).headers.get('etag')!
  const edited = await acme.call('PATCH', path, { description: 'Pager', active: false }, { 'if-match': etag })
  expect(edited.status).toBe(200)
  expect(edited.body).toMatchObject({ description: 'Pager', active: false, url: created.url, version: 2 })
  const stale = await acme.call('PATCH', path, { description: 'lost' }, { 'if-match': etag })
  expect(stale.status).toBe(412)
  expect((await acme.call('DELETE', path, undefined, { 'if-match': etag })).status).toBe(412)
  const wrong = [{ secret: 'whsec_x' }, { status: 'enabled' }, { description: null }]
  for (const patch of wrong) expect((await acme.call('PATCH', path, patch)).status).toBe(422)
  expect((await acme.call('DELETE', path)).status).toBe(204)
  expect((await acme.call('GET', path)).status).toBe(404)
  expect((await acme.call('DELETE', path)).status).toBe(404)
  expect(await audited()).toEqual(['webhooks.endpoint.create', 'webhooks.endpoint.update', 'webhooks.endpoint.delete'])
})

test('another workspace can’t access an endpoint, and a reader can’t change it', async () => {
  const here = await world()
  const { id } = await endpointAt(here, somewhere.url)
  const path = `/v1/webhook-endpoints/${id}`
  const calls = [
    ['GET', undefined, path],
    ['PATCH', { description: 'mine' }, path],
    ['DELETE', undefined, path],
    ['POST', {}, `${path}/test`],
    ['POST', {}, `${path}/enable`],
  ] as const
  for (const [method, body, at] of calls) {
    expect((await here.rival.call(method, at, body)).status).toBe(404)
    expect((await here.anonymous.call(method, at, body)).status).toBe(401)
    if (method !== 'GET') expect((await here.readOnly.call(method, at, body)).status).toBe(403)
  }
  expect((await here.rival.call('GET', '/v1/webhook-endpoints')).body.data).toEqual([])
  expect((await here.readOnly.call('GET', path)).status).toBe(200)
})

test('the list is filtered by active, status, kind, and text', async () => {
  const here = await world()
  const a = await endpointAt(here, 'http://127.0.0.1:9/a', { description: 'Pager of the night' })
  const b = await endpointAt(here, 'http://127.0.0.1:9/b', {
    active: false,
    events: ['domain.expiring', 'watched_domain.available'],
  })
  const ids = async (query: string) =>
    (await here.acme.call('GET', `/v1/webhook-endpoints?${query}`)).body.data.map((one: any) => one.id)
  expect(await ids('')).toEqual([b.id, a.id])
  expect(await ids('active=true')).toEqual([a.id])
  expect(await ids('active=false')).toEqual([b.id])
  expect(await ids('status=disabled')).toEqual([])
  expect(await ids('status=enabled,disabled')).toEqual([b.id, a.id])
  expect(await ids('event=watched_domain.available')).toEqual([b.id])
  expect(await ids('event=domain.status_changed')).toEqual([])
  expect(await ids('q=PAGER')).toEqual([a.id])
  expect(await ids('sort=url&limit=1')).toEqual([a.id])
  expect((await here.acme.call('GET', '/v1/webhook-endpoints?event=nonsense')).status).toBe(400)
})

test('the plan limits the number of endpoints', async () => {
  const { hub, rival } = await world()
  hub.resolve = async () => ['93.184.216.34']
  await record(hub, async tx => {
    await tx
      .update(workspaces)
      .set({ limitOverrides: { webhook_endpoints: 2 } })
      .where(eq(workspaces.id, rival.workspaceId))
    return { result: undefined }
  })
  await forgetCallers(hub)
  const make = () =>
    rival.call('POST', '/v1/webhook-endpoints', {
      url: 'https://hooks.example.com/',
      events: ['domain.expiring'],
    })
  const [first] = [await make(), await make()]
  const third = await make()
  expect(third.status).toBe(403)
  expect(third.body).toMatchObject({ code: 'plan_limit_reached', limit: 'webhook_endpoints', max: 2, used: 2 })
  expect((await rival.call('DELETE', `/v1/webhook-endpoints/${first!.body.id}`)).status).toBe(204)
  expect((await Promise.all([make(), make()])).map(one => one.status).sort()).toEqual([201, 403])
})

test('a customer’s endpoint can’t use a private network, and the resolved address is not revealed', async () => {
  const { hub, rival, audited } = await world()
  const leads: Record<string, string[]> = {
    'inside.example.com': ['10.1.2.3'],
    'half.example.com': ['93.184.216.34', '127.0.0.1'],
    'good.example.com': ['93.184.216.34'],
    'cloud.example.com': ['169.254.169.254'],
  }
  hub.resolve = async name => leads[name] ?? []
  const refusals: [string, string][] = [
    ['https://inside.example.com/', 'blocked_address'],
    ['https://half.example.com/', 'blocked_address'],
    ['https://cloud.example.com/', 'blocked_address'],
    ['https://127.0.0.1/', 'blocked_address'],
    ['https://[::1]/', 'blocked_address'],
    ['https://0x7f.1/', 'blocked_address'],
    ['https://localhost/', 'blocked_address'],
    ['https://[::ffff:10.0.0.1]/', 'blocked_address'],
    ['https://nowhere.example.com/', 'dns'],
    ['http://good.example.com/', 'invalid_url'],
    ['https://user:pass@good.example.com/', 'invalid_url'],
    ['https://good.example.com/#x', 'invalid_url'],
    ['https://good.example.com:25/', 'invalid_url'],
    ['ftp://good.example.com/', 'invalid_url'],
    ['good.example.com', 'invalid_url'],
  ]
  for (const [url, code] of refusals) {
    const answer = await rival.call('POST', '/v1/webhook-endpoints', { url, events: ['domain.expiring'] })
    expect([url, answer.status]).toEqual([url, 422])
    expect(answer.body.errors).toHaveLength(1)
    expect(answer.body.errors[0]).toMatchObject({ pointer: '#/url', code })
    expect(answer.text).not.toMatch(/10\.1\.2\.3|127\.0\.0\.1|169\.254|93\.184/)
  }
  const created = await rival.call('POST', '/v1/webhook-endpoints', {
    url: 'https://good.example.com/hook?x=1',
    events: ['domain.expiring'],
  })
  expect(created.status).toBe(201)
  const moved = await rival.call('PATCH', `/v1/webhook-endpoints/${created.body.id}`, { url: 'https://inside.example.com/' })
  expect(moved.body.errors[0]).toMatchObject({ pointer: '#/url', code: 'blocked_address' })
  expect(await audited()).toEqual([])
})

test('the operator’s endpoint can use the private network, but not the hub itself or cloud metadata', async () => {
  const { hub, acme } = await world()
  hub.listeners.push({ address: '::', port: 8484 })
  const at = async (url: string) => (await acme.call('POST', '/v1/webhook-endpoints', { ...somewhere, url })).status
  expect(await at('http://127.0.0.1:8485/')).toBe(201)
  expect(await at('http://10.0.0.7/')).toBe(201)
  expect(await at('http://127.0.0.1:8484/')).toBe(422)
  expect(await at('http://[::1]:8484/v1/tokens')).toBe(422)
  expect(await at('http://169.254.169.254/latest/')).toBe(422)
})

const verifiers = [
  ['standardwebhooks', StandardWebhook],
  ['svix', SvixWebhook],
] as const

test.each(verifiers)('npm %s verifies a test message, and so does node:crypto', async (_, Webhook) => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response('thanks', { status: 201, headers: { 'x-theirs': 'yes' } })
  const { id, secret } = await endpointAt(here, inbox.url)
  await here.audited()
  const sent = await here.acme.call('POST', `/v1/webhook-endpoints/${id}/test`, {})
  expect(sent.status).toBe(200)
  expect(sent.body).toMatchObject({
    endpoint_id: id,
    event_id: null,
    event: 'monitor.alert',
    test: true,
    resource: null,
    sequence: null,
    status: 'delivered',
    reason: null,
    attempt_count: 1,
    next_attempt_at: null,
    finished_at: '2026-11-21T10:00:00.000Z',
  })
  expect(sent.body.attempts).toHaveLength(1)
  expect(sent.body.attempts[0]).toMatchObject({
    number: 1,
    trigger: 'test',
    status_code: 201,
    error_class: null,
    error_message: null,
    started_at: '2026-11-21T10:00:00.000Z',
    response: { body: 'thanks', body_truncated: false },
  })
  expect(sent.body.attempts[0].response.headers['x-theirs']).toBe('yes')

  const [message] = inbox.received
  expect(inbox.received).toHaveLength(1)
  const { event, data } = JSON.parse(message!.body)
  expect([event, Object.keys(data)]).toEqual(['monitor.alert', Object.keys(eventKind('monitor.alert')!.example as object)])
  expect(message!.headers.get('x-service-test')).toBe('1')
  expect(message!.headers.get('webhook-id')).toBe(sent.body.message_id)
  expect(message!.headers.get('x-service-signature')).toBe(
    `sha256=${createHmac('sha256', secret).update(message!.body).digest('hex')}`,
  )
  setSystemTime(here.clock.now())
  try {
    new Webhook(secret).verify(message!.body, Object.fromEntries(message!.headers))
  } finally {
    setSystemTime()
  }
  expect((await here.acme.call('GET', `/v1/webhook-deliveries/${sent.body.id}`)).body).toEqual(sent.body)
  expect(await here.audited()).toEqual(['webhooks.endpoint.test'])
  expect(await here.emitted()).toEqual([])
})

test('a test is one attempt with any event kind, returns its result, and is limited to five a minute', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response('no', { status: 500 })
  const { id } = await endpointAt(here, inbox.url, { active: false })
  const send = (event?: string) => here.acme.call('POST', `/v1/webhook-endpoints/${id}/test`, event ? { event } : {})
  const failed = await send('domain.expiring')
  expect(failed.body).toMatchObject({ status: 'exhausted', reason: 'http_500', event: 'domain.expiring', next_attempt_at: null })
  expect(inbox.received[0]!.body).toBe('{"event":"domain.expiring","data":{"domain":"example.com","expires_at":"2026-11-21"}}')
  expect((await send('nonsense')).status).toBe(422)
  for (let more = 0; more < 4; more++) expect((await send()).status).toBe(200)
  const refused = await send()
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('12')
  expect(refused.body.detail).toContain('Try again in 12 s.')
  await here.advance(12_000)
  expect((await send()).status).toBe(200)
  await here.advance(86_400_000)
  expect(inbox.received).toHaveLength(6)
  // The message is recognizable as an example, has current dates, and keeps the time of day of the schedule.
  const { event, data } = JSON.parse(inbox.received[1]!.body)
  expect([event, data.heartbeat.name, data.heartbeat.slug]).toEqual(['monitor.alert', 'Example heartbeat', 'example-heartbeat'])
  expect([data.heartbeat.last_ping_at, data.heartbeat.expected_at]).toEqual([
    '2026-11-20T02:00:41.310Z',
    '2026-11-21T02:00:00.000Z',
  ])
  expect((await here.acme.call('GET', `/v1/webhook-endpoints/${id}`)).body).toMatchObject({ status: 'enabled', version: 1 })
})

test('a test repeated with its idempotency key is sent once', async () => {
  const here = await world()
  const inbox = receiver()
  const { id } = await endpointAt(here, inbox.url)
  const send = () => here.acme.call('POST', `/v1/webhook-endpoints/${id}/test`, {}, { 'idempotency-key': 'try' })
  const [first, again] = [await send(), await send()]
  expect(again!.body).toEqual(first!.body)
  expect(inbox.received).toHaveLength(1)
})

test('the log never contains a secret or a signature', async () => {
  const here = await world()
  const lines: string[] = []
  here.hub.log = openLog('debug', { write: (line: string) => void lines.push(line) })
  const inbox = receiver()
  const { id, secret } = await endpointAt(here, inbox.url)
  await here.acme.call('POST', `/v1/webhook-endpoints/${id}/test`, {})
  here.hub.log.info({ secret, headers: Object.fromEntries(inbox.received[0]!.headers) }, 'what a log line might contain')
  expect(lines.length).toBeGreaterThan(0)
  expect(lines.join()).not.toContain(secret.slice(6))
  expect(lines.join()).not.toContain(inbox.received[0]!.headers.get('x-service-signature')!)
})

test('the catalog lists all kinds with a schema and an example, core kinds first', async () => {
  const { acme, scoped } = await world()
  const list = await acme.call('GET', '/v1/event-kinds')
  expect(list.body.pagination).toEqual({ has_more: false, next_cursor: null })
  expect(list.body.data.slice(0, 8).map((one: any) => [one.kind, one.extension])).toEqual(
    [
      'domain.expiring',
      'domain.status_changed',
      'dns.records_changed',
      'server.status_changed',
      'monitor.alert',
      'watched_domain.dropping_soon',
      'watched_domain.available',
      'watched_domain.registered',
    ].map(kind => [kind, false]),
  )
  expect(list.body.data.slice(8).every((one: any) => one.extension)).toBe(true)
  const guards: string[] = specsOf(apiAreas).map(one => one.guard)
  for (const { area, available } of list.body.data) if (available) expect(guards).toContain(`${area}.read`)
  expect(list.body.data.filter((one: any) => one.available).map((one: any) => one.kind)).toEqual([
    'domain.expiring',
    'domain.status_changed',
    'dns.records_changed',
    'server.status_changed',
    'monitor.alert',
    'monitor.recovered',
    'monitor.acknowledged',
    'certificate.expiring',
    'certificate.issued',
    'certificate.gap_changed',
    'dynamic_ip.changed',
    'firewall.reverted',
    'port.opened',
    'server.certificate_not_served',
    'tls_endpoint.grade_changed',
    'webhook.endpoint_disabled',
  ])
  const one = await acme.call('GET', '/v1/event-kinds/domain.expiring')
  expect(one.body).toMatchObject({
    kind: 'domain.expiring',
    area: 'domains',
    available: true,
    version: 1,
    example: { domain: 'example.com' },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      required: ['domain', 'expires_at'],
      additionalProperties: false,
    },
  })
  expect(list.body.data[0]).toEqual(one.body)
  expect((await acme.call('GET', '/v1/event-kinds/domain.gone')).status).toBe(404)
  expect((await (await scoped('dns.read')).call('GET', '/v1/event-kinds')).status).toBe(403)
})
