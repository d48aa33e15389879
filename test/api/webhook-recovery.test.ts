import { afterEach, expect, test } from 'bun:test'
import { endpointAt, raiseAlert, receiver, stopReceivers } from '../support/receiver'
import { world, type World } from '../support/world'

afterEach(stopReceivers)

const all = { since: '2026-11-21T00:00:00Z', until: '2026-12-31T00:00:00Z' }
const recover = ({ acme }: World, id: string, input: object = all) =>
  acme.call('POST', `/v1/webhook-endpoints/${id}/recover`, input)
const states = async ({ acme }: World) =>
  (await acme.call('GET', '/v1/webhook-deliveries?sort=id&limit=100')).body.data.map((one: any) => one.status)

test('deliveries that failed in an outage are resent with the same ids and bytes', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response(null, { status: 503 })
  const { id } = await endpointAt(here, inbox.url, { retry_schedule: [] })
  for (let n = 0; n < 3; n++) await raiseAlert(here)
  await here.settle()
  expect(await states(here)).toEqual(['exhausted', 'exhausted', 'exhausted'])
  const lost = inbox.received.splice(0)
  inbox.answer = () => new Response()
  await here.audited()
  const answer = await recover(here, id)
  expect([answer.status, answer.headers.get('location')]).toEqual([202, `/v1/actions/${answer.body.id}`])
  expect(answer.body).toMatchObject({ status: 'pending', result: { matched: 3, queued: 0, skipped: 0 } })
  await here.settle()
  expect(await states(here)).toEqual(['delivered', 'delivered', 'delivered'])
  const ended = (await here.acme.call('GET', `/v1/actions/${answer.body.id}`)).body
  expect(ended).toMatchObject({
    status: 'success',
    progress: 100,
    resources: [{ type: 'webhook_endpoint', id }],
    result: { matched: 3, queued: 3, skipped: 0 },
    error: null,
  })
  const contents = (messages: typeof lost) => messages.map(one => [one.headers.get('webhook-id'), one.body]).sort()
  expect(contents(inbox.received)).toEqual(contents(lost))
  const [delivery] = (await here.acme.call('GET', '/v1/webhook-deliveries')).body.data
  const { attempts } = (await here.acme.call('GET', `/v1/webhook-deliveries/${delivery.id}`)).body
  expect(attempts.map((one: any) => one.trigger)).toEqual(['auto', 'recovery'])
  expect(await here.audited()).toEqual(['webhooks.endpoint.recover'])
  expect((await recover(here, id)).body.result).toEqual({ matched: 0, queued: 0, skipped: 0 })
})

test('one that fails again keeps its final status, after one attempt', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response(null, { status: 503 })
  const { id } = await endpointAt(here, inbox.url, { retry_schedule: [] })
  await raiseAlert(here)
  await here.settle()
  const [before] = (await here.acme.call('GET', '/v1/webhook-deliveries')).body.data
  await here.advance(60_000)
  await recover(here, id)
  await here.settle()
  await here.advance(86_400_000)
  expect(inbox.received).toHaveLength(2)
  const [after] = (await here.acme.call('GET', '/v1/webhook-deliveries')).body.data
  expect(after).toMatchObject({ status: 'exhausted', reason: 'http_503', finished_at: before.finished_at, attempt_count: 2 })
})

test('one that waits for a retry is attempted now and keeps its schedule; held ones are sent too', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response(null, { status: 410 })
  const { id } = await endpointAt(here, inbox.url)
  await raiseAlert(here)
  await raiseAlert(here)
  await here.settle()
  expect((await here.acme.call('GET', `/v1/webhook-endpoints/${id}`)).body.status).toBe('disabled')
  expect(await states(here)).toEqual(['held', 'held'])
  const refused = await recover(here, id)
  expect(refused.status).toBe(409)
  await here.acme.call('POST', `/v1/webhook-endpoints/${id}/enable`, { replay: 'none' })
  inbox.answer = () => new Response(null, { status: 500 })
  inbox.received.splice(0)
  expect((await recover(here, id)).body.result.matched).toBe(2)
  await here.settle()
  expect(await states(here)).toEqual(['retrying', 'retrying'])
  inbox.answer = () => new Response()
  expect((await recover(here, id, { ...all, status: ['retrying'] })).body.result.matched).toBe(2)
  await here.settle()
  expect(await states(here)).toEqual(['delivered', 'delivered'])
  expect(inbox.received).toHaveLength(4)
  await here.advance(3_600_000)
  expect(inbox.received).toHaveLength(4)
})

