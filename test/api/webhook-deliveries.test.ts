import { afterEach, expect, setSystemTime, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { record } from '../../src/core/change'
import { events, jobs } from '../../src/core/db/tables'
import { eventKind } from '../../src/features/event-kinds'
import { version } from '../../src/core/version'
import { endpointAt, raiseAlert, receiver, stopReceivers } from '../support/receiver'
import { world } from '../support/world'
import { deliveries, getDelivery, raise } from '../support/webhook-deliveries'

afterEach(stopReceivers)

const resource = 'hb_01k3zb2c4d6e8f0g2h4j6k8m0n'

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
