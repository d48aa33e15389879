import { setupToken } from '../../src/features/people/sign-up/setup'
import { expect, test } from 'bun:test'
import { world } from '../support/world'

const owner = { email: 'ada@example.com', password: 'correct horse battery', name: 'Ada' }

test('setup creates the owner of the operator’s workspace once, and signs them in', async () => {
  const { hub, anonymous, acme, audited } = await world()
  const token = await setupToken(hub)
  expect((await anonymous.call('GET', '/v1/setup')).body).toEqual({ open: true })
  const created = await anonymous.call('POST', '/v1/setup', { ...owner, token })
  expect([created.status, created.body.workspace_id, created.body.user.operator]).toEqual([201, acme.workspaceId, true])
  const me = await anonymous.call('GET', '/v1/users/me', undefined, { cookie: created.headers.get('set-cookie')!.split(';')[0]! })
  expect([me.status, me.body.email, me.body.workspaces[0].role]).toEqual([200, owner.email, 'owner'])
  expect(await audited()).toEqual(['account.setup.complete', 'account.session.create'])

  expect((await anonymous.call('GET', '/v1/setup')).body).toEqual({ open: false })
  const again = await anonymous.call('POST', '/v1/setup', { ...owner, email: 'eve@example.com', token })
  expect([again.status, again.body.code]).toEqual([403, 'setup_closed'])
})

test('two browsers with the same link create one owner', async () => {
  const { hub, anonymous } = await world()
  const token = await setupToken(hub)
  const complete = (email: string) => anonymous.call('POST', '/v1/setup', { ...owner, email, token })
  const both = await Promise.all(['a@example.com', 'b@example.com'].map(complete))
  expect(both.map(one => one.status).sort()).toEqual([201, 403])
})

test('a wrong setup token creates no user, and after too many attempts the right one is blocked too', async () => {
  const { hub, anonymous, clock } = await world({ BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE: '3' })
  const right = await setupToken(hub)
  for (const token of ['', 'wrong', right.slice(0, -1)]) {
    const response = await anonymous.call('POST', '/v1/setup', { ...owner, token })
    expect([response.status, response.body.code]).toEqual([403, 'setup_closed'])
  }
  const refused = await anonymous.call('POST', '/v1/setup', { ...owner, token: right })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '20'])
  expect((await anonymous.call('GET', '/v1/setup')).body).toEqual({ open: true })
  clock.advance(20_000)
  expect((await anonymous.call('POST', '/v1/setup', { ...owner, token: right })).status).toBe(201)
})

test('the body is validated before the token is checked', async () => {
  const { anonymous } = await world()
  const response = await anonymous.call('POST', '/v1/setup', { ...owner, token: 'wrong', password: 'short', email: 'ada' })
  expect([response.status, response.body.errors.map((one: any) => one.pointer).sort()]).toEqual([422, ['#/email', '#/password']])
})
