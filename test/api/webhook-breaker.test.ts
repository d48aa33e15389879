import { afterEach, expect, test } from 'bun:test'
import { eq, inArray } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { events, heldLanes } from '../../src/core/db/tables'
import { webhookDeliveries } from '../../src/features/webhooks/deliveries/tables'
import { endpointAt, raiseAlert, receiver, stopReceivers, type Receiver } from '../support/receiver'
import { world, type World } from '../support/world'

afterEach(stopReceivers)

const health = async (here: World, id: string) => (await here.acme.call('GET', `/v1/webhook-endpoints/${id}/health`)).body
const deliveries = async (here: World) => (await here.acme.call('GET', '/v1/webhook-deliveries')).body.data

async function refusing(here: World, inbox: Receiver, messages: number, status = 503): Promise<string> {
  inbox.answer = () => new Response(null, { status })
  const { id } = await endpointAt(here, inbox.url)
  for (let n = 0; n < messages; n++) {
    await raiseAlert(here)
    await here.settle()
  }
  return id
}

test('five consecutive failures open the breaker, and waiting deliveries use up no attempts', async () => {
  const here = await world()
  const inbox = receiver()
  const id = await refusing(here, inbox, 4)
  expect(await health(here, id)).toMatchObject({ breaker: { state: 'closed', half_open_at: null }, consecutive_failures: 4 })
  await raiseAlert(here)
  await here.settle()
  expect(await health(here, id)).toMatchObject({
    breaker: { state: 'open', half_open_at: new Date(here.clock.now() + 30_000).toISOString() },
    consecutive_failures: 5,
    failed_attempts: 5,
    deliveries: { pending: 0, retrying: 5 },
  })
  // Now all five are due for their second attempt, and two more for their first.
  await raiseAlert(here)
  await raiseAlert(here)
  await here.advance(10_000)
  expect(inbox.received).toHaveLength(5)
  expect(await health(here, id)).toMatchObject({ deliveries: { pending: 2, retrying: 5, in_flight: 0 } })
  expect((await deliveries(here)).map((one: any) => one.attempt_count)).toEqual([0, 0, 1, 1, 1, 1, 1])
})

test('a half-open breaker lets one delivery through: a failure doubles the pause, a success resumes sending', async () => {
  const here = await world()
  const inbox = receiver()
  const id = await refusing(here, inbox, 5)
  for (const pauseMs of [30_000, 60_000, 120_000, 240_000, 480_000, 900_000, 900_000]) {
    const before = inbox.received.length
    await here.advance(pauseMs - 1)
    expect(inbox.received).toHaveLength(before)
    await here.advance(1)
    expect(inbox.received).toHaveLength(before + 1)
  }
  inbox.answer = () => new Response(null, { status: 204 })
  await here.advance(899_999)
  expect(await health(here, id)).toMatchObject({ breaker: { state: 'open' } })
  await here.advance(1)
  expect(await health(here, id)).toMatchObject({
    breaker: { state: 'closed', half_open_at: null },
    consecutive_failures: 0,
    failed_attempts: 0,
  })
  await here.advance(3_600_000)
  await here.advance(24 * 3_600_000)
  expect((await deliveries(here)).map((one: any) => one.status)).toEqual(Array(5).fill('delivered'))
})

test('responses about the message don’t open the breaker, and close an open one', async () => {
  const here = await world()
  const inbox = receiver()
  const id = await refusing(here, inbox, 8, 404)
  expect(await health(here, id)).toMatchObject({ breaker: { state: 'closed' }, consecutive_failures: 0, failed_attempts: 8 })
  inbox.answer = () => new Response(null, { status: 502 })
  for (let n = 0; n < 5; n++) {
    await raiseAlert(here)
    await here.settle()
  }
  expect(await health(here, id)).toMatchObject({ breaker: { state: 'open' } })
  inbox.answer = () => new Response(null, { status: 400 })
  await here.advance(30_000)
  expect(await health(here, id)).toMatchObject({ breaker: { state: 'closed' }, consecutive_failures: 0 })
})

test('failures in half of twenty attempts also open the breaker', async () => {
  const here = await world()
  const inbox = receiver()
  let n = 0
  inbox.answer = () => new Response(null, { status: n++ % 2 ? 503 : 204 })
  const { id } = await endpointAt(here, inbox.url, { retry_schedule: [] })
  for (let sent = 0; sent < 19; sent++) {
    await raiseAlert(here)
    await here.settle()
  }
  expect(await health(here, id)).toMatchObject({ breaker: { state: 'closed' } })
  await raiseAlert(here)
  await here.settle()
  expect(await health(here, id)).toMatchObject({ breaker: { state: 'open' } })
})

test('a manual resend is sent while the breaker is open, and closes it if it succeeds', async () => {
  const here = await world()
  const inbox = receiver()
  const id = await refusing(here, inbox, 6)
  const [waiting] = await deliveries(here)
  expect(waiting).toMatchObject({ status: 'pending', attempt_count: 0 })
  inbox.answer = () => new Response(null, { status: 204 })
  expect((await here.acme.call('POST', `/v1/webhook-deliveries/${waiting.id}/resend`)).status).toBe(202)
  await here.settle()
  expect((await deliveries(here))[0]).toMatchObject({ status: 'delivered', attempt_count: 1 })
  expect(await health(here, id)).toMatchObject({ breaker: { state: 'closed' } })
})

