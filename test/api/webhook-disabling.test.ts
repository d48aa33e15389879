import { afterEach, expect, test } from 'bun:test'
import { checkFailingEndpoints } from '../../src/features/webhooks/endpoints/failing'
import { endpointAt, raiseAlert, receiver, stopReceivers } from '../support/receiver'
import { world, type World } from '../support/world'

afterEach(stopReceivers)

const hour = 3_600_000
const day = 24 * hour
const failing = () => new Response(null, { status: 500 })
const succeeding = () => new Response()

/** Runs the check on three hubs at once, and then again on one. */
const look = async ({ hub }: World) => {
  await Promise.all([checkFailingEndpoints(hub), checkFailingEndpoints(hub), checkFailingEndpoints(hub)])
  await checkFailingEndpoints(hub)
}
const endpoint = async ({ acme }: World, id: string) => (await acme.call('GET', `/v1/webhook-endpoints/${id}`)).body
const notices = async ({ acme }: World, query = ''): Promise<any[]> =>
  (await acme.call('GET', `/v1/notices?limit=100${query}`)).body.data
const states = async ({ acme }: World, id: string) =>
  (await acme.call('GET', `/v1/webhook-deliveries?sort=id&limit=100&endpoint_id=${id}`)).body.data.map((one: any) => one.status)
/** Raises an alert each `every` ms for a while, and checks the endpoints after each. */
async function alertsFor(here: World, ms: number, every: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += every) {
    await raiseAlert(here)
    await here.settle()
    await here.advance(every)
    await look(here)
  }
}

test('an endpoint without a success for 5 days is disabled once, and pending deliveries are held', async () => {
  const here = await world()
  const inbox = receiver()
  const { id } = await endpointAt(here, inbox.url, { retry_schedule: [] })
  await raiseAlert(here)
  await here.settle()
  inbox.answer = failing
  const lastSuccess = new Date(here.clock.now()).toISOString()
  await alertsFor(here, 5 * day - 6 * hour, 6 * hour)
  expect(await endpoint(here, id)).toMatchObject({ status: 'enabled', disabled_reason: null })
  await here.audited()
  await here.emitted()
  await alertsFor(here, 6 * hour, 6 * hour)
  expect(await endpoint(here, id)).toMatchObject({ status: 'disabled', disabled_reason: 'failing', active: true })
  expect(await here.audited()).toEqual(['webhooks.endpoint.disable'])
  expect(await here.emitted()).toEqual(['monitor.alert', 'webhook.endpoint_disabled'])
  const [event] = (await here.acme.call('GET', '/v1/events?kind=webhook.endpoint_disabled')).body.data
  const disabledAt = new Date(here.clock.now()).toISOString()
  expect(event.data).toMatchObject({
    reason: 'failing',
    failed_attempts: 20,
    last_success_at: lastSuccess,
    disabled_at: disabledAt,
  })
  const created = await notices(here, '&kind=webhook_endpoint.disabled')
  expect(created).toHaveLength(1)
  expect(created[0]).toMatchObject({
    severity: 'critical',
    resource: { type: 'webhook_endpoint', id, name: inbox.url },
    details: { reason: 'failing', failed_attempts: 20, last_success_at: lastSuccess, disabled_at: disabledAt },
    count: 1,
  })
  const sent = inbox.received.length
  await raiseAlert(here)
  await here.advance(day)
  await look(here)
  expect((await states(here, id)).at(-1)).toBe('held')
  expect(inbox.received).toHaveLength(sent)
  expect(await notices(here, '&kind=webhook_endpoint.disabled')).toHaveLength(1)
})

