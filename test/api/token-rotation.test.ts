import { expect, test } from 'bun:test'
import { callerWith, world, type Caller, type World } from '../support/world'

const hour = 3600_000
const day = 24 * hour

/** A token of acme created with these fields, and a caller for it. */
async function tokenWith(w: World, more: object = {}): Promise<{ id: string; etag: string; caller: Caller }> {
  const created = await w.acme.call('POST', '/v1/tokens', { name: 'ci', permissions: ['account.read'], ...more })
  expect(created.status).toBe(201)
  return {
    id: created.body.id,
    etag: created.headers.get('etag')!,
    caller: callerWith(w.app, w.acme.workspaceId, created.body.token),
  }
}

const outcome = async (caller: Caller) => {
  const { status, body } = await caller.call('GET', '/v1/tokens')
  return status === 200 ? 'works' : body.code
}

test('the old token expires after the grace period from the first use of the new one, and both are listed meanwhile', async () => {
  const w = await world()
  const old = await tokenWith(w, { allowed_cidrs: ['127.0.0.0/8'] })
  await w.audited()
  const rotated = await w.acme.call('POST', `/v1/tokens/${old.id}/rotate`, { grace_seconds: 3600 })
  expect(rotated.status).toBe(201)
  expect(rotated.body).toMatchObject({
    name: 'ci',
    permissions: ['account.read'],
    allowed_cidrs: ['127.0.0.0/8'],
    rotated_from: old.id,
    expires_at: null,
  })
  expect(rotated.headers.get('location')).toBe(`/v1/tokens/${rotated.body.id}`)
  const fresh = callerWith(w.app, w.acme.workspaceId, rotated.body.token)
  const shown = async () => (await w.acme.call('GET', `/v1/tokens/${old.id}`)).body
  expect(await shown()).toMatchObject({
    rotated_to: rotated.body.id,
    revoked_at: null,
    expires_at: new Date(w.clock.now() + 30 * day).toISOString(),
  })
  expect((await w.acme.call('GET', '/v1/tokens?mode=scoped')).body.data.map((one: any) => one.hint).sort()).toEqual(
    [old.caller.token, fresh.token].map(one => `bw_live_…${one.slice(-4)}`).sort(),
  )

  w.clock.advance(2 * day)
  expect(await outcome(old.caller)).toBe('works')
  expect(await outcome(fresh)).toBe('works')
  expect(await shown()).toMatchObject({ expires_at: new Date(w.clock.now() + hour).toISOString() })
  w.clock.advance(hour - 1)
  // A second use does not restart the grace period.
  expect([await outcome(old.caller), await outcome(fresh)]).toEqual(['works', 'works'])
  w.clock.advance(1)
  expect([await outcome(old.caller), await outcome(fresh)]).toEqual(['token_expired', 'works'])
  expect(await w.audited()).toEqual(['account.token.rotate', 'account.token.update'])
})

test('the old token expires after 30 days if the new one is never used', async () => {
  const w = await world()
  const old = await tokenWith(w)
  await w.acme.call('POST', `/v1/tokens/${old.id}/rotate`, {})
  w.clock.advance(30 * day - 1)
  expect(await outcome(old.caller)).toBe('works')
  w.clock.advance(1)
  expect(await outcome(old.caller)).toBe('token_expired')
})

test('without a grace period the old token is revoked immediately, and so is its predecessor', async () => {
  const w = await world()
  const first = await tokenWith(w)
  const second = await w.acme.call('POST', `/v1/tokens/${first.id}/rotate`, {})
  const third = await w.acme.call('POST', `/v1/tokens/${second.body.id}/rotate`, { grace_seconds: 0 })
  const using = (token: string) => outcome(callerWith(w.app, w.acme.workspaceId, token))
  expect([await outcome(first.caller), await using(second.body.token), await using(third.body.token)]).toEqual([
    'token_expired',
    'token_revoked',
    'works',
  ])
})

test('a lost value can be rotated again, and the first use of the newest token ends all before it', async () => {
  const w = await world()
  const first = await tokenWith(w)
  const lost = await w.acme.call('POST', `/v1/tokens/${first.id}/rotate`, { grace_seconds: 60 })
  const again = await w.acme.call('POST', `/v1/tokens/${first.id}/rotate`, {})
  expect([again.status, again.body.code]).toEqual([409, 'conflict'])
  expect(again.body.detail).toContain(lost.body.id)
  const newest = await w.acme.call('POST', `/v1/tokens/${lost.body.id}/rotate`, { grace_seconds: 60 })
  const using = (token: string) => outcome(callerWith(w.app, w.acme.workspaceId, token))
  expect(await outcome(first.caller)).toBe('works')
  expect(await using(newest.body.token)).toBe('works')
  w.clock.advance(60_000)
  expect([await outcome(first.caller), await using(lost.body.token), await using(newest.body.token)]).toEqual([
    'token_expired',
    'token_expired',
    'works',
  ])
})