test('a new URL, resuming, or enabling resets the breaker; deleting leaves no lane held', async () => {
  const here = await world()
  const inbox = receiver()
  const id = await refusing(here, inbox, 6)
  expect((await deliveries(here))[0]).toMatchObject({ status: 'pending' })
  const other = receiver()
  await here.acme.call('PATCH', `/v1/webhook-endpoints/${id}`, { url: other.url })
  await here.settle()
  expect(await health(here, id)).toMatchObject({ breaker: { state: 'closed' }, consecutive_failures: 0 })
  expect(other.received).toHaveLength(1)
  other.answer = inbox.answer
  for (let n = 0; n < 5; n++) {
    await raiseAlert(here)
    await here.settle()
  }
  expect(await health(here, id)).toMatchObject({ breaker: { state: 'open' } })
  await here.acme.call('DELETE', `/v1/webhook-endpoints/${id}`)
  await here.advance(60_000)
  expect((await deliveries(here)).filter((one: any) => !one.finished_at)).toEqual([])
  expect((await here.acme.call('GET', `/v1/webhook-endpoints/${id}/health`)).status).toBe(404)
})

test('if the probe of a half-open breaker was deleted, the next delivery is sent', async () => {
  const here = await world()
  const inbox = receiver()
  const id = await refusing(here, inbox, 7)
  inbox.answer = () => new Response(null, { status: 204 })
  const [, first] = (await deliveries(here)).slice(0, 2)
  // Voids its job.
  const retrying = (await deliveries(here)).filter((one: any) => one.status === 'retrying').map((one: any) => one.id)
  await record(here.hub, async tx => {
    await tx.delete(webhookDeliveries).where(inArray(webhookDeliveries.id, [first.id, ...retrying]))
    return { result: undefined }
  })
  await here.advance(30_000)
  await here.advance(100)
  expect(inbox.received).toHaveLength(6)
  expect(await health(here, id)).toMatchObject({ breaker: { state: 'closed' }, deliveries: { pending: 0 } })
})

test('a manual resend that makes no attempt doesn’t block others', async () => {
  const here = await world()
  const inbox = receiver()
  const id = await refusing(here, inbox, 8)
  const [first, second, third] = await deliveries(here)
  const resend = (one: any) => here.acme.call('POST', `/v1/webhook-deliveries/${one.id}/resend`)
  await record(here.hub, async tx => {
    await tx.delete(events).where(eq(events.id, first.event_id))
    return { result: undefined }
  })
  expect((await resend(first)).status).toBe(202)
  await here.settle()
  for (const one of [second, third]) {
    expect((await resend(one)).status).toBe(202)
    await here.settle()
  }
  expect(inbox.received).toHaveLength(7)
  expect((await here.hub.read.select().from(heldLanes)).map(one => one.lane)).toEqual([`${here.acme.workspaceId}/${id}`])
})

test('deliveries waiting for an open breaker show the reason and when sending continues', async () => {
  const here = await world()
  const inbox = receiver()
  const id = await refusing(here, inbox, 5)
  await raiseAlert(here)
  await here.advance(10_000)
  const until = new Date(here.clock.now() + 20_000).toISOString()
  const list = await deliveries(here)
  expect(list).toHaveLength(6)
  for (const one of list) expect(one).toMatchObject({ reason: 'breaker_open', next_attempt_at: until })
  expect((await here.acme.call('GET', `/v1/webhook-deliveries/${list[0].id}`)).body).toMatchObject({
    status: 'pending',
    reason: 'breaker_open',
    next_attempt_at: until,
  })
  inbox.answer = () => new Response(null, { status: 204 })
  const resent = await here.acme.call('POST', `/v1/webhook-deliveries/${list[0].id}/resend`)
  expect(resent.body.reason).toBeNull()
  await here.settle()
  expect(await health(here, id)).toMatchObject({ breaker: { state: 'closed' } })
  for (const one of await deliveries(here)) expect(one.reason).toBeNull()
})

test('a successful test message closes the breaker, a failed one doesn’t', async () => {
  const here = await world()
  const inbox = receiver()
  const id = await refusing(here, inbox, 5)
  const before = await health(here, id)
  await here.acme.call('POST', `/v1/webhook-endpoints/${id}/test`, {})
  expect(await health(here, id)).toEqual(before)
  inbox.answer = () => new Response(null, { status: 204 })
  await here.acme.call('POST', `/v1/webhook-endpoints/${id}/test`, {})
  expect(await health(here, id)).toMatchObject({ breaker: { state: 'closed', half_open_at: null }, consecutive_failures: 0 })
  await here.advance(10_000)
  const arrived = (await deliveries(here)).filter((one: any) => !one.test)
  expect(arrived.map((one: any) => one.status)).toEqual(Array(5).fill('delivered'))
})