test('fewer than ten attempts, attempts within a day, a success, or resends don’t disable', async () => {
  const here = await world()
  const few = receiver()
  const burst = receiver()
  const flaky = receiver()
  const resent = receiver()
  // A status that doesn't open the breaker, which would spread the attempts.
  const unwanted = () => new Response(null, { status: 404 })
  for (const one of [few, burst, flaky, resent]) one.answer = unwanted
  const { id: fewId } = await endpointAt(here, few.url, {
    retry_schedule: [],
    filters: { resource_ids: ['hb_01k3zb2c4d6e8f0g2h4j6k8m0a'] },
  })
  const { id: burstId } = await endpointAt(here, burst.url, {
    retry_schedule: [],
    filters: { resource_ids: ['hb_01k3zb2c4d6e8f0g2h4j6k8m1a'] },
  })
  const { id: flakyId } = await endpointAt(here, flaky.url, {
    retry_schedule: [],
    filters: { resource_ids: ['hb_01k3zb2c4d6e8f0g2h4j6k8m2a'] },
  })
  const { id: resentId } = await endpointAt(here, resent.url, {
    retry_schedule: [],
    filters: { resource_ids: ['hb_01k3zb2c4d6e8f0g2h4j6k8m3a'] },
  })
  await raiseAlert(here, 'hb_01k3zb2c4d6e8f0g2h4j6k8m3a')
  await here.settle()
  const [delivery] = (await here.acme.call('GET', `/v1/webhook-deliveries?endpoint_id=${resentId}`)).body.data
  for (let n = 0; n < 20; n++) await raiseAlert(here, 'hb_01k3zb2c4d6e8f0g2h4j6k8m1a')
  await here.settle()
  for (let n = 0; n < 9; n++) {
    await raiseAlert(here, 'hb_01k3zb2c4d6e8f0g2h4j6k8m0a')
    for (let twice = 0; twice < 2; twice++) await raiseAlert(here, 'hb_01k3zb2c4d6e8f0g2h4j6k8m2a')
    await here.settle()
    for (let again = 0; again < 3; again++) {
      expect((await here.acme.call('POST', `/v1/webhook-deliveries/${delivery.id}/resend`)).status).toBe(202)
      await here.settle()
    }
    if (n === 4) {
      flaky.answer = succeeding
      await raiseAlert(here, 'hb_01k3zb2c4d6e8f0g2h4j6k8m2a')
      await here.settle()
      flaky.answer = unwanted
    }
    await here.advance(16 * hour)
    await look(here)
  }
  for (const id of [fewId, burstId, flakyId, resentId]) expect((await endpoint(here, id)).status).toBe('enabled')
  expect(resent.received.length).toBeGreaterThan(20)
  // The missing tenth attempt, and the missing day.
  await raiseAlert(here, 'hb_01k3zb2c4d6e8f0g2h4j6k8m0a')
  await raiseAlert(here, 'hb_01k3zb2c4d6e8f0g2h4j6k8m1a')
  await here.settle()
  for (const id of [fewId, burstId]) expect((await endpoint(here, id)).disabled_reason).toBe('failing')
  await look(here)
  expect((await notices(here, '&kind=webhook_endpoint.disabled')).map(one => one.resource.id).sort()).toEqual(
    [fewId, burstId].sort(),
  )
})

test('an endpoint without further attempts is disabled when its time is up', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = failing
  const { id } = await endpointAt(here, inbox.url)
  await raiseAlert(here)
  await here.settle()
  for (let n = 0; n < 40; n++) await here.advance(3 * hour - 1)
  await look(here)
  expect(await states(here, id)).toEqual(['exhausted'])
  expect((await endpoint(here, id)).status).toBe('enabled')
  await here.advance(40)
  await look(here)
  expect((await endpoint(here, id)).disabled_reason).toBe('failing')
})

test('an hour, a day, and three days of failures are one notice with rising severity; a success ends it', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = failing
  const { id } = await endpointAt(here, inbox.url, { retry_schedule: [] })
  const since = new Date(here.clock.now()).toISOString()
  await raiseAlert(here)
  await here.settle()
  const failingNotices = async () => {
    await look(here)
    return (await notices(here, '&kind=webhook_endpoint.failing')).map(one => [one.severity, one.details.hours, one.count])
  }
  await here.advance(hour - 1)
  expect(await failingNotices()).toEqual([])
  await here.advance(1)
  expect(await failingNotices()).toEqual([['info', 1, 1]])
  expect((await notices(here))[0]).toMatchObject({
    resource: { type: 'webhook_endpoint', id },
    details: { failing_since_at: since, failed_attempts: 1, last_success_at: null },
  })
  await here.advance(23 * hour - 1)
  expect(await failingNotices()).toEqual([['info', 1, 1]])
  await here.advance(1)
  expect(await failingNotices()).toEqual([['warning', 24, 2]])
  await here.advance(2 * day)
  expect(await failingNotices()).toEqual([['critical', 72, 3]])
  await here.advance(20 * day)
  expect(await failingNotices()).toEqual([['critical', 72, 3]])
  inbox.answer = succeeding
  await raiseAlert(here)
  await here.settle()
  inbox.answer = failing
  await raiseAlert(here)
  await here.settle()
  await here.advance(hour - 1)
  expect(await failingNotices()).toHaveLength(1)
  await here.advance(1)
  expect(await failingNotices()).toEqual([
    ['info', 1, 1],
    ['critical', 72, 3],
  ])
})

