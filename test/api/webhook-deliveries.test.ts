import { afterEach, expect, setSystemTime, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { record } from '../../src/core/change'
import { events, jobs } from '../../src/core/db/tables'
import { eventKind } from '../../src/features/event-kinds'
import { version } from '../../src/core/version'
import { deliverJobFor } from '../../src/features/webhooks/sending/delivery-jobs'
import { standardSchedule } from '../../src/core/outgoing/retry-schedule'
import { webhookDeliveries } from '../../src/features/webhooks/deliveries/tables'
import { webhookEndpoints } from '../../src/features/webhooks/endpoints/tables'
import { endpointAt, raiseAlert, receiver, stopReceivers } from '../support/receiver'
import { world, type World } from '../support/world'

afterEach(stopReceivers)

const resource = 'hb_01k3zb2c4d6e8f0g2h4j6k8m0n'
const deliveries = async (here: World, query = ''): Promise<any[]> =>
  (await here.acme.call('GET', `/v1/webhook-deliveries?${query}`)).body.data
const getDelivery = async (here: World, id: string): Promise<any> =>
  (await here.acme.call('GET', `/v1/webhook-deliveries/${id}`)).body
const resend = (here: World, id: string) => here.acme.call('POST', `/v1/webhook-deliveries/${id}/resend`)
const raise = async (here: World, ...more: [string?, string?]) => {
  await raiseAlert(here, ...more)
  await here.settle()
}
const msUntil = (here: World, at: string) => Date.parse(at) - here.clock.now()

test('an event is sent to the subscribed endpoints, signed as all verifiers expect', async () => {
  const here = await world()
  const inbox = receiver()
  const { id, secret } = await endpointAt(here, inbox.url)
  await endpointAt(here, inbox.url, { events: ['domain.expiring', 'monitor.recovered'] })
  await raise(here)
  expect(inbox.received).toHaveLength(1)
  const { body, headers } = inbox.received[0]!
  const [delivery] = await deliveries(here)
  expect(body).toBe(JSON.stringify({ event: 'monitor.alert', data: eventKind('monitor.alert')!.example }))
  const seconds = String(here.clock.now() / 1_000)
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': `Bailiwick-Webhooks/${version}`,
    'x-service-event': 'monitor.alert',
    'x-service-timestamp': seconds,
    'x-service-delivery': delivery.id,
    'x-service-attempt': '1',
    'x-service-workspace': here.acme.workspaceId,
    'x-service-resource': `heartbeat/${resource}`,
    'x-service-sequence': '1',
    'x-service-occurred-at': '2026-11-21T10:00:00.000Z',
    'webhook-id': delivery.message_id,
    'webhook-timestamp': seconds,
    'x-service-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  })
  const absent = ['x-service-test', 'x-service-signature-next', 'transfer-encoding']
  expect(absent.filter(name => headers.has(name))).toEqual([])
  setSystemTime(here.clock.now())
  try {
    for (const Webhook of [StandardWebhook, SvixWebhook]) {
      new Webhook(secret).verify(body, Object.fromEntries(headers))
      expect(() => new Webhook(secret).verify(`${body} `, Object.fromEntries(headers))).toThrow()
    }
  } finally {
    setSystemTime()
  }
  expect(delivery).toMatchObject({
    endpoint_id: id,
    event: 'monitor.alert',
    test: false,
    resource: { type: 'heartbeat', id: resource },
    sequence: 1,
    status: 'delivered',
    reason: null,
    attempt_count: 1,
    next_attempt_at: null,
    finished_at: '2026-11-21T10:00:00.000Z',
    occurred_at: '2026-11-21T10:00:00.000Z',
    version: 1,
  })
  expect(delivery.event_id).toBe((await here.acme.call('GET', '/v1/events')).body.data[0].id)
})

test('the log of an attempt has the request and the response, with signatures redacted', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response(`a\0b${'é'.repeat(20_000)}`, { status: 200, headers: { 'x-theirs': 'yes' } })
  const { secret } = await endpointAt(here, `${inbox.url}?room=1`)
  await raise(here)
  const [listed] = await deliveries(here)
  expect(listed).not.toHaveProperty('attempts')
  const {
    attempts: [attempt],
  } = await getDelivery(here, listed.id)
  expect(attempt).toMatchObject({
    number: 1,
    trigger: 'auto',
    started_at: '2026-11-21T10:00:00.000Z',
    status_code: 200,
    error_class: null,
    error_message: null,
  })
  expect(attempt.request.url).toBe(`${inbox.url}?room=1`)
  expect(attempt.request.body).toBe(inbox.received[0]!.body)
  expect(attempt.request.headers).toMatchObject({
    'X-Service-Event': 'monitor.alert',
    'X-Service-Attempt': '1',
    'webhook-id': listed.message_id,
    'X-Service-Signature': 'sha256=[redacted]',
    'webhook-signature': 'v1,[redacted]',
  })
  expect(attempt.response.headers['x-theirs']).toBe('yes')
  expect(attempt.response.body).toBe(`ab${'é'.repeat(8_190)}\ufffd`)
  expect(attempt.response.body_truncated).toBe(true)
  expect(attempt.timings).toMatchObject({ tls_ms: null })
  expect(attempt.timings.total_ms).toBeGreaterThan(0)
  const whole = JSON.stringify(await getDelivery(here, listed.id))
  expect(whole).not.toContain(secret.slice(6))
  expect(whole).not.toContain(inbox.received[0]!.headers.get('x-service-signature')!.slice(7))
})

