import { afterAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { pruneEvents } from '../../src/features/events/retention'
import { hasOpenDelivery } from '../../src/features/webhooks/deliveries/open'
import { pruneDeliveries } from '../../src/features/webhooks/deliveries/retention'
import { webhookDeliveries } from '../../src/features/webhooks/deliveries/tables'
import { webhookEndpoints } from '../../src/features/webhooks/endpoints/tables'
import { endpointAt, raiseAlert, receiver, stopReceivers } from '../support/receiver'
import { world } from '../support/world'

const day = 86_400_000
afterAll(stopReceivers)

test('deliveries and events are deleted after the retention of the plan, unless they are still to be sent', async () => {
  const w = await world()
  const hook = receiver()
  await w.limit(w.acme.workspaceId, { delivery_log_days: 7, event_feed_days: 7 })
  const endpoint = (
    await w.acme.call('POST', '/v1/webhook-endpoints', { url: hook.url, events: ['monitor.alert'], retry_schedule: [691_200] })
  ).body
  const hb = (
    await w.acme.call('POST', '/v1/heartbeats', {
      name: 'job',
      schedule: { kind: 'period', period_seconds: 86_400, grace_seconds: 60 },
    })
  ).body
  const fail = async () => {
    await w.app.handle(new Request(`http://localhost:8484/ping/${hb.uuid}/fail`))
    await w.app.handle(new Request(`http://localhost:8484/ping/${hb.uuid}`))
    await w.settle()
  }
  await fail()
  hook.answer = () => new Response(null, { status: 503 })
  await fail()
  await w.acme.call('POST', `/v1/heartbeats/${hb.id}/pause`)
  const remaining = async () => {
    await pruneDeliveries(w.hub)
    await pruneEvents(w.hub, hasOpenDelivery)
    const deliveries = (await w.acme.call('GET', '/v1/webhook-deliveries')).body.data.map((one: any) => one.status)
    return { deliveries, alerts: (await w.acme.call('GET', '/v1/events?kind=monitor.alert')).body.data.length }
  }
  expect(await remaining()).toEqual({ deliveries: ['retrying', 'delivered'], alerts: 2 })
  await w.advance(3 * day)
  await w.acme.call('PATCH', `/v1/webhook-endpoints/${endpoint.id}`, { active: false })
  await w.advance(4 * day + 1000)
  expect(await remaining()).toEqual({ deliveries: ['held'], alerts: 1 })
  hook.answer = () => new Response()
  await w.acme.call('PATCH', `/v1/webhook-endpoints/${endpoint.id}`, { active: true })
  await w.settle()
  expect(await remaining()).toEqual({ deliveries: ['delivered'], alerts: 0 })
})

test('deliveries held for the whole retention expire, stay visible for as long again, and are never sent', async () => {
  const w = await world()
  const hook = receiver()
  await w.limit(w.acme.workspaceId, { delivery_log_days: 7, event_feed_days: 7 })
  const { id } = await endpointAt(w, hook.url, { active: false })
  await raiseAlert(w)
  await w.settle()
  await w.advance(3 * day)
  await raiseAlert(w)
  await w.settle()
  await w.advance(4 * day)
  const states = async () => {
    await pruneDeliveries(w.hub)
    const { data } = (await w.acme.call('GET', '/v1/webhook-deliveries?sort=id')).body
    return data.map((one: any) => `${one.status}: ${one.reason}`)
  }
  expect(await states()).toEqual(Array(2).fill('held: endpoint_inactive'))
  await w.advance(1)
  expect(await states()).toEqual(['expired: held_too_long', 'held: endpoint_inactive'])
  const [ended] = (await w.acme.call('GET', '/v1/webhook-deliveries?status=expired')).body.data
  expect(ended).toMatchObject({ finished_at: '2026-11-28T10:00:00.001Z', next_attempt_at: null, attempt_count: 0 })
  await pruneEvents(w.hub, hasOpenDelivery)
  await w.acme.call('PATCH', `/v1/webhook-endpoints/${id}`, { active: true })
  await w.settle()
  expect(hook.received).toHaveLength(1)
  await w.advance(7 * day)
  expect(await states()).toEqual(['expired: held_too_long', 'delivered: null'])
  await w.advance(1)
  expect(await states()).toEqual([])
})

test('held deliveries never expire if the plan has no retention limit', async () => {
  const w = await world()
  await w.limit(w.acme.workspaceId, { delivery_log_days: null })
  await endpointAt(w, 'http://127.0.0.1:9/hook', { active: false })
  await raiseAlert(w)
  await w.settle()
  await w.advance(400 * day)
  await pruneDeliveries(w.hub)
  expect((await w.acme.call('GET', '/v1/webhook-deliveries')).body.data[0].status).toBe('held')
})

test('more than one batch of deliveries expires', async () => {
  const w = await world()
  await w.limit(w.acme.workspaceId, { delivery_log_days: 1 })
  await endpointAt(w, 'http://127.0.0.1:9/hook', { active: false })
  await endpointAt(w, 'http://127.0.0.1:9/hook', { active: false })
  for (let n = 0; n < 260; n++) await raiseAlert(w)
  await w.settle()
  await w.advance(day + 1)
  await pruneDeliveries(w.hub)
  const rows = await w.hub.read.select({ status: webhookDeliveries.status }).from(webhookDeliveries)
  expect([rows.length, rows.filter(row => row.status === 'expired').length]).toEqual([520, 520])
})

test('a delivery waiting for an expired one is sent', async () => {
  const w = await world()
  const hook = receiver()
  await w.limit(w.acme.workspaceId, { delivery_log_days: 7 })
  const { id } = await endpointAt(w, hook.url, { active: false, ordering: 'per_resource' })
  await raiseAlert(w)
  await w.settle()
  await w.advance(3 * day)
  await raiseAlert(w)
  await w.settle()
  // The state between reactivating the endpoint and releasing its deliveries: the second only waits for the first.
  const [, second] = (await w.acme.call('GET', '/v1/webhook-deliveries?sort=id')).body.data
  await record(w.hub, async tx => {
    await tx.update(webhookEndpoints).set({ active: true }).where(eq(webhookEndpoints.id, id))
    await tx.update(webhookDeliveries).set({ reason: 'waiting_for_earlier' }).where(eq(webhookDeliveries.id, second.id))
    return { result: undefined }
  })
  await w.advance(4 * day + 1)
  expect(hook.received).toHaveLength(0)
  await pruneDeliveries(w.hub)
  await w.settle()
  expect(hook.received.map(one => one.headers.get('x-service-sequence'))).toEqual(['2'])
  const { data } = (await w.acme.call('GET', '/v1/webhook-deliveries?sort=id')).body
  expect(data.map((one: any) => one.status)).toEqual(['expired', 'delivered'])
})