test('there is no notice for a paused endpoint, or for one resumed after failing for more than 14 days', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = failing
  const { id } = await endpointAt(here, inbox.url, { retry_schedule: [] })
  await raiseAlert(here)
  await here.settle()
  await here.acme.call('PATCH', `/v1/webhook-endpoints/${id}`, { active: false })
  await here.advance(14 * day + 1)
  await look(here)
  await here.acme.call('PATCH', `/v1/webhook-endpoints/${id}`, { active: true })
  await look(here)
  expect(await notices(here)).toEqual([])
})

test('an endpoint that is gone also creates a notice', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response(null, { status: 410 })
  const { id } = await endpointAt(here, inbox.url)
  await raiseAlert(here)
  await here.settle()
  await here.advance(6_000)
  expect(await notices(here)).toMatchObject([
    { kind: 'webhook_endpoint.disabled', resource: { id }, details: { reason: 'gone', failed_attempts: 2 } },
  ])
})

/** A disabled endpoint with one permanently failed and two held deliveries. */
async function disabledEndpoint(here: World) {
  const inbox = receiver()
  inbox.answer = failing
  const { id } = await endpointAt(here, inbox.url, { retry_schedule: [] })
  await raiseAlert(here)
  await here.settle()
  await here.advance(hour)
  const since = new Date(here.clock.now()).toISOString()
  await raiseAlert(here)
  await here.settle()
  inbox.answer = () => new Response(null, { status: 410 })
  await raiseAlert(here)
  await raiseAlert(here)
  await here.settle()
  await raiseAlert(here)
  await raiseAlert(here)
  await here.settle()
  inbox.answer = succeeding
  inbox.received.splice(0)
  expect(await states(here, id)).toEqual(['exhausted', 'exhausted', 'exhausted', 'exhausted', 'held', 'held'])
  const enable = (input: object) => here.acme.call('POST', `/v1/webhook-endpoints/${id}/enable`, input)
  return { id, since, inbox, enable }
}

test('re-enabling sends the held deliveries, nothing, or everything undelivered since a time', async () => {
  const here = await world()
  const held = await disabledEndpoint(here)
  expect((await held.enable({})).body).toMatchObject({ status: 'enabled', disabled_reason: null })
  await here.settle()
  expect(held.inbox.received).toHaveLength(2)
  const none = await disabledEndpoint(here)
  await none.enable({ replay: 'none' })
  await here.settle()
  expect(none.inbox.received).toHaveLength(0)
  expect((await states(here, none.id)).slice(-2)).toEqual(['held', 'held'])
  const since = await disabledEndpoint(here)
  await here.audited()
  expect((await since.enable({ replay: 'since', since: since.since })).status).toBe(200)
  await here.settle()
  expect(await states(here, since.id)).toEqual(['exhausted', ...Array(5).fill('delivered')])
  expect(since.inbox.received).toHaveLength(5)
  expect(await here.audited()).toEqual(['webhooks.endpoint.enable'])
})

test('an invalid replay is rejected and leaves the endpoint disabled', async () => {
  const here = await world()
  const { id, enable } = await disabledEndpoint(here)
  const pointer = async (input: object) => (await enable(input)).body.errors[0].pointer
  expect(await pointer({ replay: 'since' })).toBe('#/since')
  expect(await pointer({ since: '2026-11-21T00:00:00Z' })).toBe('#/since')
  expect(await pointer({ replay: 'since', since: new Date(here.clock.now() + 1).toISOString() })).toBe('#/since')
  expect(await pointer({ replay: 'all' })).toBe('#/replay')
  await here.acme.call('PATCH', `/v1/webhook-endpoints/${id}`, { active: false })
  expect((await enable({ replay: 'since', since: '2026-11-21T00:00:00Z' })).status).toBe(409)
  expect((await endpoint(here, id)).status).toBe('disabled')
  expect((await here.rival.call('POST', `/v1/webhook-endpoints/${id}/enable`, {})).status).toBe(404)
})

test('after re-enabling, the five days start over', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = failing
  const { id } = await endpointAt(here, inbox.url, { retry_schedule: [] })
  await alertsFor(here, 5 * day + 6 * hour, 6 * hour)
  expect((await endpoint(here, id)).disabled_reason).toBe('failing')
  await here.acme.call('POST', `/v1/webhook-endpoints/${id}/enable`, { replay: 'none' })
  await alertsFor(here, 5 * day - 6 * hour, 6 * hour)
  expect((await endpoint(here, id)).status).toBe('enabled')
  await alertsFor(here, 12 * hour, 6 * hour)
  expect((await endpoint(here, id)).status).toBe('disabled')
  expect((await notices(here, '&kind=webhook_endpoint.disabled')).map(one => one.count)).toEqual([2])
})