test('dispatching an event twice creates one delivery and one message', async () => {
  const here = await world()
  const inbox = receiver()
  await endpointAt(here, inbox.url)
  await raise(here)
  const [event] = await here.hub.read.select().from(events)
  await record(here.hub, async () => ({
    result: undefined,
    jobs: [1, 2].map(() => ({ kind: 'webhooks.dispatch', payload: { event_id: event!.id } })),
  }))
  await here.settle()
  expect(inbox.received).toHaveLength(1)
  expect(await deliveries(here)).toHaveLength(1)
  expect(await here.hub.read.select().from(jobs)).toEqual([])
})

test('the events of a resource are numbered, and have one message id for all endpoints', async () => {
  const here = await world()
  const [one, two] = [receiver(), receiver()]
  await endpointAt(here, one.url)
  await endpointAt(here, two.url)
  await raise(here)
  await raise(here)
  await raise(here, 'hb_01k3zb2c4d6e8f0g2h4j6k8m0p')
  expect(one.received.map(message => message.headers.get('x-service-sequence'))).toEqual(['1', '2', '1'])
  const ids = (inbox: typeof one) => inbox.received.map(message => message.headers.get('webhook-id'))
  expect(ids(one)).toEqual(ids(two))
  expect(new Set(ids(one)).size).toBe(3)
  expect(one.received[0]!.headers.get('x-service-delivery')).not.toBe(two.received[0]!.headers.get('x-service-delivery'))
})

test('events and deliveries of another workspace are not visible', async () => {
  const here = await world()
  const inbox = receiver()
  await endpointAt(here, inbox.url)
  await raise(here, resource, here.rival.workspaceId)
  expect(inbox.received).toEqual([])
  await raise(here)
  const [delivery] = await deliveries(here)
  expect((await here.rival.call('GET', '/v1/webhook-deliveries')).body.data).toEqual([])
  expect((await here.rival.call('GET', `/v1/webhook-deliveries/${delivery.id}`)).status).toBe(404)
  expect((await here.rival.call('POST', `/v1/webhook-deliveries/${delivery.id}/resend`)).status).toBe(404)
  expect((await here.readOnly.call('POST', `/v1/webhook-deliveries/${delivery.id}/resend`)).status).toBe(403)
})

test('a token without read permission on the area sees the delivery but not its body', async () => {
  const here = await world()
  await endpointAt(here, receiver().url)
  await raise(here)
  const [{ id }] = (await deliveries(here)) as [{ id: string }]
  const hooks = await here.scoped('webhooks.read')
  const seen = await hooks.call('GET', `/v1/webhook-deliveries/${id}`)
  expect(seen.body).toMatchObject({ id, status: 'delivered', event: 'monitor.alert' })
  expect(seen.body.attempts[0].request.body).toBeNull()
  const both = await here.scoped('webhooks.read', 'monitoring.read')
  expect((await both.call('GET', `/v1/webhook-deliveries/${id}`)).body.attempts[0].request.body).toContain('monitor.alert')
})

