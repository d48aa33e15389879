import { afterEach, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { deliverJobFor } from '../../src/features/webhooks/sending/delivery-jobs'
import { standardSchedule } from '../../src/core/outgoing/retry-schedule'
import { webhookDeliveries } from '../../src/features/webhooks/deliveries/tables'
import { webhookEndpoints } from '../../src/features/webhooks/endpoints/tables'
import { endpointAt, receiver, stopReceivers } from '../support/receiver'
import { world, type World } from '../support/world'
import { deliveries, getDelivery, raise } from '../support/webhook-deliveries'

afterEach(stopReceivers)

const resource = 'hb_01k3zb2c4d6e8f0g2h4j6k8m0n'
const msUntil = (here: World, at: string) => Date.parse(at) - here.clock.now()

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
