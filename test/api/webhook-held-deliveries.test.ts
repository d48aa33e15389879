import { afterEach, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { jobs } from '../../src/core/db/tables'
import { endpointAt, receiver, stopReceivers } from '../support/receiver'
import { world } from '../support/world'
import { deliveries, getDelivery, raise, resend } from '../support/webhook-deliveries'

afterEach(stopReceivers)

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
