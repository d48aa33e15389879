import { afterEach, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import type { PlanLimits } from '../../src/access/limit-table'
import { plans, workspaces } from '../../src/access/tables'
import { record } from '../../src/core/change'
import { jobs } from '../../src/core/db/tables'
import { deliverKind } from '../../src/features/webhooks/sending/delivery-jobs'
import { Worker } from '../../src/core/jobs/worker'
import { jobKinds } from '../../src/hub/jobs'
import { endpointAt, raiseAlert, receiver, stopReceivers } from '../support/receiver'
import { world, type Caller, type World } from '../support/world'

afterEach(stopReceivers)

/** Advances time second by second, and returns how many messages had been received after each. */
async function secondsOf(here: World, seconds: number, count: () => number): Promise<number[]> {
  const counts: number[] = []
  for (let n = 0; n < seconds; n++) {
    await here.advance(1_000)
    counts.push(count())
  }
  return counts
}

const limitOf = async (caller: Caller) =>
  (await caller.call('GET', '/v1/limits')).body.data.find((one: any) => one.limit === 'deliveries_per_minute')

/** Lets another workspace send to a receiver on this machine. */
async function reachable(here: World, workspaceId: string): Promise<void> {
  await here.acme.call('PATCH', `/v1/workspaces/${workspaceId}`, { network_policy: { allow_private: true, allow_ranges: [] } })
}

test('a workspace sends at most as many messages a minute as its plan allows, and nothing is dropped', async () => {
  const here = await world()
  const inbox = receiver()
  await here.limit(here.acme.workspaceId, { deliveries_per_minute: 10 })
  await endpointAt(here, inbox.url)
  await endpointAt(here, inbox.url)
  for (let n = 0; n < 17; n++) await raiseAlert(here)
  await here.settle()
  expect(inbox.received).toHaveLength(10)
  expect(await limitOf(here.acme)).toEqual({
    limit: 'deliveries_per_minute',
    max: 10,
    used: 10,
    remaining: 0,
    resets_at: '2026-11-21T10:01:01.000Z',
  })
  const waiting = (await here.acme.call('GET', '/v1/webhook-deliveries?status=pending')).body.data
  expect(waiting.map((one: any) => one.attempt_count)).toEqual(Array(24).fill(0))
  const counts = await secondsOf(here, 4 * 61, () => inbox.received.length)
  for (const [second, count] of counts.entries()) {
    expect(count - (counts[second - 60] ?? 0)).toBeLessThanOrEqual(second < 60 ? 20 : 10)
  }
  expect(counts.slice(0, 60)).toEqual(Array(60).fill(10))
  expect(counts.at(-1)).toBe(34)
  const done = (await here.acme.call('GET', '/v1/webhook-deliveries?status=delivered&limit=100')).body.data
  expect(done.map((one: any) => one.attempt_count)).toEqual(Array(34).fill(1))
})

test('deliveries above the limit stay in the queue unchanged', async () => {
  const here = await world()
  const inbox = receiver()
  await here.limit(here.acme.workspaceId, { deliveries_per_minute: 5 })
  await endpointAt(here, inbox.url)
  for (let n = 0; n < 30; n++) await raiseAlert(here)
  await here.settle()
  const queued = async () => {
    const rows = await here.hub.read.select().from(jobs).where(eq(jobs.kind, deliverKind)).orderBy(jobs.id)
    return rows.map(row => [row.id, row.runAt, row.attempts, row.state])
  }
  const before = await queued()
  expect(before).toHaveLength(25)
  await secondsOf(here, 50, () => 0)
  expect(await queued()).toEqual(before)
})

test('other workspaces are not affected', async () => {
  const here = await world()
  const [ours, theirs] = [receiver(), receiver()]
  await here.limit(here.acme.workspaceId, { deliveries_per_minute: 5 })
  await reachable(here, here.rival.workspaceId)
  await endpointAt(here, ours.url)
  const created = await here.rival.call('POST', '/v1/webhook-endpoints', { url: theirs.url, events: ['monitor.alert'] })
  expect(created.status).toBe(201)
  for (let n = 0; n < 40; n++) await raiseAlert(here)
  for (let n = 0; n < 40; n++) await raiseAlert(here, 'hb_01k3zb2c4d6e8f0g2h4j6k8m0p', here.rival.workspaceId)
  await here.settle()
  expect([ours.received.length, theirs.received.length]).toEqual([5, 40])
  expect([(await limitOf(here.acme)).used, (await limitOf(here.rival)).used]).toEqual([5, 40])
})

test('first attempts are sent before retries, across endpoints', async () => {
  const here = await world()
  const [broken, well] = [receiver(), receiver()]
  broken.answer = () => new Response(null, { status: 404 })
  await endpointAt(here, broken.url, { retry_schedule: [60, 60, 60, 60] })
  const quiet = await endpointAt(here, well.url, { active: false })
  for (let n = 0; n < 4; n++) await raiseAlert(here)
  await here.settle()
  await here.limit(here.acme.workspaceId, { deliveries_per_minute: 4 })
  await here.acme.call('PATCH', `/v1/webhook-endpoints/${quiet.id}`, { active: true })
  await here.settle()
  expect([broken.received.length, well.received.length]).toEqual([4, 4])
  broken.answer = () => new Response(null, { status: 204 })
  for (let n = 0; n < 3; n++) await raiseAlert(here, 'hb_01k3zb2c4d6e8f0g2h4j6k8m0p')
  await here.settle()
  // Four retries and six first attempts are due, and four may be sent.
  await here.advance(70_000)
  const attempts = () => [...broken.received, ...well.received].map(one => one.headers.get('x-service-attempt'))
  expect(attempts().filter(n => n === '2')).toHaveLength(0)
  expect(attempts()).toHaveLength(12)
  await here.advance(61_000)
  expect(attempts().filter(n => n === '2')).toHaveLength(2)
  await here.advance(61_000)
  expect(attempts().filter(n => n === '2')).toHaveLength(4)
  expect(attempts()).toHaveLength(18)
})

test('tests and single resends neither wait nor count', async () => {
  const here = await world()
  const inbox = receiver()
  await here.limit(here.acme.workspaceId, { deliveries_per_minute: 1 })
  const { id } = await endpointAt(here, inbox.url)
  await raiseAlert(here)
  await raiseAlert(here)
  await here.settle()
  expect(inbox.received).toHaveLength(1)
  const [waiting] = (await here.acme.call('GET', '/v1/webhook-deliveries?status=pending')).body.data
  expect((await here.acme.call('POST', `/v1/webhook-deliveries/${waiting.id}/resend`, {})).status).toBe(202)
  await here.settle()
  expect(inbox.received).toHaveLength(2)
  expect((await here.acme.call('POST', `/v1/webhook-endpoints/${id}/test`, {})).body.status).toBe('delivered')
  expect(await limitOf(here.acme)).toMatchObject({ used: 1, remaining: 0 })
})

test('deliveries delayed by the endpoint’s own limit don’t count against the plan', async () => {
  const here = await world()
  const [slow, fast] = [receiver(), receiver()]
  await here.limit(here.acme.workspaceId, { deliveries_per_minute: 12 })
  await endpointAt(here, slow.url, { max_per_second: 1 })
  await endpointAt(here, fast.url)
  for (let n = 0; n < 8; n++) await raiseAlert(here)
  await here.settle()
  expect([slow.received.length, fast.received.length]).toEqual([1, 8])
  expect(await limitOf(here.acme)).toMatchObject({ used: 9, remaining: 3 })
})

test('a raised limit releases waiting deliveries, and without a limit nothing is counted', async () => {
  const here = await world()
  const inbox = receiver()
  await here.limit(here.acme.workspaceId, { deliveries_per_minute: 0 })
  await endpointAt(here, inbox.url)
  for (let n = 0; n < 5; n++) await raiseAlert(here)
  await here.settle()
  expect(inbox.received).toHaveLength(0)
  const path = `/v1/workspaces/${here.acme.workspaceId}`
  expect((await here.acme.call('PATCH', path, { limit_overrides: { deliveries_per_minute: 'unlimited' } })).status).toBe(200)
  await here.settle()
  expect(inbox.received).toHaveLength(5)
  expect(await limitOf(here.acme)).toMatchObject({ max: null, used: null, remaining: null, resets_at: null })
})

test('a plan stored before this limit existed has the limit of a new installation', async () => {
  const here = await world()
  const inbox = receiver()
  await endpointAt(here, inbox.url)
  await endpointAt(here, inbox.url)
  await record(here.hub, async tx => {
    await tx
      .update(plans)
      .set({ limits: { tokens: 50 } as PlanLimits })
      .where(eq(plans.id, 'free'))
    await tx.update(workspaces).set({ planId: 'free' }).where(eq(workspaces.id, here.acme.workspaceId))
    return { result: undefined }
  })
  for (let n = 0; n < 61; n++) await raiseAlert(here)
  await here.settle()
  expect(inbox.received).toHaveLength(120)
})

test('two workers share one limit', async () => {
  const here = await world()
  const inbox = receiver()
  await here.limit(here.acme.workspaceId, { deliveries_per_minute: 20 })
  await endpointAt(here, inbox.url)
  await endpointAt(here, inbox.url)
  const other = new Worker({ ...here.hub, id: 'another' } as typeof here.hub, jobKinds)
  for (let n = 0; n < 30; n++) await raiseAlert(here)
  await Promise.all([here.settle(), other.idle()])
  expect(inbox.received).toHaveLength(20)
  for (let minute = 0; minute < 2; minute++) {
    here.clock.advance(61_000)
    await Promise.all([here.settle(), other.idle()])
  }
  await other.stop(2_000)
  expect(inbox.received).toHaveLength(60)
})
