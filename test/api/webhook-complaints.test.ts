import { afterEach, expect, test } from 'bun:test'
import { and, eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { jobs } from '../../src/core/db/tables'
import { reap } from '../../src/core/jobs/queue'
import { deliverJob } from '../../src/features/webhooks/sending/deliver'
import { webhookAttempts, webhookDeliveries } from '../../src/features/webhooks/deliveries/tables'
import { webhookEndpoints } from '../../src/features/webhooks/endpoints/tables'
import { endpointAt, raiseAlert, receiver, stopReceivers, type Receiver } from '../support/receiver'
import { world, type Caller, type World } from '../support/world'

// What users of other webhook senders often ask for. Two more need a killed process and are in test/e2e/webhook-kill.test.ts.

afterEach(stopReceivers)

const minute = 60_000
const path = (id: string) => `/v1/webhook-endpoints/${id}`
const raise = async (here: World, times = 1) => {
  for (let n = 0; n < times; n++) await raiseAlert(here)
  await here.settle()
}
const list = async ({ acme }: { acme: Caller }, query = ''): Promise<any[]> =>
  (await acme.call('GET', `/v1/webhook-deliveries?sort=id&limit=100&${query}`)).body.data
const detail = async ({ acme }: World, id: string): Promise<any> => (await acme.call('GET', `/v1/webhook-deliveries/${id}`)).body
const answering = (status: number) => () => new Response(null, { status })
const sequences = ({ received }: Receiver) => received.splice(0).map(one => Number(one.headers.get('x-service-sequence')))

test('events are held while an endpoint is disabled, and sent when it is enabled or recovered later', async () => {
  const here = await world()
  const inbox = receiver()
  const { id } = await endpointAt(here, inbox.url, { retry_schedule: [1, 1, 1] })
  const disable = async () => {
    inbox.answer = answering(410)
    await raise(here)
    await here.advance(2_001)
    expect((await here.acme.call('GET', path(id))).body).toMatchObject({ status: 'disabled', disabled_reason: 'gone' })
    inbox.answer = answering(204)
    inbox.received.splice(0)
    await raise(here, 2)
    expect(inbox.received).toEqual([])
    expect((await list(here, 'status=held')).map(one => one.reason)).toEqual(Array(3).fill('endpoint_disabled'))
  }
  await disable()
  await here.acme.call('POST', `${path(id)}/enable`, { replay: 'held' })
  await here.settle()
  expect(sequences(inbox).sort()).toEqual([1, 2, 3])

  await disable()
  await here.acme.call('POST', `${path(id)}/enable`, { replay: 'none' })
  await here.advance(minute)
  expect(inbox.received).toEqual([])
  const window = { since: '2026-11-21T00:00:00Z', until: '2026-11-22T00:00:00Z' }
  expect((await here.acme.call('POST', `${path(id)}/recover`, window)).body.result.matched).toBe(3)
  await here.settle()
  expect(sequences(inbox).sort()).toEqual([4, 5, 6])
})

test('undelivered events can be listed, each with its reason', async () => {
  const here = await world()
  const inbox = receiver()
  const refusing = receiver()
  refusing.answer = answering(500)
  const delivered = await endpointAt(here, inbox.url)
  const ends: [string, string, string | null][] = [
    [(await endpointAt(here, refusing.url, { retry_schedule: [] })).id, 'exhausted', 'http_500'],
    [(await endpointAt(here, refusing.url)).id, 'retrying', 'http_500'],
    [(await endpointAt(here, 'http://127.0.0.1:1/', { retry_schedule: [] })).id, 'exhausted', 'connect'],
    [(await endpointAt(here, inbox.url, { active: false })).id, 'held', 'endpoint_inactive'],
    [(await endpointAt(here, inbox.url, { active: false })).id, 'canceled', 'endpoint_deleted'],
  ]
  const ordered = await endpointAt(here, refusing.url, { ordering: 'per_resource' })
  await raise(here)
  await here.acme.call('DELETE', path(ends[4]![0]))
  const found = (await list(here, 'undelivered=true')).map(one => [one.endpoint_id, one.status, one.reason])
  expect(found.sort()).toEqual([...ends, [ordered.id, 'retrying', 'http_500']].sort())
  expect((await list(here, 'undelivered=false')).map(one => one.endpoint_id)).toEqual([delivered.id])
  await raise(here)
  const behind = await list(here, `undelivered=true&endpoint_id=${ordered.id}`)
  expect(behind.map(one => [one.status, one.reason])).toEqual([
    ['retrying', 'http_500'],
    ['held', 'waiting_for_earlier'],
  ])
})

test('custom headers are sent, stored encrypted, and never shown again', async () => {
  const here = await world()
  const inbox = receiver()
  const { id } = await endpointAt(here, inbox.url, { headers: { Authorization: 'Bearer c0ffee-c0ffee', 'X-Tenant': 'c0ffee-7' } })
  await raise(here)
  const { headers } = inbox.received[0]!
  expect([headers.get('authorization'), headers.get('x-tenant')]).toEqual(['Bearer c0ffee-c0ffee', 'c0ffee-7'])
  const [delivery] = await list(here)
  const shown = await Promise.all(
    [path(id), `/v1/webhook-deliveries/${delivery.id}`, '/v1/audit-events'].map(one => here.acme.call('GET', one)),
  )
  expect(shown[0]!.body.header_names).toEqual(['Authorization', 'X-Tenant'])
  const rows = await Promise.all(
    [webhookEndpoints, webhookDeliveries, webhookAttempts].map(one => here.hub.read.select().from(one)),
  )
  expect(shown.map(one => one.text).join() + JSON.stringify(rows)).not.toContain('c0ffee')
})

test('the delivery log is filtered by kind, status, status code, and time', async () => {
  const here = await world()
  const inbox = receiver()
  await endpointAt(here, inbox.url, { retry_schedule: [] })
  for (const status of [500, 429, 204]) {
    inbox.answer = answering(status)
    await raise(here)
    await here.advance(minute)
  }
  const codes = async (query: string) => (await list(here, query)).map(one => one.last_status_code)
  expect(await codes('status=exhausted')).toEqual([500, 429])
  expect(await codes('status_code=429')).toEqual([429])
  expect(await codes('error_class=http_status')).toEqual([500, 429])
  expect(await codes('created_at[gte]=2026-11-21T10:01:00Z&created_at[lt]=2026-11-21T10:02:00Z')).toEqual([429])
  expect(await codes('event=monitor.alert&status=delivered')).toEqual([204])
  expect(await codes('event=domain.expiring')).toEqual([])
})

test('an endpoint gets the events of a resource in order, even if one fails', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = answering(503)
  await endpointAt(here, inbox.url, { ordering: 'per_resource', retry_schedule: [5] })
  await raise(here, 5)
  expect(sequences(inbox)).toEqual([1])
  inbox.answer = answering(204)
  await here.advance(6_001)
  expect(sequences(inbox)).toEqual([1, 2, 3, 4, 5])
})

