import { flushTokenUses } from '../../src/access/token-use'
import { expect, test } from 'bun:test'
import { callerOfToken, forgetCallers, watchCallers } from '../../src/access/callers'
import { isPostgres } from '../../src/core/db/dialect'
import { Worker } from '../../src/core/jobs/worker'
import { createApp } from '../../src/hub/app'
import { jobKinds } from '../../src/hub/jobs'
import { callerWith, world } from '../support/world'
import { otherHub } from '../support/watched-monitors'

test('a token value is shown once, and afterwards only its hint', async () => {
  const { acme, audited } = await world()
  const created = await acme.call('POST', '/v1/tokens', { name: 'ci', permissions: ['dns.write'] })
  expect(created.status).toBe(201)
  expect(created.body.token).toMatch(/^bw_live_[0-9A-Za-z]{36}$/)
  expect(created.headers.get('location')).toBe(`/v1/tokens/${created.body.id}`)
  const read = await acme.call('GET', `/v1/tokens/${created.body.id}`)
  expect(read.status).toBe(200)
  expect(read.text).not.toContain(created.body.token)
  expect(read.body.hint).toBe(`bw_live_…${created.body.token.slice(-4)}`)
  expect(await audited()).toEqual(['account.token.create'])
})

test('a revoked token stops working with the next request', async () => {
  const { acme, scoped } = await world()
  const reader = await scoped('account.read')
  const mine = (await reader.call('GET', '/v1/tokens')).body.data.find((one: any) => one.mode === 'scoped')
  expect((await acme.call('DELETE', `/v1/tokens/${mine.id}`)).status).toBe(204)
  const refused = await reader.call('GET', '/v1/tokens')
  expect(refused.status).toBe(401)
  expect(refused.body.code).toBe('token_revoked')
})

test('what was read about a token before a change is not used after it', async () => {
  const { acme, hub } = await world()
  const { body } = await acme.call('POST', '/v1/tokens', { name: 'ci', mode: 'read_only' })
  const reading = callerOfToken(hub, body.token)
  await forgetCallers(hub)
  const stale = await reading
  expect(await callerOfToken(hub, body.token)).not.toBe(stale)
})

test('what was read about a token is not used longer if the clock is set back', async () => {
  const { acme, hub, clock } = await world()
  const { body } = await acme.call('POST', '/v1/tokens', { name: 'ci', mode: 'read_only' })
  const before = await callerOfToken(hub, body.token)
  expect(await callerOfToken(hub, body.token)).toBe(before)
  clock.advance(-3_600_000)
  expect(await callerOfToken(hub, body.token)).not.toBe(before)
})

test.skipIf(!isPostgres)('a token revoked at another hub stops working', async () => {
  const here = await world()
  const { acme } = here
  const { body } = await acme.call('POST', '/v1/tokens', { name: 'ci', mode: 'read_only' })
  const other = await otherHub(here)
  await watchCallers(other.hub)
  const there = callerWith(createApp(other.hub, new Worker(other.hub, jobKinds)), acme.workspaceId, body.token)
  expect((await there.call('GET', '/v1/tokens')).status).toBe(200)
  await acme.call('DELETE', `/v1/tokens/${body.id}`)
  // The clock stands still, so only the notification ends the caching.
  while ((await there.call('GET', '/v1/tokens')).status !== 401) await Bun.sleep(1)
  await other.close()
})

test('a token cannot create a token with more access, not even through full access', async () => {
  const w = await world()
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
  const full = await all.call('POST', '/v1/tokens', { name: 'more', mode: 'full' })
  expect([full.status, full.body.required_permission]).toEqual([403, 'operator'])
  expect((await all.call('POST', '/v1/tokens', { name: 'as much', permissions: ['dns.write'] })).status).toBe(201)
  const some = await w.scoped('account.write')
  const more = await some.call('POST', '/v1/tokens', { name: 'more', permissions: ['dns.read'] })
  expect([more.status, more.body.required_permission]).toEqual([403, 'dns.read'])
  expect((await some.call('POST', '/v1/tokens', { name: 'more', mode: 'read_only' })).status).toBe(403)
  // Outside the operator's workspace, full access is only the sum of all areas.
  expect((await w.rival.call('POST', '/v1/tokens', { name: 'all of rival', mode: 'full' })).status).toBe(201)
})

