import { afterAll, expect, test } from 'bun:test'
import { pruneEvents } from '../../src/features/events/retention'
import { pruneDeliveries } from '../../src/features/webhooks/retention'
import { receiver, stopReceivers } from '../support/receiver'
import { world } from '../support/world'

const day = 86_400_000
afterAll(stopReceivers)

test('deliveries and events go when the plan’s days are over, and what is still to be sent stays', async () => {
  const w = await world()
  const hook = receiver()
  await w.limit(w.acme.workspaceId, { delivery_log_days: 7, event_feed_days: 7 })
  const endpoint = (await w.acme.call('POST', '/v1/webhook-endpoints', { url: hook.url, events: ['monitor.alert'] })).body
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
  await w.acme.call('PATCH', `/v1/webhook-endpoints/${endpoint.id}`, { active: false })
  await fail()
  await w.acme.call('POST', `/v1/heartbeats/${hb.id}/pause`)
  const left = async () => {
    await pruneDeliveries(w.hub)
    await pruneEvents(w.hub)
    const deliveries = (await w.acme.call('GET', '/v1/webhook-deliveries')).body.data.map((one: any) => one.status)
    return { deliveries, alerts: (await w.acme.call('GET', '/v1/events?kind=monitor.alert')).body.data.length }
  }
  expect(await left()).toEqual({ deliveries: ['held', 'delivered'], alerts: 2 })
  await w.pass(7 * day + 1000)
  expect(await left()).toEqual({ deliveries: ['held'], alerts: 1 })
  await w.acme.call('PATCH', `/v1/webhook-endpoints/${endpoint.id}`, { active: true })
  await w.settle()
  expect(await left()).toEqual({ deliveries: ['delivered'], alerts: 0 })
})
