import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { forgetCallers } from '../../src/access/callers'
import type { PlanLimits } from '../../src/access/limit-table'
import { plans } from '../../src/access/tables'
import { record } from '../../src/core/change'
import { callerWith, world } from '../support/world'

test('limits show the maximum, usage and remaining amount', async () => {
  const w = await world()
  await w.limit(w.rival.workspaceId, { heartbeats: 3, concurrent_requests_per_token: 5, requests_per_minute_per_token: 60 })
  await w.rival.call('POST', '/v1/heartbeats', {
    name: 'one',
    schedule: { kind: 'period', period_seconds: 60, grace_seconds: 60 },
  })
  w.clock.advance(3600_000)
  const limits = (await w.rival.call('GET', '/v1/limits')).body.data
  const of = (name: string) => limits.find((one: any) => one.limit === name)
  expect(of('heartbeats')).toEqual({ limit: 'heartbeats', max: 3, used: 1, remaining: 2, resets_at: null })
  expect(of('tokens')).toEqual({ limit: 'tokens', max: 50, used: 1, remaining: 49, resets_at: null })
  expect(of('webhook_endpoints')).toMatchObject({ used: 0, remaining: 10 })
  // This request counts too, and is restored within a second.
  expect(of('requests_per_minute_per_token')).toEqual({
    limit: 'requests_per_minute_per_token',
    max: 60,
    used: 1,
    remaining: 59,
    resets_at: new Date(w.clock.now() + 1000).toISOString(),
  })
  expect(of('requests_per_hour_per_workspace')).toMatchObject({ max: 20_000, used: 1, remaining: 19_999 })
  expect(of('concurrent_requests_per_token')).toEqual({
    limit: 'concurrent_requests_per_token',
    max: 5,
    used: 1,
    remaining: 4,
    resets_at: null,
  })
  expect(of('audit_days')).toEqual({ limit: 'audit_days', max: 365, used: null, remaining: null, resets_at: null })
  const operators = (await w.acme.call('GET', '/v1/limits')).body.data
  expect(operators.find((one: any) => one.limit === 'tokens')).toMatchObject({ max: null, used: 2, remaining: null })
  expect(operators.find((one: any) => one.limit === 'requests_per_minute_per_token')).toMatchObject({ max: null, used: null })
})

test('an updated plan takes effect with the next request, and other limits are kept', async () => {
  const w = await world()
  await w.audited()
  const before = (await w.acme.call('GET', '/v1/plans/pro')).body
  const edited = await w.acme.call('PATCH', '/v1/plans/pro', { limits: { tokens: 1, heartbeats: null } })
  expect(edited.body).toMatchObject({
    title: before.title,
    version: before.version + 1,
    limits: { ...before.limits, tokens: 1, heartbeats: null },
  })
  const refused = await w.rival.call('POST', '/v1/tokens', { name: 'two', permissions: ['dns.read'] })
  expect(refused.body).toMatchObject({ code: 'plan_limit_reached', limit: 'tokens', max: 1, used: 1, plan: 'pro' })
  expect(refused.body.detail).toBe(
    'Limit reached: the plan allows 1 token, and 1 is in use. Delete one first, or ask the operator for another plan.',
  )
  await w.acme.call('PATCH', '/v1/plans/pro', { api_access: 'read' })
  expect((await w.rival.call('POST', '/v1/tokens', { name: 'two', permissions: ['dns.read'] })).body.code).toBe(
    'plan_no_api_access',
  )
  expect((await w.acme.call('PATCH', '/v1/plans/pro', { title: 'x' }, { 'if-match': '"1"' })).status).toBe(412)
  expect((await w.acme.call('PATCH', '/v1/plans/pro', { limits: { tokens: -1, nonsense: 1 } })).status).toBe(422)
  expect((await w.acme.call('PATCH', '/v1/plans/none', { title: 'x' })).status).toBe(404)
  expect(await w.audited()).toEqual(['account.plan.update', 'account.plan.update'])
})

test('plans are created, exactly one is the default, and unused ones can be deleted', async () => {
  const w = await world()
  const created = await w.acme.call('POST', '/v1/plans', {
    id: 'starter',
    title: 'Starter',
    limits: { tokens: 2 },
    default: true,
  })
  expect([created.status, created.headers.get('location')]).toEqual([201, '/v1/plans/starter'])
  expect(created.body).toMatchObject({ api_access: 'full', default: true, limits: { tokens: 2, heartbeats: null } })
  expect((await w.acme.call('POST', '/v1/plans', { id: 'starter', title: 'Again' })).body.code).toBe('already_exists')
  const defaults = async () =>
    (await w.acme.call('GET', '/v1/plans')).body.data.filter((one: any) => one.default).map((one: any) => one.id)
  expect(await defaults()).toEqual(['starter'])
  const workspace = await w.acme.call('POST', '/v1/workspaces', { name: 'new' })
  expect(workspace.body.plan).toBe('starter')
  expect((await w.acme.call('PATCH', '/v1/plans/starter', { default: false })).body.errors[0].pointer).toBe('#/default')
  const remove = async () => (await w.acme.call('DELETE', '/v1/plans/starter')).status
  expect(await remove()).toBe(409)
  await w.acme.call('PATCH', '/v1/plans/free', { default: true })
  expect(await defaults()).toEqual(['free'])
  expect(await remove()).toBe(409)
  await w.acme.call('PATCH', `/v1/workspaces/${workspace.body.id}`, { plan: 'free' })
  expect(await remove()).toBe(204)
  expect((await w.acme.call('GET', '/v1/plans/starter')).status).toBe(404)
})