test('a token created by a token cannot expire later or allow more addresses', async () => {
  const w = await world()
  const expires_at = new Date(w.clock.now() + 3600_000).toISOString()
  const maker = await w.acme.call('POST', '/v1/tokens', {
    name: 'maker',
    permissions: ['account.write'],
    expires_at,
    allowed_cidrs: ['127.0.0.0/8'],
  })
  const as = { authorization: `Bearer ${maker.body.token}` }
  const made = await w.anonymous.call('POST', '/v1/tokens', { name: 'child', permissions: ['account.read'] }, as)
  expect(made.body).toMatchObject({ expires_at, allowed_cidrs: ['127.0.0.0/8'] })
  const later = new Date(w.clock.now() + 7200_000).toISOString()
  const beyond = await w.anonymous.call(
    'POST',
    '/v1/tokens',
    { name: 'child', permissions: ['account.read'], expires_at: later, allowed_cidrs: ['127.0.0.1', '0.0.0.0/0'] },
    as,
  )
  expect([beyond.status, beyond.body.errors.map((one: any) => one.pointer)]).toEqual([422, ['#/expires_at', '#/allowed_cidrs/1']])
})

test('an expired token, one from another address and a mistyped one get different errors', async () => {
  const w = await world()
  const make = async (more: object) =>
    (await w.acme.call('POST', '/v1/tokens', { name: 't', permissions: ['account.read'], ...more })).body.token as string
  const soon = await make({ expires_at: new Date(w.clock.now() + 1000).toISOString() })
  const elsewhere = await make({ allowed_cidrs: ['192.0.2.0/24'] })
  w.clock.advance(1000)
  const code = async (token: string) => {
    const response = await w.anonymous.call('GET', '/v1/tokens', undefined, { authorization: `Bearer ${token}` })
    return `${response.status} ${response.body.code}`
  }
  expect(await code(soon)).toBe('401 token_expired')
  expect(await code(elsewhere)).toBe('403 address_not_allowed')
  expect(await code(`${soon.slice(0, -1)}${soon.endsWith('a') ? 'b' : 'a'}`)).toBe('401 invalid_token')
  expect(await code('bw_live_short')).toBe('401 invalid_token')
})

test('the last use is shown immediately and stored within a minute', async () => {
  const w = await world()
  const reader = await w.scoped('account.read')
  await reader.call('GET', '/v1/tokens')
  const seen = async () => (await w.acme.call('GET', '/v1/tokens?mode=scoped')).body.data[0]
  const at = new Date(w.clock.now()).toISOString()
  expect(await seen()).toMatchObject({ last_used_at: at, last_used_ip: '127.0.0.1' })
  await flushTokenUses(w.hub)
  expect(await seen()).toMatchObject({ last_used_at: at, last_used_ip: '127.0.0.1' })
})

test('the audit log can be filtered by action and by prefix, in either order', async () => {
  const w = await world()
  const created = await w.acme.call('POST', '/v1/tokens', { name: 'one', permissions: ['dns.read'] })
  await w.acme.call('DELETE', `/v1/tokens/${created.body.id}`)
  const actions = async (filter: string) =>
    (await w.acme.call('GET', `/v1/audit-events?target_id=${created.body.id}&${filter}`)).body.data.map((one: any) => one.action)
  expect(await actions('action=account.token.create')).toEqual(['account.token.create'])
  expect(await actions('action=account.token.*')).toEqual(['account.token.revoke', 'account.token.create'])
  expect(await actions('action=account.*&sort=seq')).toEqual(['account.token.create', 'account.token.revoke'])
  expect(await actions('outcome=denied')).toEqual([])
  for (const outcomes of ['success,success', 'success,denied,success', 'denied,success'])
    expect(await actions(`outcome=${outcomes}`)).toEqual(['account.token.revoke', 'account.token.create'])
  // Without other filters, the rows of each outcome are looked up separately.
  const all = async (outcomes: string) => (await w.acme.call('GET', `/v1/audit-events?outcome=${outcomes}`)).body.data
  expect(await all('success,success')).toEqual(await all('success'))
})