test('each endpoint has its own retry schedule', async () => {
  const here = await world()
  const [quick, slow, never] = [receiver(), receiver(), receiver()]
  const schedules: [Receiver, number[]][] = [
    [quick, [1, 1]],
    [slow, [600]],
    [never, []],
  ]
  for (const [inbox, retry_schedule] of schedules) {
    inbox.answer = answering(500)
    await endpointAt(here, inbox.url, { retry_schedule })
  }
  const attempts = () => schedules.map(([inbox]) => inbox.received.length)
  await raise(here)
  for (let n = 0; n < 5; n++) await here.advance(1_000)
  expect(attempts()).toEqual([3, 1, 1])
  await here.advance(11 * minute)
  expect(attempts()).toEqual([3, 2, 1])
  expect((await list(here)).map(one => one.status)).toEqual(Array(3).fill('exhausted'))
})

test('the rate limit of an endpoint applies to retries too, and changes take effect soon', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = answering(404)
  const { id } = await endpointAt(here, inbox.url, { active: false, max_per_second: 3, retry_schedule: Array(10).fill(1) })
  await raise(here, 12)
  await here.acme.call('PATCH', path(id), { active: true })
  await here.settle()
  for (let seconds = 0, before = 0; seconds < 10; seconds++) {
    // Bursts of one second's worth are allowed.
    expect(inbox.received.length - before).toBeLessThanOrEqual(3)
    before = inbox.received.length
    await here.advance(1_000)
  }
  expect(inbox.received.length).toBeGreaterThan(20)
  inbox.answer = answering(204)
  await here.acme.call('PATCH', path(id), { max_per_second: null })
  for (let seconds = 0; seconds < 60; seconds++) await here.advance(1_000)
  expect((await list(here)).map(one => one.status)).toEqual(Array(12).fill('delivered'))
})

