import { setupToken } from '../../src/features/people/sign-up/setup'
import { expect, test } from 'bun:test'
import { addPerson, password, person, signedIn } from '../support/people'
import { world, type ApiResponse } from '../support/world'

const email = 'grace@example.com'

test('the email address and common passwords are refused, at setup, sign-up and invitation', async () => {
  const w = await world({ BAILIWICK_SIGN_UP: 'open' })
  const refused = ({ status, body }: ApiResponse) => [status, body.errors?.map((one: any) => `${one.pointer} ${one.code}`)]
  const no = [422, ['#/password same_as_email']]
  const common = [422, ['#/password too_common']]
  const token = await setupToken(w.hub)
  const login = { email, name: 'Grace', password: 'Grace@Example.com' }
  expect(refused(await w.anonymous.call('POST', '/v1/setup', { ...login, token }))).toEqual(no)
  login.password = 'Password123!'
  expect(refused(await w.anonymous.call('POST', '/v1/setup', { ...login, token }))).toEqual(common)
  await addPerson(w.hub, w.acme.workspaceId, 'owner', 'ada@example.com')
  expect(refused(await w.anonymous.call('POST', '/v1/sign-up', { ...login, workspace_name: 'hopper' }))).toEqual(common)
  const { code } = (await w.acme.call('POST', '/v1/invitations', { email, role: 'admin' })).body
  const accept = (password: string) => w.anonymous.call('POST', '/v1/invitations/accept', { code, name: 'Grace', password })
  expect(refused(await accept(email))).toEqual(no)
  expect(refused(await accept('qwertyuiop'))).toEqual(common)
  expect((await accept('something else')).status).toBeLessThan(300)
})

test('a signed-in user can change their password, which ends their other sessions', async () => {
  const w = await world()
  const { call } = await person(w, w.acme.workspaceId, 'viewer', email)
  const other = await signedIn(w, email)
  await w.audited()
  const change = (current: string, next: string) => call('POST', '/v1/users/me/password', { current, new: next })
  const errors = async (current: string, next: string) =>
    (await change(current, next)).body.errors.map((one: any) => `${one.pointer} ${one.code}`)
  expect(await errors('a wrong password', 'staple of another kind')).toEqual(['#/current wrong_password'])
  expect(await errors(password, email)).toEqual(['#/new same_as_email'])
  expect(await errors(password, 'letmein2026')).toEqual(['#/new too_common'])
  expect(await errors(password, password)).toEqual(['#/new not_changed'])
  expect(await errors(password, 'short')).toEqual(['#/new too_short'])
  expect((await other('GET', '/v1/users/me')).status).toBe(200)
  expect((await change(password, 'staple of another kind')).status).toBe(204)
  expect(await w.audited()).toEqual(['account.user.set_password failure', 'account.user.set_password'])
  expect((await call('GET', '/v1/users/me')).status).toBe(200)
  expect((await other('GET', '/v1/users/me')).status).toBe(401)
  const signIn = async (given: string) => (await w.anonymous.call('POST', '/v1/sessions', { email, password: given })).status
  expect([await signIn(password), await signIn('staple of another kind')]).toEqual([401, 201])
})

test('tokens have no password, other sites cannot change it, and guessing is rate limited', async () => {
  const w = await world({ BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE: '3' })
  const { call } = await person(w, w.acme.workspaceId, 'viewer', email)
  const body = { current: password, new: 'staple of another kind' }
  expect((await w.acme.call('POST', '/v1/users/me/password', body)).body.code).toBe('session_required')
  expect((await call('POST', '/v1/users/me/password', body, { origin: 'https://elsewhere.example' })).status).toBe(403)
  const wrong = { ...body, current: 'a wrong password' }
  for (let n = 0; n < 3; n++) expect((await call('POST', '/v1/users/me/password', wrong)).status).toBe(422)
  expect((await call('POST', '/v1/users/me/password', body)).status).toBe(429)
})
