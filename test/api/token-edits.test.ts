import { expect, test } from 'bun:test'
import { callerWith, world, type World } from '../support/world'

const day = 24 * 3600_000

async function tokenWith(w: World, more: object = {}) {
  const created = await w.acme.call('POST', '/v1/tokens', { name: 'ci', permissions: ['account.read'], ...more })
  expect(created.status).toBe(201)
  return { id: created.body.id as string, caller: callerWith(w.app, w.acme.workspaceId, created.body.token) }
}
const later = (w: World, ms: number) => new Date(w.clock.now() + ms).toISOString()

test('expiry and addresses of a token can be changed, and removed with null', async () => {
  const w = await world()
  const { id, caller } = await tokenWith(w, { expires_at: later(w, day) })
  const edit = (patch: object) => w.acme.call('PATCH', `/v1/tokens/${id}`, patch)
  const end = later(w, 2 * day)
  expect((await edit({ expires_at: end, allowed_cidrs: ['192.0.2.0/24'] })).body).toMatchObject({
    name: 'ci',
    expires_at: end,
    allowed_cidrs: ['192.0.2.0/24'],
  })
  const { last_used_at, last_used_ip } = (await w.acme.call('GET', `/v1/tokens/${id}`)).body
  w.clock.advance(1000)
  expect((await caller.call('GET', '/v1/tokens')).body.code).toBe('address_not_allowed')
  expect((await w.acme.call('GET', `/v1/tokens/${id}`)).body).toMatchObject({ last_used_at, last_used_ip })
  expect((await edit({ name: 'renamed' })).body).toMatchObject({
    name: 'renamed',
    expires_at: end,
    allowed_cidrs: ['192.0.2.0/24'],
  })
  expect((await edit({ expires_at: null, allowed_cidrs: null })).body).toMatchObject({ expires_at: null, allowed_cidrs: [] })
  expect((await caller.call('GET', '/v1/tokens')).status).toBe(200)
  const wrong = await edit({ name: null, expires_at: later(w, -1), allowed_cidrs: ['nonsense'] })
  expect(wrong.status).toBe(422)
  const bounds = await edit({ expires_at: later(w, -1), allowed_cidrs: ['nonsense'] })
  expect(bounds.body.errors.map((one: any) => `${one.pointer} ${one.code}`)).toEqual([
    '#/expires_at in_the_past',
    '#/allowed_cidrs/0 format',
  ])
})

test('a token cannot set restrictions wider than its own, not even on itself', async () => {
  const w = await world()
  const expires_at = later(w, day)
  const maker = await tokenWith(w, { permissions: ['account.write'], expires_at, allowed_cidrs: ['127.0.0.0/8'] })
  const child = await maker.caller.call('POST', '/v1/tokens', {
    name: 'child',
    permissions: ['account.read'],
    expires_at: later(w, 1000),
  })
  for (const id of [maker.id, child.body.id]) {
    const beyond = await maker.caller.call('PATCH', `/v1/tokens/${id}`, {
      expires_at: later(w, 2 * day),
      allowed_cidrs: ['127.0.0.1', '10.0.0.0/8'],
    })
    expect([beyond.status, beyond.body.errors.map((one: any) => one.pointer)]).toEqual([
      422,
      ['#/expires_at', '#/allowed_cidrs/1'],
    ])
    const none = await maker.caller.call('PATCH', `/v1/tokens/${id}`, { expires_at: null, allowed_cidrs: null })
    expect([none.status, none.body.errors.map((one: any) => `${one.pointer} ${one.code}`)]).toEqual([
      422,
      ['#/expires_at exceeds_caller', '#/allowed_cidrs exceeds_caller'],
    ])
    const empty = await maker.caller.call('PATCH', `/v1/tokens/${id}`, { allowed_cidrs: [] })
    expect([empty.status, empty.body.errors]).toEqual([
      422,
      [{ pointer: '#/allowed_cidrs', code: 'too_few', detail: 'must have at least 1 item, or be null.' }],
    ])
  }
})

test('a token cannot loosen a token with more access, but can tighten it', async () => {
  const w = await world()
  const manager = await tokenWith(w, { permissions: ['account.write'] })
  const strong = await tokenWith(w, { permissions: ['dns.write'], expires_at: later(w, day), allowed_cidrs: ['192.0.2.0/24'] })
  const edit = async (patch: object) => {
    const { status, body } = await manager.caller.call('PATCH', `/v1/tokens/${strong.id}`, patch)
    return status === 200 ? 'edited' : body.required_permission
  }
  expect(await edit({ expires_at: later(w, 2 * day) })).toBe('dns.write')
  expect(await edit({ expires_at: null })).toBe('dns.write')
  expect(await edit({ allowed_cidrs: ['0.0.0.0/0'] })).toBe('dns.write')
  expect(await edit({ allowed_cidrs: null })).toBe('dns.write')
  expect(await edit({ expires_at: later(w, 1000), allowed_cidrs: ['192.0.2.1'] })).toBe('edited')
})

test('an expired token cannot be reactivated, and a rotated one cannot be extended', async () => {
  const w = await world()
  const ended = await tokenWith(w, { expires_at: later(w, 1000) })
  const rotated = await tokenWith(w)
  await w.acme.call('POST', `/v1/tokens/${rotated.id}/rotate`, {})
  w.clock.advance(1000)
  expect((await w.acme.call('PATCH', `/v1/tokens/${ended.id}`, { expires_at: null })).body.code).toBe('conflict')
  expect((await w.acme.call('PATCH', `/v1/tokens/${ended.id}`, { name: 'gone' })).status).toBe(200)
  expect((await w.acme.call('PATCH', `/v1/tokens/${rotated.id}`, { expires_at: null })).body.errors[0].code).toBe('in_rotation')
  expect((await w.acme.call('PATCH', `/v1/tokens/${rotated.id}`, { expires_at: later(w, 1000) })).status).toBe(200)
})

test('a reported token is revoked immediately, and the response is the same for any other', async () => {
  const w = await world()
  const { id, caller } = await tokenWith(w)
  await w.audited()
  const report = (token: string) => w.anonymous.call('POST', '/v1/tokens/report', { token })
  const responses = [
    await report(caller.token),
    await report(caller.token),
    await report(`${caller.token.slice(0, -1)}x`),
    await report('nonsense'),
  ]
  expect(responses.map(one => [one.status, one.text])).toEqual(Array(4).fill([204, '']))
  expect((await caller.call('GET', '/v1/tokens')).body.code).toBe('token_revoked')
  expect((await w.acme.call('GET', `/v1/tokens/${id}`)).body.revoked_at).toBe(new Date(w.clock.now()).toISOString())
  expect(await w.audited()).toEqual(['account.token.report'])
})

test('ten reports a minute are accepted per IP address', async () => {
  const w = await world()
  for (let n = 0; n < 10; n++)
    expect((await w.anonymous.call('POST', '/v1/tokens/report', { token: 'nonsense' })).status).toBe(204)
  const refused = await w.anonymous.call('POST', '/v1/tokens/report', { token: 'nonsense' })
  expect([refused.status, refused.body['violated-policies']]).toEqual([429, ['token-reports']])
  w.clock.advance(6000)
  expect((await w.anonymous.call('POST', '/v1/tokens/report', { token: 'nonsense' })).status).toBe(204)
})
