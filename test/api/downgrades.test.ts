import { afterEach, expect, test } from 'bun:test'
import { watchExcesses } from '../../src/features/limits/excess'
import { endpointAt, raiseAlert, receiver, stopReceivers } from '../support/receiver'
import { world, type Caller, type World } from '../support/world'

afterEach(stopReceivers)

const day = 86_400_000

/** Three hubs whose scheduled jobs run at the same time, and one that runs them again. */
async function look({ hub, settle }: World): Promise<void> {
  await Promise.all([watchExcesses(hub), watchExcesses(hub), watchExcesses(hub)])
  await watchExcesses(hub)
  await settle()
}
async function limits({ acme, settle }: World, caller: Caller, limit_overrides: object): Promise<void> {
  expect((await acme.call('PATCH', `/v1/workspaces/${caller.workspaceId}`, { limit_overrides })).status).toBe(200)
  await settle()
}
const notices = async (caller: Caller, kind: string): Promise<any[]> =>
  (await caller.call('GET', `/v1/notices?limit=100&sort=id&kind=${kind}`)).body.data
const standing = async ({ acme }: World) =>
  (await acme.call('GET', '/v1/webhook-endpoints?sort=id')).body.data.map((one: any) => one.disabled_reason ?? one.status)
const deliveries = async ({ acme }: World, id: string): Promise<any[]> =>
  (await acme.call('GET', `/v1/webhook-deliveries?sort=id&limit=100&endpoint_id=${id}`)).body.data

/** Three endpoints of acme. The plan now allows only one. */
async function aboveLimit(here: World) {
  const inboxes = [receiver(), receiver(), receiver()] as const
  const ids: string[] = []
  for (const inbox of inboxes) ids.push((await endpointAt(here, inbox.url)).id)
  await limits(here, here.acme, { webhook_endpoints: 1 })
  return { inboxes, ids: ids as [string, string, string] }
}

test('a limit below the usage deletes nothing, blocks creation and sends a notice', async () => {
  const here = await world()
  await aboveLimit(here)
  const [notice, ...rest] = await notices(here.acme, 'plan.over_limit')
  expect(rest).toEqual([])
  expect(notice).toMatchObject({
    severity: 'critical',
    resource: null,
    details: {
      limit: 'webhook_endpoints',
      max: 1,
      used: 3,
      plan: 'unlimited',
      paused_from: new Date(here.clock.now() + 14 * day).toISOString(),
    },
    count: 1,
  })
  expect(await standing(here)).toEqual(['enabled', 'enabled', 'enabled'])
  const more = await here.acme.call('POST', '/v1/webhook-endpoints', { url: 'http://127.0.0.1:9/x', events: ['monitor.alert'] })
  expect(more.body).toMatchObject({ code: 'plan_limit_reached', max: 1, used: 3 })
  await look(here)
  await limits(here, here.acme, { webhook_endpoints: 2 })
  await look(here)
  expect((await notices(here.acme, 'plan.over_limit')).map(one => one.count)).toEqual([1])
  await limits(here, here.acme, { webhook_endpoints: 1 })
  expect((await notices(here.acme, 'plan.over_limit')).map(one => one.count)).toEqual([2])
})

test('after 14 days the newest endpoints over the limit are disabled, and their events held', async () => {
  const here = await world()
  const { ids, inboxes } = await aboveLimit(here)
  await here.advance(14 * day - 1)
  await look(here)
  expect(await standing(here)).toEqual(['enabled', 'enabled', 'enabled'])
  await here.audited()
  await here.emitted()
  await here.advance(1)
  await look(here)
  expect(await standing(here)).toEqual(['enabled', 'plan_limit', 'plan_limit'])
  expect(await here.audited()).toEqual(['webhooks.endpoint.disable', 'webhooks.endpoint.disable'])
  expect(await here.emitted()).toEqual(['webhook.endpoint_disabled', 'webhook.endpoint_disabled'])
  const sentNotices = await notices(here.acme, 'webhook_endpoint.disabled')
  expect(sentNotices.map(one => [one.resource.id, one.details.reason, one.count]).sort()).toEqual(
    [ids[1], ids[2]].map(id => [id, 'plan_limit', 1]).sort(),
  )
  await raiseAlert(here)
  await here.settle()
  expect(inboxes.map(one => one.received.length)).toEqual([1, 0, 0])
  expect(await deliveries(here, ids[2])).toMatchObject([{ status: 'held', reason: 'endpoint_disabled' }])
  // They cannot be re-enabled manually while the limit is exceeded.
  const refused = await here.acme.call('POST', `/v1/webhook-endpoints/${ids[1]}/enable`, {})
  expect([refused.status, refused.body.code, refused.body.limit, refused.body.max, refused.body.used]).toEqual([
    403,
    'plan_limit_reached',
    'webhook_endpoints',
    1,
    1,
  ])
  await here.acme.call('PATCH', `/v1/webhook-endpoints/${ids[1]}`, { active: false })
  await here.acme.call('PATCH', `/v1/webhook-endpoints/${ids[1]}`, { active: true })
  await here.settle()
  expect(await standing(here)).toEqual(['enabled', 'plan_limit', 'plan_limit'])
})