test('filters by time, status, and kind, and respects the limit of the endpoint', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response(null, { status: 503 })
  const { id } = await endpointAt(here, inbox.url, { retry_schedule: [] })
  for (let n = 0; n < 3; n++) {
    await raiseAlert(here)
    await here.settle()
    await here.advance(1_000)
  }
  inbox.received.splice(0)
  inbox.answer = () => new Response()
  expect((await recover(here, id, { ...all, event: ['domain.expiring'] })).body.result.matched).toBe(0)
  await here.settle()
  expect((await recover(here, id, { ...all, status: ['held'] })).body.result.matched).toBe(0)
  await here.settle()
  await here.acme.call('PATCH', `/v1/webhook-endpoints/${id}`, { max_per_second: 1 })
  const some = await recover(here, id, { since: '2026-11-21T10:00:01Z', until: '2026-11-21T10:00:03Z' })
  expect(some.body.result.matched).toBe(2)
  await here.settle()
  expect(inbox.received).toHaveLength(1)
  await here.advance(1_000)
  expect(inbox.received).toHaveLength(2)
  expect(await states(here)).toEqual(['exhausted', 'delivered', 'delivered'])
})

test('more than one batch is processed automatically', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response(null, { status: 410 })
  const { id } = await endpointAt(here, inbox.url)
  await raiseAlert(here)
  await raiseAlert(here)
  await here.settle()
  for (let n = 0; n < 600; n++) await raiseAlert(here)
  await here.settle()
  await here.acme.call('POST', `/v1/webhook-endpoints/${id}/enable`, { replay: 'none' })
  inbox.answer = () => new Response()
  inbox.received.splice(0)
  const { body: action } = await recover(here, id)
  expect(action.result).toEqual({ matched: 602, queued: 0, skipped: 0 })
  for (let rounds = 0; rounds < 100 && inbox.received.length < 602; rounds++) await here.advance(2_000)
  expect(new Set(inbox.received.map(one => one.headers.get('webhook-id'))).size).toBe(602)
  expect(inbox.received).toHaveLength(602)
  const ended = (await here.acme.call('GET', `/v1/actions/${action.id}`)).body
  expect([ended.status, ended.result]).toEqual(['success', { matched: 602, queued: 602, skipped: 0 }])
}, 180_000)

test('a range that ends before it starts, another workspace, and a sixth call in a minute are rejected', async () => {
  const here = await world()
  const { id } = await endpointAt(here, 'http://127.0.0.1:9/hook')
  const backwards = await recover(here, id, { since: all.until, until: all.since })
  expect(backwards.body.errors[0].pointer).toBe('#/until')
  expect((await recover(here, id, { ...all, status: ['delivered'] })).status).toBe(422)
  expect((await here.rival.call('POST', `/v1/webhook-endpoints/${id}/recover`, all)).status).toBe(404)
  for (let n = 0; n < 5; n++) {
    expect((await recover(here, id)).status).toBe(202)
    await here.settle()
  }
  expect((await recover(here, id)).status).toBe(429)
})

test('without an end it covers everything up to now, and kinds are a list', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = () => new Response(null, { status: 503 })
  const { id } = await endpointAt(here, inbox.url, { retry_schedule: [] })
  await raiseAlert(here)
  await here.settle()
  inbox.answer = () => new Response()
  const since = new Date(here.clock.now()).toISOString()
  const later = new Date(here.clock.now() + 1_000).toISOString()
  expect((await recover(here, id, { since: later })).body.errors[0].pointer).toBe('#/since')
  expect((await recover(here, id, { since, event: [] })).body.errors[0].code).toBe('too_few')
  expect((await recover(here, id, { since, event: ['domain.expiring'] })).body.result.matched).toBe(0)
  await here.settle()
  expect((await recover(here, id, { since, event: ['domain.expiring', 'monitor.alert'] })).body.result.matched).toBe(1)
  await here.settle()
  expect(await states(here)).toEqual(['delivered'])
})