test('a failed delivery is retried on schedule, with the same bytes and a new signature, until the last attempt', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response('down', { status: 503 })
  const { id: endpoint, secret } = await endpointAt(here, inbox.url)
  await raise(here)
  const [{ id }] = (await deliveries(here)) as [{ id: string }]
  for (let attempt = 1; attempt < standardSchedule.length; attempt++) {
    const seen = await getDelivery(here, id)
    expect(seen).toMatchObject({ status: 'retrying', reason: 'http_503', attempt_count: attempt, finished_at: null })
    const wait = msUntil(here, seen.next_attempt_at)
    const delay = standardSchedule[attempt]! * 1_000
    expect(wait).toBeGreaterThanOrEqual(delay)
    expect(wait).toBeLessThanOrEqual(delay + Math.min(Math.max(delay / 10, 1_000), 900_000))
    await here.advance(wait - 1)
    expect(inbox.received).toHaveLength(attempt)
    await here.advance(1)
    expect(inbox.received).toHaveLength(attempt + 1)
  }
  const last = await getDelivery(here, id)
  expect(last).toMatchObject({ status: 'exhausted', reason: 'http_503', attempt_count: 10, next_attempt_at: null, version: 1 })
  expect(Date.parse(last.finished_at)).toBe(here.clock.now())
  await here.advance(30 * 86_400_000)
  expect(inbox.received).toHaveLength(10)
  expect(new Set(inbox.received.map(message => message.body)).size).toBe(1)
  expect(new Set(inbox.received.map(message => message.headers.get('webhook-id'))).size).toBe(1)
  expect(new Set(inbox.received.map(message => message.headers.get('webhook-signature'))).size).toBe(10)
  const numbers = Array.from({ length: 10 }, (_, at) => at + 1)
  expect(inbox.received.map(message => message.headers.get('x-service-attempt'))).toEqual(numbers.map(String))
  for (const { headers, body } of inbox.received) {
    const signed = `${headers.get('webhook-id')}.${headers.get('webhook-timestamp')}.${body}`
    const key = Buffer.from(secret.slice(6), 'base64')
    expect(headers.get('webhook-signature')).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  }
  expect(last.attempts.map((one: any) => [one.number, one.trigger, one.status_code])).toEqual(numbers.map(n => [n, 'auto', 503]))
  expect((await here.acme.call('GET', `/v1/webhook-endpoints/${endpoint}`)).body.status).toBe('enabled')
})

test('Retry-After delays the next attempt', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response(null, { status: 429, headers: { 'retry-after': '120' } })
  await endpointAt(here, inbox.url)
  await raise(here)
  const [delivery] = await deliveries(here)
  expect(delivery.reason).toBe('http_429')
  expect(msUntil(here, delivery.next_attempt_at)).toBeGreaterThanOrEqual(120_000)
  expect(msUntil(here, delivery.next_attempt_at)).toBeLessThanOrEqual(132_000)
})

test('a redirect is a failure and is not followed', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response(null, { status: 307, headers: { location: '/elsewhere' } })
  await endpointAt(here, inbox.url)
  await raise(here)
  const [delivery] = await deliveries(here)
  expect(delivery).toMatchObject({ status: 'retrying', reason: 'http_307' })
  expect((await getDelivery(here, delivery.id)).attempts[0]).toMatchObject({ status_code: 307, error_class: 'http_status' })
  expect(inbox.received.map(message => message.path)).toEqual(['/hook'])
})

test('an unreachable receiver is reported by error class, and gets the message once it is reachable', async () => {
  const here = await world()
  const stopped = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const port = stopped.port!
  await stopped.stop(true)
  await endpointAt(here, `http://127.0.0.1:${port}/`)
  await raise(here)
  const [{ id }] = (await deliveries(here)) as [{ id: string }]
  const seen = await getDelivery(here, id)
  expect(seen).toMatchObject({ status: 'retrying', reason: 'connect' })
  expect(seen.attempts[0]).toMatchObject({
    status_code: null,
    error_class: 'connect',
    error_message: 'The host refused the connection.',
    response: null,
  })
  let arrived = 0
  const back = Bun.serve({ port, hostname: '127.0.0.1', fetch: () => new Response(String(++arrived)) })
  await here.advance(6_000)
  await back.stop(true)
  expect(arrived).toBe(1)
  expect(await getDelivery(here, id)).toMatchObject({
    status: 'delivered',
    attempt_count: 2,
    reason: null,
    next_attempt_at: null,
  })
})

