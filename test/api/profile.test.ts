import { expect, test } from 'bun:test'
import { record } from '../../src/core/change'
import { newMembership } from '../../src/features/people/users'
import { memberships } from '../../src/access/tables'
import { password, person } from '../support/people'
import { world } from '../support/world'

async function ada() {
  const w = await world()
  const { user, call } = await person(w, w.acme.workspaceId, 'viewer', 'ada@example.com')
  await w.audited()
  return { w, user, call, edit: (patch: object, headers = {}) => call('PATCH', '/v1/users/me', patch, headers) }
}

test('users can change their name, which is audited in all their workspaces', async () => {
  const { w, user, call, edit } = await ada()
  await record(w.hub, async tx => {
    await tx.insert(memberships).values(newMembership(w.rival.workspaceId, user.id, 'viewer', w.clock.now()))
    return { result: undefined }
  })
  const edited = await edit({ name: 'Ada L.' })
  expect([edited.status, edited.body.name, edited.body.version]).toEqual([200, 'Ada L.', 2])
  expect((await call('GET', '/v1/users/me')).body.name).toBe('Ada L.')
  expect(await w.audited()).toEqual(['account.user.update'])
  const [entry] = (await w.rival.call('GET', '/v1/audit-events?action=account.user.update')).body.data
  expect(entry.changes).toEqual({ before: { name: 'ada' }, after: { name: 'Ada L.' } })
  expect((await edit({ name: 'Ada L.' })).body.version).toBe(2)
  expect(await w.audited()).toEqual([])
  expect((await edit({ name: 'x' }, { 'if-match': '"1"' })).body.code).toBe('precondition_failed')
})

test('changing the email address requires the password', async () => {
  const { w, edit } = await ada()
  const bare = await edit({ email: 'lovelace@example.com' })
  expect([bare.status, bare.body.errors[0].pointer]).toEqual([422, '#/password'])
  const wrong = await edit({ email: 'lovelace@example.com', password: 'something else' })
  expect([wrong.status, wrong.body.errors[0]]).toMatchObject([422, { pointer: '#/password', code: 'wrong_password' }])
  expect(await w.audited()).toEqual(['account.user.update failure'])
  expect((await edit({ email: 'Lovelace@Example.com', password })).body.email).toBe('lovelace@example.com')
  const signIn = (email: string) => w.anonymous.call('POST', '/v1/sessions', { email, password })
  expect((await signIn('lovelace@example.com')).status).toBe(201)
  expect((await signIn('ada@example.com')).status).toBe(401)
  // Their own address in another spelling is no change.
  expect((await edit({ email: 'LOVELACE@example.com' })).status).toBe(200)
})

test('an email address that is taken is refused, and attempts are rate limited', async () => {
  const { w, edit } = await ada()
  await person(w, w.acme.workspaceId, 'viewer', 'grace@example.com')
  for (let n = 0; n < 5; n++) {
    const taken = await edit({ email: 'grace@example.com', password })
    expect([taken.status, taken.body.code]).toEqual([409, 'already_exists'])
  }
  expect((await edit({ email: 'new@example.com', password })).status).toBe(429)
})

test('preferences are stored one by one', async () => {
  const { edit, call } = await ada()
  const first = {
    theme: 'system',
    timezone: null,
    hour_cycle: 'auto',
    density: 'comfortable',
    sidebar_collapsed: false,
    shortcuts: true,
    dismissed: [],
  }
  expect((await call('GET', '/v1/users/me')).body.preferences).toEqual(first)
  await edit({ preferences: { theme: 'dark', timezone: 'europe/berlin' } })
  const edited = await edit({ preferences: { dismissed: ['welcome'] } })
  expect(edited.body.preferences).toEqual({ ...first, theme: 'dark', timezone: 'Europe/Berlin', dismissed: ['welcome'] })
  expect((await edit({ preferences: { timezone: null } })).body.preferences.timezone).toBeNull()
})

test.each([
  [{ preferences: { theme: 'pink' } }, '#/preferences/theme'],
  [{ preferences: { timezone: 'Mars/Olympus' } }, '#/preferences/timezone'],
  [{ preferences: { dismissed: ['Not a word'] } }, '#/preferences/dismissed/0'],
  [{ preferences: { other: 1 } }, '#/preferences/other'],
  [{ name: ' ' }, '#/name'],
  [{ email: 'nobody' }, '#/email'],
])('%j is refused at its field', async (patch, pointer) => {
  const { edit } = await ada()
  const refused = await edit(patch)
  expect([refused.status, refused.body.errors[0].pointer]).toEqual([422, pointer])
})

test('a token has no profile', async () => {
  const { w } = await ada()
  for (const method of ['GET', 'PATCH'])
    expect((await w.acme.call(method, '/v1/users/me', method === 'GET' ? undefined : { name: 'x' })).body).toMatchObject({
      status: 403,
      code: 'session_required',
      detail: expect.stringContaining('Sign in at http://127.0.0.1:8484.'),
    })
})
