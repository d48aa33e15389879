import { expect, test } from 'bun:test'
import { setupToken } from '../../src/access/users'
import { world } from '../support/world'

const owner = { email: 'ada@example.com', password: 'correct horse battery', name: 'Ada' }

test('setup makes the owner of the operator’s workspace once, and signs them in', async () => {
  const { hub, stranger, acme, audited } = await world()
  const token = await setupToken(hub)
  expect((await stranger.call('GET', '/v1/setup')).body).toEqual({ open: true })
  const made = await stranger.call('POST', '/v1/setup', { ...owner, token })
  expect([made.status, made.body.workspace_id, made.body.user.operator]).toEqual([201, acme.workspaceId, true])
  const me = await stranger.call('GET', '/v1/users/me', undefined, { cookie: made.headers.get('set-cookie')!.split(';')[0]! })
  expect([me.status, me.body.email, me.body.workspaces[0].role]).toEqual([200, owner.email, 'owner'])
  expect(await audited()).toEqual(['account.setup.complete', 'account.session.create'])

  expect((await stranger.call('GET', '/v1/setup')).body).toEqual({ open: false })
  const again = await stranger.call('POST', '/v1/setup', { ...owner, email: 'eve@example.com', token })
  expect([again.status, again.body.code]).toEqual([403, 'setup_closed'])
})

test('two browsers with the same link make one owner', async () => {
  const { hub, stranger } = await world()
  const token = await setupToken(hub)
  const complete = (email: string) => stranger.call('POST', '/v1/setup', { ...owner, email, token })
  const both = await Promise.all(['a@example.com', 'b@example.com'].map(complete))
  expect(both.map(one => one.status).sort()).toEqual([201, 403])
})

test('a wrong setup token makes nobody, and after too many the right one has to wait', async () => {
  const { hub, stranger, clock } = await world({ BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE: '3' })
  const right = await setupToken(hub)
  for (const token of ['', 'wrong', right.slice(0, -1)]) {
    const answer = await stranger.call('POST', '/v1/setup', { ...owner, token })
    expect([answer.status, answer.body.code]).toEqual([403, 'setup_closed'])
  }
  const refused = await stranger.call('POST', '/v1/setup', { ...owner, token: right })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '20'])
  expect((await stranger.call('GET', '/v1/setup')).body).toEqual({ open: true })
  clock.advance(20_000)
  expect((await stranger.call('POST', '/v1/setup', { ...owner, token: right })).status).toBe(201)
})

test('a body that breaks a rule is told before the token is looked at', async () => {
  const { stranger } = await world()
  const answer = await stranger.call('POST', '/v1/setup', { ...owner, token: 'wrong', password: 'short', email: 'ada' })
  expect([answer.status, answer.body.errors.map((one: any) => one.pointer).sort()]).toEqual([422, ['#/email', '#/password']])
})