test('a name that resolves to a private network at the time of the attempt is not called', async () => {
  const here = await world()
  here.hub.resolve = async () => ['93.184.216.34']
  const created = await here.rival.call('POST', '/v1/webhook-endpoints', {
    url: 'https://rebinds.example.com/',
    events: ['monitor.alert'],
  })
  expect(created.status).toBe(201)
  here.hub.resolve = async () => ['93.184.216.34', '127.0.0.1']
  await raise(here, resource, here.rival.workspaceId)
  const [delivery] = (await here.rival.call('GET', '/v1/webhook-deliveries')).body.data
  expect(delivery).toMatchObject({ status: 'retrying', reason: 'blocked_address' })
  const detail = await here.rival.call('GET', `/v1/webhook-deliveries/${delivery.id}`)
  expect(detail.body.attempts[0]).toMatchObject({ error_class: 'blocked_address', status_code: null, response: null })
  expect(detail.text).not.toMatch(/127\.0\.0\.1|93\.184/)
})

test('410 twice in a row disables the endpoint, and new deliveries are held until it is re-enabled', async () => {
  const here = await world()
  const inbox = receiver()
  const watcher = receiver()
  const { id } = await endpointAt(here, inbox.url, { description: 'Chat room' })
  await endpointAt(here, watcher.url, { events: ['webhook.endpoint_disabled'] })
  await raise(here)
  await here.audited()
  await here.emitted()
  inbox.answer = () => new Response(null, { status: 410 })
  await raise(here)
  const [first] = await deliveries(here, `endpoint_id=${id}`)
  expect(first).toMatchObject({ status: 'retrying', reason: 'http_410' })
  await here.advance(6_000)
  expect((await here.acme.call('GET', `/v1/webhook-endpoints/${id}`)).body).toMatchObject({
    status: 'disabled',
    disabled_reason: 'gone',
    active: true,
    version: 2,
  })
  expect(await getDelivery(here, first.id)).toMatchObject({
    status: 'held',
    reason: 'endpoint_disabled',
    attempt_count: 2,
    next_attempt_at: null,
  })
  expect(await here.audited()).toEqual(['webhooks.endpoint.disable'])
  expect(await here.emitted()).toEqual(['monitor.alert', 'webhook.endpoint_disabled'])
  const [entry] = (await here.acme.call('GET', '/v1/audit-events?action=webhooks.endpoint.disable')).body.data
  expect(entry).toMatchObject({
    actor: { type: 'system', id: 'webhooks.deliver' },
    changes: { before: { status: 'enabled' }, after: { status: 'disabled', disabled_reason: 'gone' } },
  })
  expect(watcher.received).toHaveLength(1)
  expect(JSON.parse(watcher.received[0]!.body)).toEqual({
    event: 'webhook.endpoint_disabled',
    data: {
      endpoint: { id, url: inbox.url, description: 'Chat room' },
      reason: 'gone',
      failed_attempts: 2,
      last_success_at: '2026-11-21T10:00:00.000Z',
      disabled_at: new Date(here.clock.now()).toISOString(),
    },
  })

  await raise(here)
  const [held] = await deliveries(here, `endpoint_id=${id}`)
  expect(held).toMatchObject({ status: 'held', reason: 'endpoint_disabled', attempt_count: 0, next_attempt_at: null })
  expect((await resend(here, held.id)).status).toBe(409)
  await here.advance(86_400_000)
  expect(inbox.received).toHaveLength(3)

  inbox.answer = () => new Response()
  const enabled = await here.acme.call('POST', `/v1/webhook-endpoints/${id}/enable`, {})
  expect(enabled.body).toMatchObject({ status: 'enabled', disabled_reason: null, version: 3 })
  await here.settle()
  expect(inbox.received).toHaveLength(5)
  expect((await deliveries(here, `endpoint_id=${id}`)).map(one => one.status)).toEqual(['delivered', 'delivered', 'delivered'])
  expect(await here.audited()).toEqual(['webhooks.endpoint.enable'])
})

test('410 twice with another response in between doesn’t disable the endpoint', async () => {
  const here = await world()
  const inbox = receiver()
  const answers = [410, 200, 410, 500, 410]
  inbox.answer = () => new Response(null, { status: answers.shift() ?? 200 })
  const { id } = await endpointAt(here, inbox.url)
  await raise(here)
  await here.advance(6_000)
  await raise(here)
  await here.advance(6_000)
  await here.advance(331_000)
  expect(answers).toEqual([])
  expect((await here.acme.call('GET', `/v1/webhook-endpoints/${id}`)).body.status).toBe('enabled')
})