test('they are re-enabled oldest first when the limit is raised, and get the held events', async () => {
  const here = await world()
  const { inboxes, ids } = await aboveLimit(here)
  await here.advance(14 * day)
  await look(here)
  await raiseAlert(here)
  await here.settle()
  await here.audited()
  await limits(here, here.acme, { webhook_endpoints: 2 })
  expect(await standing(here)).toEqual(['enabled', 'enabled', 'plan_limit'])
  expect(inboxes.map(one => one.received.length)).toEqual([1, 1, 0])
  await limits(here, here.acme, { webhook_endpoints: null })
  expect(await standing(here)).toEqual(['enabled', 'enabled', 'enabled'])
  expect(inboxes.map(one => one.received.length)).toEqual([1, 1, 1])
  expect(await deliveries(here, ids[2])).toMatchObject([{ status: 'delivered' }])
  await look(here)
  const enabled = 'webhooks.endpoint.enable'
  const edited = 'account.workspace.update'
  expect((await here.audited()).sort()).toEqual([edited, edited, enabled, enabled])
  expect((await notices(here.acme, 'webhook_endpoint.resumed')).map(one => one.resource.id)).toEqual([ids[1], ids[2]])
})

test('deleting an endpoint re-enables one of them', async () => {
  const here = await world()
  const { ids, inboxes } = await aboveLimit(here)
  await here.advance(14 * day)
  await look(here)
  await raiseAlert(here)
  await here.settle()
  await here.acme.call('DELETE', `/v1/webhook-endpoints/${ids[2]}`)
  await here.settle()
  expect(await standing(here)).toEqual(['enabled', 'plan_limit'])
  await here.acme.call('DELETE', `/v1/webhook-endpoints/${ids[0]}`)
  await here.settle()
  expect(await standing(here)).toEqual(['enabled'])
  expect(inboxes.map(one => one.received.length)).toEqual([1, 1, 0])
})

test('if usage drops in time, all stay enabled, and a later excess gets a new 14-day grace period', async () => {
  const here = await world()
  const { ids } = await aboveLimit(here)
  await here.advance(13 * day)
  for (const id of [ids[1], ids[2]]) await here.acme.call('DELETE', `/v1/webhook-endpoints/${id}`)
  await here.settle()
  await here.advance(2 * day)
  await look(here)
  expect(await standing(here)).toEqual(['enabled'])
  await limits(here, here.acme, { webhook_endpoints: 0 })
  await here.advance(14 * day - 1)
  await look(here)
  expect(await standing(here)).toEqual(['enabled'])
  await here.advance(1)
  await look(here)
  expect(await standing(here)).toEqual(['plan_limit'])
  expect((await notices(here.acme, 'plan.over_limit')).map(one => one.count)).toEqual([2])
})

test('a failing endpoint is not re-enabled in place of one disabled by the plan', async () => {
  const here = await world()
  const { ids, inboxes } = await aboveLimit(here)
  inboxes[0].answer = () => new Response(null, { status: 410 })
  await raiseAlert(here)
  await here.settle()
  await here.advance(6_000)
  expect(await standing(here)).toEqual(['gone', 'enabled', 'enabled'])
  await here.advance(14 * day)
  await look(here)
  expect(await standing(here)).toEqual(['gone', 'enabled', 'plan_limit'])
  expect((await here.acme.call('POST', `/v1/webhook-endpoints/${ids[0]}/enable`, {})).body.code).toBe('plan_limit_reached')
  await here.acme.call('DELETE', `/v1/webhook-endpoints/${ids[1]}`)
  await here.settle()
  expect(await standing(here)).toEqual(['gone', 'enabled'])
})

test('lowering a plan notifies every workspace over its limits, and moving to a smaller plan that workspace', async () => {
  const here = await world()
  const { acme, rival } = here
  for (const name of ['a', 'b']) await rival.call('POST', '/v1/tokens', { name, permissions: ['dns.read'] })
  const heartbeat = { name: 'job', schedule: { kind: 'period', period_seconds: 60, grace_seconds: 60 } }
  await rival.call('POST', '/v1/heartbeats', heartbeat)
  await acme.call('PATCH', '/v1/plans/pro', { limits: { tokens: 2, heartbeats: 1 } })
  await here.settle()
  const sentNotices = async () =>
    (await notices(rival, 'plan.over_limit')).map(one => [one.details.limit, one.details.max, one.details.used, one.count])
  expect(await sentNotices()).toEqual([['tokens', 2, 3, 1]])
  expect((await notices(rival, 'plan.over_limit'))[0].details).toMatchObject({ plan: 'pro', paused_from: null })
  await acme.call('POST', '/v1/plans', { id: 'tiny', title: 'Tiny', limits: { tokens: 1, heartbeats: 0 } })
  await acme.call('PATCH', `/v1/workspaces/${rival.workspaceId}`, { plan: 'tiny' })
  await here.settle()
  expect(await sentNotices()).toEqual([
    ['tokens', 1, 3, 2],
    ['heartbeats', 0, 1, 1],
  ])
  expect((await rival.call('GET', '/v1/tokens')).body.data).toHaveLength(3)
  expect((await rival.call('GET', '/v1/heartbeats')).body.data).toHaveLength(1)
  expect((await rival.call('POST', '/v1/heartbeats', heartbeat)).body.code).toBe('plan_limit_reached')
  expect(await notices(acme, 'plan.over_limit')).toEqual([])
})