test('overrides are shown, merged, and removed with null', async () => {
  const w = await world()
  const edit = async (limit_overrides: object) =>
    (await w.acme.call('PATCH', `/v1/workspaces/${w.rival.workspaceId}`, { limit_overrides })).body
  expect((await edit({ tokens: 1, heartbeats: 'unlimited' })).limit_overrides).toEqual({ tokens: 1, heartbeats: 'unlimited' })
  const limits = (await w.rival.call('GET', '/v1/limits')).body.data
  expect(limits.filter((one: any) => ['tokens', 'heartbeats'].includes(one.limit)).map((one: any) => one.max)).toEqual([1, null])
  expect((await w.rival.call('POST', '/v1/tokens', { name: 'two', permissions: ['dns.read'] })).body).toMatchObject({
    limit: 'tokens',
    max: 1,
  })
  expect((await edit({ tokens: null })).limit_overrides).toEqual({ heartbeats: 'unlimited' })
  expect((await w.rival.call('POST', '/v1/tokens', { name: 'two', permissions: ['dns.read'] })).status).toBe(201)
  expect((await edit({ tokens: 'many' })).errors[0].pointer).toBe('#/limit_overrides/tokens')
  expect((await edit({ nonsense: 1 })).errors[0].pointer).toBe('#/limit_overrides/nonsense')
})

test('requests above the concurrency limit are refused, and accepted again when one has finished', async () => {
  const w = await world()
  await w.limit(w.rival.workspaceId, { concurrent_requests_per_token: 1 })
  // The token is cached from here on, so that requests are admitted in the order they are sent.
  expect((await w.rival.call('GET', '/v1/tokens')).status).toBe(200)
  let finish = () => {}
  const body = new ReadableStream({
    start(controller) {
      finish = () => {
        controller.enqueue(new TextEncoder().encode('{"name": "slow", "permissions": ["dns.read"]}'))
        controller.close()
      }
    },
  })
  const slow = w.app.handle(
    new Request('http://localhost:8484/v1/tokens', {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${w.rival.token}`, 'content-type': 'application/json' },
    }),
  )
  const refused = await w.rival.call('GET', '/v1/tokens')
  expect([refused.status, refused.headers.get('retry-after'), refused.body['violated-policies']]).toEqual([
    429,
    '1',
    ['concurrent-requests'],
  ])
  // Each token has its own limit.
  finish()
  const { token } = (await (await slow).json()) as { token: string }
  expect((await w.rival.call('GET', '/v1/limits')).status).toBe(200)
  expect((await callerWith(w.app, w.rival.workspaceId, token).call('GET', '/v1/tokens')).body.code).toBe(
    'insufficient_permission',
  )
  // A refused request does not take up a slot either.
  expect((await w.rival.call('GET', '/v1/tokens/none')).status).toBe(404)
  expect((await w.rival.call('GET', '/v1/tokens')).status).toBe(200)
})

test('a limit missing in a stored plan gets the value of a new installation, or none in the operator’s own plans', async () => {
  const w = await world()
  const stamps = { apiAccess: 'full', isDefault: false, version: 1, createdAt: 0, updatedAt: 0 } as const
  await record(w.hub, async tx => {
    await tx
      .update(plans)
      .set({ limits: { tokens: 7 } as PlanLimits })
      .where(eq(plans.id, 'pro'))
    await tx.insert(plans).values({ id: 'own', title: 'Own', limits: { tokens: 3 } as PlanLimits, ...stamps })
    return { result: undefined }
  })
  await forgetCallers(w.hub)
  const plan = async (id: string) => (await w.acme.call('GET', `/v1/plans/${id}`)).body.limits
  expect(await plan('pro')).toMatchObject({ tokens: 7, monitors: 1000, monitor_interval_seconds: 10, monitor_results_days: 30 })
  expect(await plan('own')).toMatchObject({ tokens: 3, monitors: null, monitor_interval_seconds: null })
  const limits = (await w.rival.call('GET', '/v1/limits')).body.data
  expect(limits.find((one: any) => one.limit === 'monitors')).toMatchObject({ max: 1000, used: 0, remaining: 1000 })
})