test('enabling without a replay keeps deliveries held', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response(null, { status: 410 })
  const { id } = await endpointAt(here, inbox.url)
  await raise(here)
  await raise(here)
  expect((await deliveries(here)).map(one => one.status)).toEqual(['held', 'held'])
  inbox.answer = () => new Response()
  await here.acme.call('POST', `/v1/webhook-endpoints/${id}/enable`, { replay: 'none' })
  await here.advance(86_400_000)
  expect(inbox.received).toHaveLength(2)
  const [held] = await deliveries(here, 'status=held')
  expect((await resend(here, held.id)).status).toBe(202)
  await here.settle()
  expect(await getDelivery(here, held.id)).toMatchObject({ status: 'delivered', attempt_count: 2 })
})

test('enabling again sends the deliveries left held, and then changes nothing', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response(null, { status: 410 })
  const { id } = await endpointAt(here, inbox.url)
  await raise(here)
  await raise(here)
  inbox.answer = () => new Response()
  const enable = (replay: object) => here.acme.call('POST', `/v1/webhook-endpoints/${id}/enable`, replay)
  const { version } = (await enable({ replay: 'none' })).body
  await here.audited()
  expect((await enable({ replay: 'held' })).body).toMatchObject({ status: 'enabled', version })
  await here.settle()
  expect((await deliveries(here)).map(one => one.status)).toEqual(['delivered', 'delivered'])
  expect(await here.audited()).toEqual(['webhooks.endpoint.enable'])
  const { reason } = (await here.acme.call('GET', '/v1/audit-events?action=webhooks.endpoint.enable&limit=1')).body.data[0]
  expect(reason).toBe('The endpoint was already enabled. Held deliveries are sent (2).')
  await enable({})
  expect(await here.audited()).toEqual([])
  const since = new Date(here.clock.now() - 60_000).toISOString()
  expect((await enable({ replay: 'since', since })).status).toBe(200)
  expect((await here.acme.call('GET', '/v1/actions?type=webhook_endpoint.recover')).body.data).toHaveLength(1)
})

test('a paused endpoint gets nothing until it is resumed, and then everything', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response(null, { status: 500 })
  const { id } = await endpointAt(here, inbox.url)
  await raise(here)
  const pause = (active: boolean) => here.acme.call('PATCH', `/v1/webhook-endpoints/${id}`, { active })
  await pause(false)
  await raise(here)
  expect((await deliveries(here)).map(one => [one.status, one.reason, one.next_attempt_at])).toEqual([
    ['held', 'endpoint_inactive', null],
    ['held', 'endpoint_inactive', null],
  ])
  await here.advance(3_600_000)
  expect(inbox.received).toHaveLength(1)
  expect(await here.hub.read.select().from(jobs).where(eq(jobs.kind, 'webhooks.deliver'))).toEqual([])

  inbox.answer = () => new Response()
  await pause(true)
  await here.settle()
  expect(inbox.received).toHaveLength(3)
  expect((await deliveries(here)).map(one => [one.status, one.attempt_count])).toEqual([
    ['delivered', 1],
    ['delivered', 2],
  ])
})

test('deleting an endpoint cancels its unfinished deliveries and keeps the log', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response(null, { status: 500 })
  const { id } = await endpointAt(here, inbox.url)
  await raise(here)
  await here.acme.call('DELETE', `/v1/webhook-endpoints/${id}`)
  const [canceled] = await deliveries(here, `endpoint_id=${id}`)
  expect(canceled).toMatchObject({
    status: 'canceled',
    reason: 'endpoint_deleted',
    next_attempt_at: null,
    finished_at: '2026-11-21T10:00:00.000Z',
  })
  await here.advance(86_400_000)
  expect(inbox.received).toHaveLength(1)
  expect((await getDelivery(here, canceled.id)).attempts).toHaveLength(1)
  expect((await resend(here, canceled.id)).status).toBe(409)
  expect(await here.hub.read.select().from(jobs)).toEqual([])
})

