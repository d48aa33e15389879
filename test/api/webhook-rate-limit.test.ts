import { afterEach, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { webhookEndpoints } from '../../src/features/webhooks/endpoints/tables'
import { endpointAt, raiseAlert, receiver, stopReceivers } from '../support/receiver'
import { world } from '../support/world'

afterEach(stopReceivers)

const somewhere = 'http://127.0.0.1:9/hook'

test('an endpoint has its own schedule, and a delivery fails permanently after the last delay', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response(null, { status: 500 })
  await endpointAt(here, inbox.url, { retry_schedule: [60, 600] })
  await raiseAlert(here)
  await here.settle()
  const delivery = async () => (await here.acme.call('GET', '/v1/webhook-deliveries')).body.data[0]
  const wait = async () => Date.parse((await delivery()).next_attempt_at) - here.clock.now()
  expect(await wait()).toBeGreaterThanOrEqual(60_000)
  expect(await wait()).toBeLessThanOrEqual(66_000)
  await here.advance(59_999)
  expect(inbox.received).toHaveLength(1)
  await here.advance(6_002)
  expect(inbox.received).toHaveLength(2)
  expect(await wait()).toBeGreaterThanOrEqual(600_000)
  await here.advance(660_001)
  expect(inbox.received).toHaveLength(3)
  expect(await delivery()).toMatchObject({ status: 'exhausted', reason: 'http_500', attempt_count: 3 })
})

test('an empty schedule disables retries, and null restores the standard one', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response(null, { status: 500 })
  const { id } = await endpointAt(here, inbox.url, { retry_schedule: [] })
  await raiseAlert(here)
  await here.settle()
  const states = async () => (await here.acme.call('GET', '/v1/webhook-deliveries')).body.data.map((one: any) => one.status)
  expect(await states()).toEqual(['exhausted'])
  await here.acme.call('PATCH', `/v1/webhook-endpoints/${id}`, { retry_schedule: null })
  await raiseAlert(here)
  await here.settle()
  expect(await states()).toEqual(['retrying', 'exhausted'])
})

test('schedules, timeouts, and rate limits out of range are rejected', async () => {
  const here = await world()
  const { id } = await endpointAt(here, somewhere)
  const path = `/v1/webhook-endpoints/${id}`
  expect((await here.acme.call('GET', path)).body).toMatchObject({
    retry_schedule: null,
    timeout_seconds: 15,
    max_per_second: null,
  })
  const refused: [object, string][] = [
    [{ retry_schedule: Array(21).fill(1) }, '#/retry_schedule'],
    [{ retry_schedule: [691_200, 1] }, '#/retry_schedule'],
    [{ retry_schedule: [0] }, '#/retry_schedule/0'],
    [{ timeout_seconds: 0 }, '#/timeout_seconds'],
    [{ timeout_seconds: 31 }, '#/timeout_seconds'],
    [{ timeout_seconds: null }, '#/timeout_seconds'],
    [{ max_per_second: 0 }, '#/max_per_second'],
    [{ max_per_second: 1_001 }, '#/max_per_second'],
  ]
  for (const [patch, pointer] of refused) {
    const answer = await here.acme.call('PATCH', path, patch)
    expect([answer.status, answer.body.errors?.[0].pointer]).toEqual([422, pointer])
    expect(
      (await here.acme.call('POST', '/v1/webhook-endpoints', { url: somewhere, events: ['monitor.alert'], ...patch })).status,
    ).toBe(422)
  }
  const settings = { retry_schedule: [345_600, 345_600], timeout_seconds: 30, max_per_second: 1_000 }
  expect((await here.acme.call('PATCH', path, settings)).body).toMatchObject(settings)
})

test('an attempt ends at the timeout of the endpoint', async () => {
  const here = await world()
  const inbox = receiver()
  const leave = Promise.withResolvers<Response>()
  inbox.answer = () => leave.promise
  const { id } = await endpointAt(here, inbox.url, { timeout_seconds: 1 })
  const sent = await here.acme.call('POST', `/v1/webhook-endpoints/${id}/test`, {})
  leave.resolve(new Response())
  expect(sent.body.attempts[0].error_class).toBe('timeout')
  expect(sent.body.attempts[0].duration_ms).toBeGreaterThanOrEqual(1_000)
  expect(sent.body.attempts[0].duration_ms).toBeLessThan(5_000)
})

test('the limit per second is respected, and waiting uses up no attempts', async () => {
  const here = await world()
  const inbox = receiver()
  const { id } = await endpointAt(here, inbox.url, { active: false, max_per_second: 2 })
  for (let n = 0; n < 7; n++) await raiseAlert(here)
  await here.settle()
  await here.acme.call('PATCH', `/v1/webhook-endpoints/${id}`, { active: true })
  await here.settle()
  expect(inbox.received).toHaveLength(2)
  const deliveries = async (query: string) => (await here.acme.call('GET', `/v1/webhook-deliveries?${query}`)).body.data
  const waiting = await deliveries('status=pending')
  expect(waiting.map((one: any) => one.attempt_count)).toEqual([0, 0, 0, 0, 0])
  for (let half = 1; half <= 5; half++) {
    await here.advance(499)
    expect(inbox.received).toHaveLength(1 + half)
    await here.advance(1)
    expect(inbox.received).toHaveLength(2 + half)
  }
  expect((await deliveries('status=delivered')).map((one: any) => one.attempt_count)).toEqual(Array(7).fill(1))
})

test('a raised limit takes effect within a minute, also for waiting deliveries', async () => {
  const here = await world()
  const inbox = receiver()
  const { id } = await endpointAt(here, inbox.url, { active: false, max_per_second: 1 })
  const path = `/v1/webhook-endpoints/${id}`
  for (let n = 0; n < 50; n++) await raiseAlert(here)
  await here.settle()
  await here.acme.call('PATCH', path, { active: true })
  await here.settle()
  expect(inbox.received).toHaveLength(1)
  await here.acme.call('PATCH', path, { max_per_second: null })
  for (let seconds = 0; seconds < 60; seconds++) await here.advance(1_000)
  expect(inbox.received).toHaveLength(50)
})

test('slots reserved before the clock was set back don’t block anything', async () => {
  const here = await world()
  const inbox = receiver()
  const { id } = await endpointAt(here, inbox.url, { max_per_second: 10 })
  await record(here.hub, async tx => {
    const dayAhead = here.clock.now() + 86_400_000
    await tx
      .update(webhookEndpoints)
      .set({ rateReservedUntilUs: dayAhead * 1_000 })
      .where(eq(webhookEndpoints.id, id))
    return { result: undefined }
  })
  await raiseAlert(here)
  await here.settle()
  expect(inbox.received).toHaveLength(1)
})