test('a replay returns the new token without its value, and If-Match is honored', async () => {
  const w = await world()
  const old = await tokenWith(w)
  const rotate = (headers: Record<string, string>, body: object = { grace_seconds: 60 }) =>
    w.acme.call('POST', `/v1/tokens/${old.id}/rotate`, body, headers)
  const stale = await rotate({ 'if-match': '"7.abc"' })
  expect([stale.status, stale.body.code]).toEqual([412, 'precondition_failed'])
  const created = await rotate({ 'if-match': old.etag, 'idempotency-key': 'k1' })
  const replay = await rotate({ 'if-match': old.etag, 'idempotency-key': 'k1' })
  expect([created.status, replay.status, replay.headers.get('idempotent-replayed')]).toEqual([201, 201, 'true'])
  expect(replay.body).toMatchObject({ id: created.body.id, secret_shown_before: true })
  expect(replay.text).not.toContain(created.body.token)
  expect([(await rotate({}, { grace_seconds: 604_801 })).status, (await rotate({}, { grace_seconds: -1 })).status]).toEqual([
    422, 422,
  ])
})

test('a token cannot get the value of a token with more access', async () => {
  const w = await world()
  const manager = await tokenWith(w, { permissions: ['account.write'] })
  const bounded = await tokenWith(w, {
    permissions: ['account.write'],
    allowed_cidrs: ['127.0.0.1'],
    expires_at: new Date(w.clock.now() + day).toISOString(),
  })
  const full = (await w.acme.call('GET', '/v1/tokens?mode=full')).body.data[0].id
  const rotate = async (caller: Caller, id: string) => {
    const response = await caller.call('POST', `/v1/tokens/${id}/rotate`, {})
    return response.status === 201 ? 'rotated' : response.body.required_permission
  }
  expect(await rotate(manager.caller, full)).toBe('domains.read')
  expect(await rotate(bounded.caller, manager.id)).toBe('account.write')
  expect(await rotate(bounded.caller, bounded.id)).toBe('rotated')
  const all = await w.scoped(
    'domains.write',
    'dns.write',
    'cloud.write',
    'certificates.write',
    'monitoring.write',
    'dynamic_ip.write',
    'webhooks.write',
    'account.write',
  )
  expect(await rotate(all, full)).toBe('operator')
  expect(await rotate(manager.caller, bounded.id)).toBeUndefined()
})

test('an inactive token cannot be rotated, and a rotation counts once against the plan', async () => {
  const w = await world()
  await w.limit(w.rival.workspaceId, { tokens: 2 })
  const created = await w.rival.call('POST', '/v1/tokens', { name: 'two', permissions: ['dns.read'] })
  const rotated = await w.rival.call('POST', `/v1/tokens/${created.body.id}/rotate`, {})
  expect(rotated.status).toBe(201)
  expect((await w.rival.call('POST', '/v1/tokens', { name: 'three', permissions: ['dns.read'] })).body.code).toBe(
    'plan_limit_reached',
  )
  await w.rival.call('DELETE', `/v1/tokens/${rotated.body.id}`)
  expect((await w.rival.call('POST', `/v1/tokens/${rotated.body.id}/rotate`, {})).status).toBe(409)
  // If its replacement is revoked, the old token can be rotated again.
  expect((await w.rival.call('POST', `/v1/tokens/${created.body.id}/rotate`, {})).status).toBe(201)
})

test('a first use that cannot be stored does not fail the request, and the next one counts', async () => {
  const w = await world()
  const old = await tokenWith(w)
  const rotated = await w.acme.call('POST', `/v1/tokens/${old.id}/rotate`, { grace_seconds: 60 })
  const fresh = callerWith(w.app, w.acme.workspaceId, rotated.body.token)
  const { transact } = w.hub.store
  w.hub.store.transact = () => Promise.reject(new Error('the disk is full'))
  expect(await outcome(fresh)).toBe('works')
  w.hub.store.transact = transact
  w.clock.advance(60_000)
  expect([await outcome(old.caller), await outcome(fresh)]).toEqual(['works', 'works'])
  w.clock.advance(60_000)
  expect(await outcome(old.caller)).toBe('token_expired')
})