test('pausing or deleting an endpoint during an attempt holds or cancels the next one', async () => {
  for (const [act, status, reason] of [
    ['PATCH', 'held', 'endpoint_inactive'],
    ['DELETE', 'canceled', 'endpoint_deleted'],
  ] as const) {
    const here = await world()
    const inbox = receiver()
    const { id } = await endpointAt(here, inbox.url)
    inbox.answer = async () => {
      await here.acme.call(act, `/v1/webhook-endpoints/${id}`, act === 'PATCH' ? { active: false } : undefined)
      return new Response(null, { status: 500 })
    }
    await raise(here)
    expect((await deliveries(here))[0]).toMatchObject({ status, reason, attempt_count: 1, next_attempt_at: null })
  }
})

test('a resend is sent immediately with the same id and bytes, and replaces the scheduled retry', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response(null, { status: 500 })
  await endpointAt(here, inbox.url)
  await raise(here)
  await here.audited()
  const [{ id }] = (await deliveries(here)) as [{ id: string }]
  await here.advance(1_000)
  const again = await resend(here, id)
  expect(again.status).toBe(202)
  expect(again.body).toMatchObject({ id, status: 'pending', version: 2 })
  await here.settle()
  expect(await here.hub.read.select().from(jobs).where(eq(jobs.kind, 'webhooks.deliver'))).toHaveLength(1)
  const [first, second] = inbox.received
  expect(inbox.received).toHaveLength(2)
  expect(second!.body).toBe(first!.body)
  const equal = (name: string) => first!.headers.get(name) === second!.headers.get(name)
  expect(['webhook-id', 'x-service-delivery', 'x-service-signature'].map(equal)).toEqual([true, true, true])
  expect(['webhook-timestamp', 'webhook-signature', 'x-service-attempt'].map(equal)).toEqual([false, false, false])

  // It failed too: the schedule continues from here, and the resend doesn't count.
  const seen = await getDelivery(here, id)
  expect(seen).toMatchObject({ status: 'retrying', attempt_count: 2 })
  expect(msUntil(here, seen.next_attempt_at)).toBeGreaterThanOrEqual(5_000)
  expect(msUntil(here, seen.next_attempt_at)).toBeLessThanOrEqual(6_000)
  expect(seen.attempts.map((one: any) => one.trigger)).toEqual(['auto', 'manual'])
  inbox.answer = () => new Response()
  await here.advance(86_400_000)
  expect(inbox.received).toHaveLength(3)
  expect(await getDelivery(here, id)).toMatchObject({ status: 'delivered', attempt_count: 3 })
  expect(await here.audited()).toEqual(['webhooks.delivery.resend'])
})

test('a finished delivery is resent once, and keeps its final status if that fails', async () => {
  const here = await world()
  const inbox = receiver()
  await endpointAt(here, inbox.url)
  await raise(here)
  const [before] = await deliveries(here)
  inbox.answer = () => new Response(null, { status: 500 })
  await here.advance(60_000)
  // Requested twice before it runs: the final status is remembered, and the first request is void.
  await Promise.all([resend(here, before.id), resend(here, before.id)])
  await here.settle()
  const refused = await getDelivery(here, before.id)
  expect(refused).toMatchObject({ status: 'delivered', reason: null, finished_at: before.finished_at, next_attempt_at: null })
  expect(refused.attempts.at(-1)).toMatchObject({ trigger: 'manual', status_code: 500 })
  inbox.answer = () => new Response()
  await here.advance(86_400_000)
  const sent = inbox.received.length
  await resend(here, before.id)
  await here.settle()
  const delivered = await getDelivery(here, before.id)
  expect(delivered.status).toBe('delivered')
  expect(Date.parse(delivered.finished_at)).toBe(here.clock.now())
  expect(inbox.received).toHaveLength(sent + 1)
})

test('a resend is rejected while the delivery is in flight, and after five a minute', async () => {
  const here = await world()
  const inbox = receiver()
  const arrived = Promise.withResolvers<void>()
  const leave = Promise.withResolvers<void>()
  inbox.answer = async () => {
    arrived.resolve()
    await leave.promise
    return new Response()
  }
  await endpointAt(here, inbox.url)
  await raiseAlert(here)
  await arrived.promise
  const [delivery] = await deliveries(here)
  expect(delivery.status).toBe('in_flight')
  const refused = await resend(here, delivery.id)
  expect(refused.status).toBe(409)
  expect(refused.body.code).toBe('conflict')
  leave.resolve()
  await here.settle()
  for (let more = 0; more < 4; more++) {
    expect((await resend(here, delivery.id)).status).toBe(202)
    await here.settle()
  }
  const limited = await resend(here, delivery.id)
  expect(limited.status).toBe(429)
  expect(Number(limited.headers.get('retry-after'))).toBe(12)
  expect(inbox.received).toHaveLength(5)
})