test('the operator can allow private ranges, but never cloud metadata', async () => {
  const here = await world()
  const inbox = receiver()
  const customer = here.rival
  const create = (url: string) => customer.call('POST', '/v1/webhook-endpoints', { url, events: ['monitor.alert'] })
  expect((await create(inbox.url)).body.errors[0]).toMatchObject({ pointer: '#/url' })
  const allow = (allow_ranges: string[]) =>
    here.acme.call('PATCH', `/v1/workspaces/${customer.workspaceId}`, { network_policy: { allow_private: false, allow_ranges } })
  expect((await allow(['127.0.0.1/32', '169.254.0.0/16', 'fd00::/8', '100.100.100.0/24'])).status).toBe(200)
  expect((await create(inbox.url)).status).toBe(201)
  await raiseAlert(here, undefined, customer.workspaceId)
  await here.settle()
  expect((await list({ acme: customer })).map(one => one.status)).toEqual(['delivered'])
  for (const metadata of ['169.254.169.254', '169.254.170.2', '[fd00:ec2::254]', '100.100.100.200']) {
    const refused = await create(`http://${metadata}/latest/meta-data`)
    expect([metadata, refused.status, refused.body.errors?.[0].code]).toEqual([metadata, 422, 'blocked_address'])
  }
  expect((await create('http://127.0.0.2:9/hook')).status).toBe(422)
  await allow([])
  await raiseAlert(here, undefined, customer.workspaceId)
  await here.settle()
  expect((await list({ acme: customer })).at(-1)).toMatchObject({ status: 'retrying', reason: 'blocked_address' })
  expect(inbox.received).toHaveLength(1)
})

test('a manual retry replaces the scheduled one, and a replay is rate limited', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = answering(404)
  const { id } = await endpointAt(here, inbox.url, { retry_schedule: [60, 60] })
  await raise(here)
  const [{ id: delivery }] = await list(here)
  expect((await here.acme.call('POST', `/v1/webhook-deliveries/${delivery}/resend`)).body.id).toBe(delivery)
  await here.settle()
  await here.acme.call('POST', `/v1/webhook-deliveries/${delivery}/resend`)
  await here.settle()
  expect(inbox.received).toHaveLength(3)
  // The scheduled retry was replaced each time: one is left, based on the last attempt.
  expect(await here.hub.read.select().from(jobs)).toHaveLength(1)
  await here.advance(66_001)
  expect(inbox.received).toHaveLength(4)
  expect(new Set(inbox.received.map(one => one.headers.get('webhook-id'))).size).toBe(1)
  expect((await detail(here, delivery)).attempts.map((one: any) => one.trigger)).toEqual(['auto', 'manual', 'manual', 'auto'])

  await here.acme.call('PATCH', path(id), { retry_schedule: [], max_per_second: 2 })
  await raise(here, 9)
  for (let seconds = 0; seconds < 10; seconds++) await here.advance(1_000)
  inbox.answer = answering(204)
  inbox.received.splice(0)
  const window = { since: '2026-11-21T00:00:00Z', until: '2026-11-22T00:00:00Z', status: ['exhausted'] }
  expect((await here.acme.call('POST', `${path(id)}/recover`, window)).body.result.matched).toBe(9)
  await here.settle()
  for (let seconds = 1, before = 0; seconds <= 6; seconds++) {
    expect(inbox.received.length - before).toBeLessThanOrEqual(2)
    before = inbox.received.length
    await here.advance(1_000)
  }
  expect(inbox.received).toHaveLength(9)
})

test('the lease is longer than any attempt can take', async () => {
  const here = await world()
  const { id } = await endpointAt(here, 'http://127.0.0.1:9/hook', { timeout_seconds: 30 })
  expect((await here.acme.call('PATCH', path(id), { timeout_seconds: 31 })).status).toBe(422)
  expect(deliverJob.leaseMs).toBe(30_000 + 30_000)
})

test('an attempt whose process died is logged, and doesn’t count against the schedule', async () => {
  const here = await world()
  const inbox = receiver()
  inbox.answer = async () => {
    // The hub died before it stored the result of the attempt.
    if (inbox.received.length === 1) {
      await record(here.hub, async tx => {
        const underWay = and(eq(jobs.state, 'running'), eq(jobs.kind, 'webhooks.deliver'))
        await tx.update(jobs).set({ lockedBy: 'hub_dead' }).where(underWay)
        return { result: undefined }
      })
    }
    return new Response(null, { status: 500 })
  }
  await endpointAt(here, inbox.url, { retry_schedule: [60] })
  await raise(here)
  const [{ id }] = await list(here)
  expect(await detail(here, id)).toMatchObject({ status: 'in_flight', attempt_count: 0, attempts: [] })
  await record(here.hub, async tx => ({ result: await reap(tx, here.hub) }))
  await here.settle()
  await here.advance(66_001)
  const ended = await detail(here, id)
  expect(ended).toMatchObject({ status: 'exhausted', attempt_count: 3 })
  expect(ended.attempts.map((one: any) => [one.number, one.error_class, one.status_code])).toEqual([
    [1, 'aborted', null],
    [2, 'http_status', 500],
    [3, 'http_status', 500],
  ])
  expect(inbox.received.map(one => one.headers.get('x-service-attempt'))).toEqual(['1', '2', '3'])
})
