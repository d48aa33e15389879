import { afterEach, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { events, jobs } from '../../src/core/db/tables'
import { deliverJobFor } from '../../src/features/webhooks/sending/delivery-jobs'
import { webhookDeliveries } from '../../src/features/webhooks/deliveries/tables'
import { endpointAt, raiseAlert, receiver, stopReceivers } from '../support/receiver'
import { world, type World } from '../support/world'
import { deliveries, getDelivery, raise, resend } from '../support/webhook-deliveries'

afterEach(stopReceivers)

const msUntil = (here: World, at: string) => Date.parse(at) - here.clock.now()

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