test('an attempt that a resend has voided is not made', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response(null, { status: 500 })
  await endpointAt(here, inbox.url)
  await raise(here)
  const [{ id }] = (await deliveries(here)) as [{ id: string }]
  await resend(here, id)
  await here.settle()
  // As if another hub had claimed the first job at the same time as the resend.
  await record(here.hub, async tx => {
    const [row] = await tx.select().from(webhookDeliveries).where(eq(webhookDeliveries.id, id))
    const { uniqueKey: _, ...job } = deliverJobFor({ ...row!, version: 1 }, here.clock.now())
    return { result: undefined, jobs: [job] }
  })
  await here.settle()
  expect(inbox.received).toHaveLength(2)
  expect(await getDelivery(here, id)).toMatchObject({ status: 'retrying', attempt_count: 2 })
})

test('an attempt that was in flight when its process died is repeated', async () => {
  const here = await world()
  const inbox = receiver()
  await endpointAt(here, inbox.url, { active: false })
  await raise(here)
  const [{ id, endpoint_id }] = (await deliveries(here)) as [{ id: string; endpoint_id: string }]
  // As the process left it: in flight, with an expired lease on its job.
  await here.acme.call('PATCH', `/v1/webhook-endpoints/${endpoint_id}`, { active: true })
  await here.settle()
  await record(here.hub, async tx => {
    await tx
      .update(webhookDeliveries)
      .set({ status: 'in_flight', attemptCount: 1, finishedAt: null })
      .where(eq(webhookDeliveries.id, id))
    const [row] = await tx.select().from(webhookDeliveries).where(eq(webhookDeliveries.id, id))
    return { result: undefined, jobs: [deliverJobFor(row!, here.clock.now())] }
  })
  await here.settle()
  expect(inbox.received).toHaveLength(2)
  expect(await getDelivery(here, id)).toMatchObject({
    status: 'delivered',
    attempt_count: 3,
    attempts: [{ error_class: null }, { number: 2, error_class: 'aborted', status_code: null }, { number: 3, error_class: null }],
  })
})

test('an attempt that could not be made on our side is not logged, and is made when possible', async () => {
  const here = await world()
  const inbox = receiver()
  const { id } = await endpointAt(here, inbox.url)
  const [sound] = await here.hub.read.select().from(webhookEndpoints)
  const seal = (text: string) =>
    record(here.hub, async tx => {
      await tx.update(webhookEndpoints).set({ secretSealed: text }).where(eq(webhookEndpoints.id, id))
      return { result: undefined }
    })
  await seal(sound!.secretSealed.slice(0, -4))
  await raise(here)
  for (let n = 0; n < 5; n++) await here.advance(10_000)
  const [waiting] = (await deliveries(here)) as [{ id: string }]
  expect(await getDelivery(here, waiting.id)).toMatchObject({ status: 'pending', attempt_count: 0, attempts: [] })
  await seal(sound!.secretSealed)
  for (let n = 0; n < 5; n++) await here.advance(30_000)
  expect(inbox.received).toHaveLength(1)
  expect(await getDelivery(here, waiting.id)).toMatchObject({ status: 'delivered', attempt_count: 1 })
})

test('an endpoint has at most eight attempts in flight, and gets everything in the end', async () => {
  const here = await world()
  const inbox = receiver()
  const gate = Promise.withResolvers<void>()
  inbox.answer = async () => {
    await gate.promise
    return new Response()
  }
  const { id } = await endpointAt(here, inbox.url, { active: false })
  for (let n = 0; n < 30; n++) await raiseAlert(here)
  await here.settle()
  await here.acme.call('PATCH', `/v1/webhook-endpoints/${id}`, { active: true })
  while (inbox.received.length < 8) await Bun.sleep(5)
  // Enough time for a ninth to start, if it were allowed.
  await Bun.sleep(100)
  expect((await here.hub.read.select().from(jobs).where(eq(jobs.state, 'ready'))).length).toBe(22)
  expect((await deliveries(here, 'status=in_flight&limit=100')).length).toBe(8)
  gate.resolve()
  for (let rounds = 0; rounds < 50 && inbox.received.length < 30; rounds++) await here.advance(2_000)
  await here.settle()
  expect(inbox.received).toHaveLength(30)
  expect(new Set(inbox.received.map(message => message.headers.get('webhook-id'))).size).toBe(30)
  expect((await deliveries(here, 'limit=100')).map(one => one.attempt_count)).toEqual(Array(30).fill(1))
})

