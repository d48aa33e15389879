import { expect, test } from 'bun:test'
import { setupToken } from '../../src/access/users'
import { addPerson } from '../support/people'
import { world, type Answer } from '../support/world'

const email = 'grace@example.com'

test('the e-mail is no password, at setup, at sign-up and for who is invited', async () => {
  const w = await world({ BAILIWICK_SIGN_UP: 'open' })
  const refused = ({ status, body }: Answer) => [status, body.errors?.map((one: any) => `${one.pointer} ${one.code}`)]
  const no = [422, ['#/password same_as_login']]
  const token = await setupToken(w.hub)
  const login = { email, name: 'Grace', password: 'Grace@Example.com' }
  expect(refused(await w.stranger.call('POST', '/v1/setup', { ...login, token }))).toEqual(no)
  await addPerson(w.hub, w.acme.workspaceId, 'owner', 'ada@example.com')
  expect(refused(await w.stranger.call('POST', '/v1/sign-up', { ...login, workspace_name: 'hopper' }))).toEqual(no)
  const { code } = (await w.acme.call('POST', '/v1/invitations', { email, role: 'admin' })).body
  const accept = (password: string) => w.stranger.call('POST', '/v1/invitations/accept', { code, name: 'Grace', password })
  expect(refused(await accept(email))).toEqual(no)
  expect((await accept('something else')).status).toBeLessThan(300)
})