test('the list is filtered by status, kind, endpoint, event, resource, and time, and paged in both orders', async () => {
  const here = await world()
  const [good, bad] = [receiver(), receiver()]
  bad.answer = () => new Response(null, { status: 500 })
  const a = await endpointAt(here, good.url)
  const b = await endpointAt(here, bad.url)
  await raise(here)
  await here.advance(1_000)
  await raise(here, 'hb_01k3zb2c4d6e8f0g2h4j6k8m0p')
  const all = await deliveries(here)
  expect(all).toHaveLength(4)
  expect((await deliveries(here, 'status=delivered')).map(one => one.endpoint_id)).toEqual([a.id, a.id])
  expect((await deliveries(here, 'status=retrying,exhausted')).map(one => one.endpoint_id)).toEqual([b.id, b.id])
  expect(await deliveries(here, `endpoint_id=${b.id}&resource_id=${resource}`)).toHaveLength(1)
  expect(await deliveries(here, `event_id=${all[0].event_id}`)).toHaveLength(2)
  expect(await deliveries(here, 'event=monitor.alert')).toHaveLength(4)
  expect(await deliveries(here, 'event=domain.expiring')).toEqual([])
  expect(await deliveries(here, 'created_at[gt]=2026-11-21T10:00:00.500Z')).toHaveLength(2)
  const first = await here.acme.call('GET', '/v1/webhook-deliveries?sort=created_at&limit=3')
  const rest = await here.acme.call(
    'GET',
    `/v1/webhook-deliveries?sort=created_at&limit=3&cursor=${first.body.pagination.next_cursor}`,
  )
  expect([...first.body.data, ...rest.body.data].map(one => one.id)).toEqual(all.map(one => one.id).reverse())
  expect((await here.acme.call('GET', '/v1/webhook-deliveries?status=lost')).status).toBe(400)
})

test('a resend whose event was deleted keeps the final status of the delivery', async () => {
  const here = await world()
  const inbox = receiver()
  await endpointAt(here, inbox.url)
  await raiseAlert(here)
  await here.settle()
  const shown = async () => (await here.acme.call('GET', '/v1/webhook-deliveries')).body.data[0]
  const before = await shown()
  expect(before).toMatchObject({ status: 'delivered', attempt_count: 1 })
  await record(here.hub, async tx => {
    await tx.delete(events).where(eq(events.id, before.event_id))
    return { result: undefined }
  })
  await here.advance(1_000)
  expect((await here.acme.call('POST', `/v1/webhook-deliveries/${before.id}/resend`)).status).toBe(202)
  await here.settle()
  expect(inbox.received).toHaveLength(1)
  const { status, reason, finished_at, attempt_count } = before
  expect(await shown()).toMatchObject({ status, reason, finished_at, attempt_count })
})

test('a delivery with two jobs is sent by one of them, and doesn’t block others', async () => {
  const here = await world()
  const inbox = receiver()
  await endpointAt(here, inbox.url)
  await raise(here)
  const [{ id }] = await deliveries(here)
  // As a killed hub left it, after a failed run on our side and a pause gave it a second job.
  await record(here.hub, async tx => {
    const open = { status: 'in_flight', finishedAt: null } as const
    const [row] = await tx.update(webhookDeliveries).set(open).where(eq(webhookDeliveries.id, id)).returning()
    const job = { ...deliverJobFor(row!, here.clock.now()), uniqueKey: undefined, replaces: false }
    return { result: undefined, jobs: [job, job] }
  })
  await here.settle()
  await raise(here)
  expect((await deliveries(here)).map(one => one.status)).toEqual(['delivered', 'delivered'])
  const { attempts } = await getDelivery(here, id)
  expect(attempts.map((one: any) => [one.number, one.error_class])).toEqual([
    [1, null],
    [2, 'aborted'],
    [3, null],
  ])
  expect(inbox.received).toHaveLength(3)
})
